// The owner's first page: balance, spending and recent calls; for a new account, three steps to the first call.
import { DAY_MS } from '../../base/durations.ts';
import { fault } from '../../base/faults.ts';
import { catchUpUsage } from '../../ledger/usage-fold.ts';
import { readUsageSlots } from '../../ledger/usage-slots.ts';
import { addDays, findDayStartHour, findHourDay } from '../../money/days.ts';
import { needsFirstPayment, type Wallet } from '../../money/decide.ts';
import type { Micro } from '../../money/money.ts';
import type { ChargePage } from '../../store/ports/ledger.ts';
import { capRows } from '../cap-rows.ts';
import { definitionList, message } from '../components.ts';
import { firstCallSample } from '../first-call.ts';
import { fundsRows, getSpendable } from '../funds.ts';
import { type Html, html } from '../html.ts';
import { readKeyOwners } from '../key-owners.ts';
import { defineWords, findWord } from '../language.ts';
import { page } from '../page.ts';
import { listVisibleKeys } from '../visible-keys.ts';
import { linkTo, mayVisit, type OwnerVisit } from '../visit.ts';
import { chargeTable } from './charge-table.ts';
import { USAGE_RANGE } from './usage.ts';

const WORDS = defineWords({
  en: {
    title: 'Overview',
    done: { handed: 'You have handed over the account, and are a member of it now.' },
    held: 'Held by running calls',
    today: 'Charged today',
    yesterday: 'Charged yesterday',
    spent: 'Charged in 30 days',
    counting: 'still being counted',
    left: 'Will last',
    endless: 'no spending yet',
    days: (days: string, rule: string) => `about ${days} ${rule === 'one' ? 'day' : 'days'}`,
    suspended: 'This account is suspended, and its keys are rejected. Ask the operator of this service.',
    last: 'Latest calls',
    all: 'All calls',
    topUp: 'Top up',
    newKey: 'New key',
    connect: 'Connect a program',
    begin: 'Your first call, step by step',
    money: 'Top up the wallet',
    key: 'Create a key',
    call: 'Connect your program',
    shell: 'A call on the command line',
    yourKey: 'YOUR_KEY',
    isDone: '✓ done',
    which: 'a chat program, a coding agent or your own code',
    orPlay: 'Or try it without a program in the',
    play: 'playground',
  },
  ru: {
    title: 'Обзор',
    done: { handed: 'Вы передали аккаунт, теперь вы его участник.' },
    held: 'В резерве (запросы выполняются)',
    today: 'Списано сегодня',
    yesterday: 'Списано вчера',
    spent: 'Списано за 30 дней',
    counting: 'подсчитывается',
    left: 'На сколько хватит',
    endless: 'расходов пока нет',
    days: (days: string, rule: string) =>
      `примерно на ${days} ${rule === 'one' ? 'день' : rule === 'few' ? 'дня' : 'дней'}`,
    suspended: 'Аккаунт приостановлен, его ключи не работают. Обратитесь к оператору сервиса.',
    last: 'Последние запросы',
    all: 'Все запросы',
    topUp: 'Пополнить',
    newKey: 'Новый ключ',
    connect: 'Подключить программу',
    begin: 'Как отправить первый запрос',
    money: 'Пополните кошелёк',
    key: 'Создайте ключ',
    call: 'Подключите свою программу',
    shell: 'Запрос из командной строки',
    yourKey: 'ВАШ_КЛЮЧ',
    isDone: '✓ готово',
    which: 'чат-программу, агента для кода или собственный код',
    orPlay: 'Или попробуйте без программы, в разделе',
    play: '«Попробовать»',
  },
});

const { days: DAYS } = USAGE_RANGE;
const CALLS = 10;

export const overview = page({
  path: '/account',
  who: 'account',
  async get(visit) {
    const { services, account, format, language } = visit;
    const words = WORDS[language];
    const { ledger } = services.store;
    const [wallet, used, charges, keys] = await Promise.all([
      ledger.wallet(account.id),
      recentUsage(visit),
      mayVisit(visit, '/account/calls') ? ledger.charges(account.id, { limit: CALLS, ...latest(visit) }) : undefined,
      mayVisit(visit, '/account/keys') ? listVisibleKeys(visit) : undefined,
    ]);
    if (!wallet) throw fault('internal', {}, new Error(`account ${account.id} has no wallet`));
    const pays = mayVisit(visit, '/account/wallet');
    const numbers = definitionList([
      ...(pays ? [...fundsRows(visit, wallet), [words.held, format.rub(wallet.held)] as const] : await capRows(visit)),
      ...usageRows(visit, pays ? wallet : undefined, used),
    ]);
    const progress = { ...(pays && { isPaid: !needsFirstPayment(wallet) }), hasKey: (keys?.length ?? 0) > 0 };
    const done = findWord(words.done, visit.query.get('done'));
    const body = html`${done !== undefined && message('done', done)}${account.status === 'suspended' && html`<p class="message error" role="alert">${words.suspended}</p>`}
${numbers}
<p class="buttons">${pays && html`<a class="button" href="${linkTo(visit, '/account/wallet')}">${words.topUp}</a>`}
${
  keys &&
  html`<a class="button quiet" href="${linkTo(visit, '/account/keys')}">${words.newKey}</a>
<a class="button quiet" href="${linkTo(visit, '/account/connect')}">${words.connect}</a>`
}</p>
${
  charges &&
  (charges.length === 0
    ? steps(visit, progress)
    : html`<h2>${words.last}</h2>${chargeTable(visit, charges, { keys: keys ?? [], owners: await readKeyOwners(visit, keys ?? []), href: (id) => linkTo(visit, `/account/calls/${encodeURIComponent(id)}`) })}
<p><a href="${linkTo(visit, '/account/calls')}">${words.all}</a></p>`)
}`;
    return { title: words.title, body };
  },
});

