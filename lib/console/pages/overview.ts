// The owner's first page: balance, spending and recent calls; for a new account, three steps to the first call.
import { DAY_MS } from '../../base/durations.ts';
import { fault } from '../../base/faults.ts';
import { catchUpUsage } from '../../ledger/usage-fold.ts';
import { needsFirstPayment, type Wallet } from '../../money/decide.ts';
import type { Micro } from '../../money/money.ts';
import type { ChargePage } from '../../store/ports/ledger.ts';
import { capRows } from '../cap-rows.ts';
import { definitionList, foldAway, message } from '../components.ts';
import { firstCallSample } from '../first-call.ts';
import { fundsRows, getSpendable } from '../funds.ts';
import { type Html, html } from '../html.ts';
import { readKeyOwners } from '../key-owners.ts';
import { defineWords, findWord } from '../language.ts';
import { countPaceDays } from '../pace-days.ts';
import { page } from '../page.ts';
import { listVisibleKeys } from '../visible-keys.ts';
import { linkTo, mayVisit, type OwnerVisit } from '../visit.ts';
import { chargeTable } from './charge-table.ts';
import {
  OVERVIEW_DAYS,
  type RecentUsage,
  readRecentUsage,
  sumUsual,
  unusualBar,
  usageSection,
} from './overview-usage.ts';

const WORDS = defineWords({
  en: {
    title: 'Overview',
    done: { handed: 'You have handed over the account, and are a member of it now.' },
    held: 'Held by running calls',
    today: 'Charged today',
    yesterday: 'Charged yesterday',
    spent: 'Charged in 30 days',
    failed: 'Failed calls today',
    of: (failed: string, calls: string) => `${failed} of ${calls}`,
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
    failed: 'Ошибки сегодня',
    of: (failed: string, calls: string) => `${failed} из ${calls}`,
    counting: 'подсчитывается',
    left: 'На сколько хватит',
    endless: 'расходов пока нет',
    days: (days: string, rule: string) =>
      `примерно на ${days}\u00a0${rule === 'one' ? 'день' : rule === 'few' ? 'дня' : 'дней'}`,
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
      readCountedUsage(visit),
      mayVisit(visit, '/account/calls') ? ledger.charges(account.id, { limit: CALLS, ...latest(visit) }) : undefined,
      listVisibleKeys(visit),
    ]);
    if (!wallet) throw fault('internal', {}, new Error(`account ${account.id} has no wallet`));
    const pays = mayVisit(visit, '/account/wallet');
    const numbers = definitionList([
      ...(pays ? [...fundsRows(visit, wallet), [words.held, format.rub(wallet.held)] as const] : await capRows(visit)),
      ...usageRows(visit, pays ? wallet : undefined, used),
    ]);
    const calling = mayVisit(visit, '/account/keys');
    const progress = { ...(pays && { isPaid: !needsFirstPayment(wallet) }), hasKey: calling && keys.length > 0 };
    const done = findWord(words.done, visit.query.get('done'));
    const body = html`${done !== undefined && message('done', done)}${account.status === 'suspended' && html`<p class="message error" role="alert">${words.suspended}</p>`}
${used && unusualBar(visit, used, keys)}
${numbers}
<p class="buttons">${pays && html`<a class="button" href="${linkTo(visit, '/account/wallet')}">${words.topUp}</a>`}
${
  calling &&
  html`<a class="button quiet" href="${linkTo(visit, '/account/keys')}">${words.newKey}</a>
<a class="button quiet" href="${linkTo(visit, '/account/connect')}">${words.connect}</a>`
}</p>
${used && (await usageSection(visit, used, keys))}
${
  charges &&
  (charges.length === 0
    ? steps(visit, progress)
    : html`<h2>${words.last}</h2>${chargeTable(visit, charges, { keys, owners: await readKeyOwners(visit, keys), href: (id) => linkTo(visit, `/account/calls/${encodeURIComponent(id)}`) })}
<p><a href="${linkTo(visit, '/account/calls')}">${words.all}</a></p>`)
}`;
    return { title: words.title, body };
  },
});

/** Those of a member lie anywhere among the calls of others, which are all read to find them. */
function latest({ ownKeys, services }: OwnerVisit): Pick<ChargePage, 'filter'> {
  return ownKeys ? { filter: { keys: ownKeys, from: services.now() - OVERVIEW_DAYS * DAY_MS } } : {};
}

/** Undefined while it is being counted. */
async function readCountedUsage(visit: OwnerVisit): Promise<RecentUsage | undefined> {
  const { services, account } = visit;
  if (!(await catchUpUsage(services.store, account.id))) return readRecentUsage(visit);
  services.usage.foldSoon(account.id);
  return undefined;
}

/** Without a wallet, not how long it will last. */
function usageRows(visit: OwnerVisit, wallet: Wallet | undefined, used: RecentUsage | undefined) {
  const { language, format, services, account } = visit;
  const words = WORDS[language];
  if (used === undefined) return [[words.spent, words.counting]] as const;
  const { days, slots } = used;
  /** Leads to what it was spent on. */
  const chargedOn = (at: number) => {
    const day = slots.at(at)?.day;
    const sum = days.at(at)?.charged ?? 0n;
    const text = format.rub(sum);
    return sum === 0n
      ? text
      : html`<a href="${linkTo(visit, `/account/usage?from=${day}&to=${day}&by=model`)}">${text}</a>`;
  };
  const { calls, failed } = days.at(-1) ?? { calls: 0, failed: 0 };
  const charged = [
    [words.today, chargedOn(-1)],
    [words.yesterday, chargedOn(-2)],
    [words.spent, format.rub(used.chart.total.charged)],
  ] as const;
  const failures = calls === 0 ? [] : [[words.failed, words.of(format.number(failed), format.number(calls))] as const];
  if (!wallet) return [...charged, ...failures];
  const counted = countPaceDays(account.createdAt, { now: services.now(), daysMax: OVERVIEW_DAYS });
  const sums = days.map((day) => day.charged);
  const spent = counted < EVEN_DAYS ? used.chart.total.charged : sumUsual(sums);
  const daysLeft = estimateDaysLeft(getSpendable(wallet), { spent, in: counted });
  const left = daysLeft === undefined ? words.endless : words.days(format.number(daysLeft), format.plural(daysLeft));
  return [...charged, [words.left, left] as const, ...failures];
}

/** Of fewer days nobody knows which one is odd. */
const EVEN_DAYS = 7;

/** At the pace of some days; undefined if nothing was spent in them. */
function estimateDaysLeft(spendable: Micro, { spent, in: days }: { spent: Micro; in: number }): number | undefined {
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
${foldAway(words.shell, html`${firstCallSample(visit, words.yourKey)}`)}</li>
</ol>`;
}
