// The owner's first page: balance, spending and recent calls; for a new account, three steps to the first call.
import { fault } from '../../faults.ts';
import type { Micro } from '../../money/money.ts';
import { firstCall } from '../first-call.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import { facts } from '../parts.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';
import { chargeTable } from './charge-table.ts';

const WORDS = defineWords({
  en: {
    title: 'Overview',
    spendable: 'Available',
    held: 'Held by running calls',
    spent: 'Spent in 30 days',
    left: 'Lasts at this pace',
    endless: 'no spending yet',
    days: (days: string, rule: string) => `${days} ${rule === 'one' ? 'day' : 'days'}`,
    suspended: 'This account is suspended: its keys are refused. Ask the operator.',
    last: 'Last calls',
    topUp: 'Top up',
    newKey: 'New key',
    begin: 'Three steps to the first call',
    money: 'Put money in the wallet',
    key: 'Issue a key',
    call: 'Make a call',
    yourKey: 'YOUR_KEY',
    isDone: '✓ done',
    orPlay: 'Or without a program, in the',
    play: 'playground',
  },
  ru: {
    title: 'Обзор',
    spendable: 'Можно потратить',
    held: 'Удержано идущими вызовами',
    spent: 'Потрачено за 30 дней',
    left: 'Хватит при таком расходе',
    endless: 'расхода пока нет',
    days: (days: string, rule: string) => `${days} ${rule === 'one' ? 'день' : rule === 'few' ? 'дня' : 'дней'}`,
    suspended: 'Аккаунт приостановлен: его ключи отклоняются. Обратитесь к оператору.',
    last: 'Последние вызовы',
    topUp: 'Пополнить',
    newKey: 'Новый ключ',
    begin: 'Три шага до первого вызова',
    money: 'Пополните кошелёк',
    key: 'Выпустите ключ',
    call: 'Сделайте вызов',
    yourKey: 'ВАШ_КЛЮЧ',
    isDone: '✓ готово',
    orPlay: 'Или без программы, на странице',
    play: '«Проба»',
  },
});

const DAYS = 30;
const DAY_MS = 24 * 3600 * 1000;
const CALLS = 10;

export const overview = page({
  path: '/account',
  who: 'owner',
  async get(visit) {
    const { services, account, format, language } = visit;
    const words = WORDS[language];
    const { ledger } = services.store;
    const [wallet, before, charges, keys] = await Promise.all([
      ledger.wallet(account.id),
      ledger.chargedAt(account.id, services.now() - DAYS * DAY_MS),
      ledger.charges(account.id, { limit: CALLS }),
      services.store.keys.list(account.id),
    ]);
    if (!wallet) throw fault('internal', {}, new Error(`account ${account.id} has no wallet`));
    const spent = wallet.charged - before;
    const days = daysLeft(wallet.avail, spent);
    const left = days === undefined ? words.endless : words.days(format.number(days), format.plural(days));
    const numbers = facts([
      [words.spendable, html`<strong class="big">${format.rub(wallet.avail)}</strong>`],
      [words.held, format.rub(wallet.held)],
      [words.spent, format.rub(spent)],
      [words.left, left],
    ]);
    const body = html`${account.status === 'suspended' && html`<p class="message error" role="alert">${words.suspended}</p>`}
${numbers}
<p class="buttons"><a class="button" href="${linkTo(visit, '/account/wallet')}">${words.topUp}</a>
<a class="button quiet" href="${linkTo(visit, '/account/keys')}">${words.newKey}</a></p>
${charges.length === 0 ? steps(visit, { isPaid: wallet.topped > 0n, hasKey: keys.length > 0 }) : html`<h2>${words.last}</h2>${chargeTable(visit, charges)}`}`;
    return { title: words.title, body };
  },
});

function daysLeft(avail: Micro, spent: Micro): number | undefined {
  if (spent <= 0n) return undefined;
  return avail <= 0n ? 0 : Number((avail * BigInt(DAYS)) / spent);
}

interface Progress {
  readonly isPaid: boolean;
  readonly hasKey: boolean;
}

/** What is done already says so. */
function steps(visit: OwnerVisit, { isPaid, hasKey }: Progress): Html {
  const words = WORDS[visit.language];
  const step = (path: string, text: string, isDone: boolean) =>
    html`<li><a href="${linkTo(visit, path)}">${text}</a>${isDone && html` <strong>${words.isDone}</strong>`}</li>`;
  return html`<h2>${words.begin}</h2>
<ol class="steps">
${step('/account/wallet', words.money, isPaid)}
${step('/account/keys', words.key, hasKey)}
<li>${words.call}${firstCall(visit, words.yourKey)}
${words.orPlay} <a href="${linkTo(visit, '/account/playground')}">${words.play}</a></li>
</ol>`;
}
