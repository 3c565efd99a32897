// Checks of the setup for an operator; each says what to do.

import { countModelsBelowCost } from '../../catalog/loss.ts';
import type { Account } from '../../store/ports/accounts.ts';
import type { Store } from '../../store/store.ts';
import { listOwners } from '../../users/owners.ts';
import { catalogBar } from '../catalog-bar.ts';
import { table } from '../components.ts';
import { html } from '../html.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import { listPaused, pausedBars } from '../paused-upstreams.ts';
import type { UserVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Setup checks',
    runChecks: 'Check',
    state: 'Status',
    ok: 'ok',
    look: 'needs attention',
    https: [
      'Pages are served over https',
      'Put a TLS proxy in front of the service and set PUBLIC_URL to its address.',
    ],
    sandbox: [
      'Real models are offered, not the sandbox',
      'Add an upstream on its page, or set the variable of one; see docs/configuration.md.',
    ],
    restart: 'A real upstream is connected: restart the service, and it leaves the sandbox, unless SANDBOX is on.',
    models: ['Text, image and video models are available', 'Add more upstreams, or set their variables.'],
    operators: ['There are at least two operators, in case one loses access', 'Create another on the command line:'],
    mail: [
      'Email can be sent',
      'Set SMTP_URL. Without it, alerts go only to webhooks and Telegram, and you hand out links yourself.',
    ],
    mailRefused: 'The mail server does not let the service in: tollgate doctor shows what it says. Correct SMTP_URL.',
    payments: ['All payment providers of the catalog have their secrets', 'Not set or empty:'],
    loss: [
      'No model is sold below cost',
      'A cost or an exchange rate has changed: edit the prices. See the Catalog page.',
    ],
    lists: [
      'The catalog has the price list of every account',
      'Not in the catalog, so list prices apply (accounts in brackets):',
    ],
    pauses: ['No upstream is paused by an operator', 'See above, and resume it on its page when it answers again.'],
    warnings: ['The catalog is loaded and has no warnings', 'See the Catalog page.'],
    failed: 'The catalog was not reloaded: see above.',
    owners: ['Every account has an owner', 'Invite one on the page of the account, beginning with'],
  },
  ru: {
    title: 'Проверка настроек',
    runChecks: 'Проверка',
    state: 'Статус',
    ok: 'в порядке',
    look: 'требует внимания',
    https: ['Страницы отдаются по https', 'Поставьте перед сервисом TLS-прокси и укажите его адрес в PUBLIC_URL.'],
    sandbox: [
      'Подключены настоящие модели, а не песочница',
      'Добавьте провайдера на странице «Провайдеры» или задайте его переменную; см. docs/configuration.md.',
    ],
    restart:
      'Настоящий провайдер подключён: перезапустите сервис, и он выйдет из песочницы, если не задано SANDBOX=on.',
    models: ['Доступны модели для текста, картинок и видео', 'Добавьте других провайдеров или задайте их переменные.'],
    operators: [
      'Операторов не меньше двух — на случай, если один потеряет доступ',
      'Добавьте ещё одного из командной строки:',
    ],
    mail: [
      'Письма отправляются',
      'Задайте SMTP_URL. Без него оповещения приходят только на вебхуки и в Telegram, а ссылки вы передаёте сами.',
    ],
    mailRefused: 'Почтовый сервер не впускает сервис: его ответ покажет tollgate doctor. Исправьте SMTP_URL.',
    payments: ['Секреты всех платёжных систем каталога заданы', 'Не заданы или пусты:'],
    loss: [
      'Ни одна модель не продаётся ниже себестоимости',
      'Цена провайдера или курс изменились: исправьте цены. См. страницу «Каталог».',
    ],
    lists: [
      'В каталоге есть прайс-лист каждого аккаунта',
      'Нет в каталоге, поэтому действуют обычные цены (в скобках — число аккаунтов):',
    ],
    pauses: [
      'Ни один провайдер не поставлен на паузу',
      'См. выше; когда провайдер снова ответит, снимите паузу на его странице.',
    ],
    warnings: ['Каталог загружен, предупреждений нет', 'См. страницу «Каталог».'],
    failed: 'Каталог не обновлён: см. выше.',
    owners: ['У каждого аккаунта есть владелец', 'Пригласите владельца на странице аккаунта; первый такой аккаунт —'],
  },
});