/** Those of a member lie anywhere among the calls of others, which are all read to find them. */
function latest({ ownKeys, services }: OwnerVisit): Pick<ChargePage, 'filter'> {
  return ownKeys ? { filter: { keys: ownKeys, from: services.now() - DAYS * DAY_MS } } : {};
}

interface RecentUsage {
  readonly today: Micro;
  readonly yesterday: Micro;
  /** Of 30 days, with these two. */
  readonly spent: Micro;
}

/** As the usage page shows it without a filter, so that both have the same sums; undefined while it is being counted. */
async function recentUsage({ services, account, zone, ownKeys }: OwnerVisit): Promise<RecentUsage | undefined> {
  if (await catchUpUsage(services.store, account.id)) {
    services.usage.foldSoon(account.id);
    return undefined;
  }
  const today = findHourDay(services.now(), zone);
  const findStart = (days: number) => findDayStartHour(addDays(today, days), zone);
  const slots = [
    { from: findStart(1 - DAYS), to: findStart(-1) },
    { from: findStart(-1), to: findStart(0) },
    { from: findStart(0), to: findStart(1) },
  ];
  const { total, groups } = await readUsageSlots(services.store.usage, account.id, {
    slots,
    by: 'kind',
    counts: ['charged'],
    ...(ownKeys && { keys: ownKeys }),
  });
  const sumSlot = (at: number) => groups.reduce((sum, group) => sum + (group.slots[at]?.charged ?? 0n), 0n);
  return { today: sumSlot(2), yesterday: sumSlot(1), spent: total.charged };
}

/** Without a wallet, not how long it will last. */
function usageRows(visit: OwnerVisit, wallet: Wallet | undefined, used: RecentUsage | undefined) {
  const { language, format, services, zone, account } = visit;
  const words = WORDS[language];
  if (used === undefined) return [[words.spent, words.counting]] as const;
  const { spent } = used;
  const today = findHourDay(services.now(), zone);
  /** Leads to what it was spent on. */
  const chargedOn = (day: string, sum: Micro) => {
    const text = format.rub(sum);
    return sum === 0n
      ? text
      : html`<a href="${linkTo(visit, `/account/usage?from=${day}&to=${day}&by=model`)}">${text}</a>`;
  };
  const charged = [
    [words.today, chargedOn(today, used.today)],
    [words.yesterday, chargedOn(addDays(today, -1), used.yesterday)],
    [words.spent, format.rub(spent)],
  ] as const;
  if (!wallet) return charged;
  const ageDays = Math.ceil((services.now() - account.createdAt) / DAY_MS);
  const days = daysLeft(getSpendable(wallet), { spent, in: Math.min(Math.max(ageDays, 1), DAYS) });
  const left = days === undefined ? words.endless : words.days(format.number(days), format.plural(days));
  return [...charged, [words.left, left]] as const;
}

/** At the pace of some days; undefined if nothing was spent in them. */
function daysLeft(spendable: Micro, { spent, in: days }: { spent: Micro; in: number }): number | undefined {
  if (spent <= 0n) return undefined;
  return spendable <= 0n ? 0 : Number((spendable * BigInt(days)) / spent);
}

interface Progress {
  /** Absent for visitors who do not pay. */
  readonly isPaid?: boolean;
  readonly hasKey: boolean;
}

/** Finished steps are marked. */
function steps(visit: OwnerVisit, { isPaid, hasKey }: Progress): Html {
  const words = WORDS[visit.language];
  const step = (path: string, text: string, isDone: boolean) =>
    html`<li><a href="${linkTo(visit, path)}">${text}</a>${isDone && html` <strong>${words.isDone}</strong>`}</li>`;
  return html`<h2>${words.begin}</h2>
<ol class="steps">
${isPaid !== undefined && step('/account/wallet', words.money, isPaid)}
${step('/account/keys', words.key, hasKey)}
<li><a href="${linkTo(visit, '/account/connect')}">${words.call}</a>: ${words.which}.
${words.orPlay} <a href="${linkTo(visit, '/account/playground')}">${words.play}</a>.
<details><summary>${words.shell}</summary>${firstCallSample(visit, words.yourKey)}</details></li>
</ol>`;
}