type Check =
  | 'https'
  | 'sandbox'
  | 'models'
  | 'operators'
  | 'mail'
  | 'payments'
  | 'loss'
  | 'lists'
  | 'pauses'
  | 'warnings'
  | 'owners';

/** Only the newest accounts are checked: each takes a query. */
const ACCOUNTS_CHECKED = 100;
const ASKED_AT_ONCE = 20;

export const adminChecks = page({
  path: '/admin/checks',
  who: 'operator',
  async get(visit) {
    const words = WORDS[visit.language];
    const bar = catalogBar(visit);
    const missingLists = await listMissingPriceLists(visit);
    const unowned = await findUnowned(visit.services.store);
    const rows = Object.entries(await runChecks(visit, { missingLists, unowned })).map(([name, passed]) => {
      const [what, written] = words[name as Check] as [string, string];
      const other = {
        warnings: bar && words.failed,
        sandbox: visit.services.isReal() && words.restart,
        mail: visit.services.mailer && words.mailRefused,
      };
      const advice = other[name as keyof typeof other] || written;
      const command = name === 'operators' && html` <code class="command">tollgate operator create EMAIL</code>`;
      const missing = name === 'payments' && html` <code>${listMissingSecrets(visit).join(', ')}</code>`;
      const lists = name === 'lists' && html` <code>${missingLists.join(', ')}</code>`;
      const account =
        name === 'owners' && unowned && html` <a href="/admin/accounts/${unowned.id}">${unowned.name}</a>.`;
      const details = html`${command}${missing}${lists}${account}`;
      return [what, passed ? words.ok : html`<strong>${words.look}:</strong> ${advice}${details}`];
    });
    const checks = table(words.title, [{ title: words.runChecks }, { title: words.state }], rows);
    return { title: words.title, body: html`${bar}${await pausedBars(visit)}${checks}` };
  },
});

async function canSendMail({ services }: UserVisit): Promise<boolean> {
  try {
    await services.mailer?.check();
    return services.mailer !== undefined;
  } catch {
    return false;
  }
}

/** The variables of payment providers that are off. */
function listMissingSecrets({ services }: UserVisit): readonly string[] {
  return [...(services.catalog().paymentsOff ?? [])].flatMap(([, variables]) => variables);
}

/** Price lists of accounts that a reload has removed, with the number of accounts: `partner (3)`. */
async function listMissingPriceLists({ services }: UserVisit): Promise<readonly string[]> {
  const { priceLists } = services.catalog();
  const missing = (await services.store.accounts.countPriceLists()).filter(
    ({ priceList }) => !priceLists.has(priceList),
  );
  return missing.map(({ priceList, accounts }) => `${priceList} (${accounts})`);
}

/** The oldest checked account without an owner. */
async function findUnowned({ accounts, users }: Store): Promise<Account | undefined> {
  const newest = (await accounts.list()).slice(-ACCOUNTS_CHECKED);
  for (let from = 0; from < newest.length; from += ASKED_AT_ONCE) {
    const some = newest.slice(from, from + ASKED_AT_ONCE);
    const owners = await Promise.all(some.map(({ id }) => listOwners(users, id)));
    const found = some.find((_, at) => owners[at]?.length === 0);
    if (found) return found;
  }
  return undefined;
}

interface Found {
  readonly missingLists: readonly string[];
  readonly unowned: Account | undefined;
}

async function runChecks(
  visit: UserVisit,
  { missingLists, unowned }: Found,
): Promise<Readonly<Record<Check, boolean>>> {
  const { services, secure } = visit;
  const { store, sandbox, catalog, catalogFailure } = services;
  const { models, warnings } = catalog();
  const types = new Set(models.filter(({ routes }) => routes.length > 0).map(({ type }) => type));
  return {
    https: secure,
    sandbox: !sandbox,
    models: (['text', 'image', 'video'] as const).every((type) => types.has(type)),
    operators: (await store.users.operators()) > 1,
    mail: await canSendMail(visit),
    payments: listMissingSecrets(visit).length === 0,
    loss: countModelsBelowCost(catalog()) === 0,
    lists: missingLists.length === 0,
    pauses: listPaused(visit).length === 0,
    warnings: warnings.length === 0 && catalogFailure() === undefined,
    owners: unowned === undefined,
  };
}
