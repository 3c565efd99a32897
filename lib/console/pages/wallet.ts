// The wallet: balance, adding money, saved cards, and the history of entries.
import { fault } from '../../base/faults.ts';
import type { Wallet } from '../../money/decide.ts';
import { readSeller } from '../../payments/papers/details.ts';
import { archivedNote } from '../archived-note.ts';
import { definitionList, message } from '../components.ts';
import { fundsRows } from '../funds.ts';
import { type Html, html } from '../html.ts';
import { defineWords, findWord } from '../language.ts';
import { type Page, page } from '../page.ts';
import { linkTo, mayVisit, type OwnerVisit } from '../visit.ts';
import { type AutoProblem, autoSection, changeAuto, endAuto } from '../wallet/auto.ts';
import { bonusSection, redeemByForm } from '../wallet/bonuses.ts';
import { cardsSection, listCards, removeCard } from '../wallet/cards.ts';
import { historySection } from '../wallet/history.ts';
import { orderPage, redirectToOwnAccount } from '../wallet/order.ts';
import { type PayProblem, paySection, startPayment } from '../wallet/pay.ts';
import { entriesTitle, entryTable, foldDays, foldEntries } from './entry-table.ts';

const WORDS = defineWords({
  en: {
    title: 'Wallet',
    held: 'Held by running calls',
    charged: 'Total charged',
    topped: 'Total paid',
    adjusted: 'Corrections by the operator',
    granted: 'Bonuses received',
    done: {
      removed: 'The card was removed.',
      auto: 'Automatic top-up is on.',
      auto_off: 'Automatic top-up is off.',
      promo: 'The bonus is in the wallet.',
    },
    play: 'This wallet holds money from test payments, which cannot pay for real models. Ask the operator of this service to convert it or to write it off.',
    none: 'No entries yet.',
    older: 'Older entries',
    statement: 'Monthly statement',
    payments: 'All payments as CSV',
    papers: 'Pay by bank transfer: invoices and acts for companies',
  },
  ru: {
    title: 'Кошелёк',
    held: 'В резерве (запросы выполняются)',
    charged: 'Списано всего',
    topped: 'Пополнено всего',
    adjusted: 'Корректировки оператора',
    granted: 'Получено бонусов',
    done: {
      removed: 'Карта удалена.',
      auto: 'Автопополнение включено.',
      auto_off: 'Автопополнение отключено.',
      promo: 'Бонус зачислен в кошелёк.',
    },
    play: 'В кошельке деньги тестовых платежей: настоящие модели ими не оплатить. Попросите оператора сервиса засчитать их или списать.',
    none: 'Операций пока нет.',
    older: 'Более ранние операции',
    statement: 'Выписка за месяц',
    payments: 'Все платежи в CSV',
    papers: 'Оплата с расчётного счёта: счета и акты',
  },
});

const PER_PAGE = 200;

export const wallet = page({
  path: '/account/wallet',
  who: 'account',
  async get(visit) {
    if (visit.query.has('order')) return (await redirectToOwnAccount(visit)) ?? orderPage(visit);
    return walletPage(visit);
  },
  async post(visit, sent) {
    switch (sent.text('change')) {
      case 'remove_card':
        return removeCard(visit, sent);
      case 'promo': {
        const answer = await redeemByForm(visit, sent);
        if (!('text' in answer)) return answer;
        const refused = { sent, text: answer.text, field: 'code' };
        return { ...(await walletPage({ ...visit, refused })), status: 400 };
      }
      case 'auto':
      case 'auto_off': {
        const answer = await (sent.text('change') === 'auto' ? changeAuto(visit, sent) : endAuto(visit));
        return 'problems' in answer ? { ...(await walletPage(visit, { auto: answer })), status: 400 } : answer;
      }
      default: {
        const answer = await startPayment(visit, sent);
        return 'to' in answer ? answer : { ...(await walletPage(visit, { pay: answer })), status: 400 };
      }
    }
  },
});

interface PageState {
  readonly pay?: PayProblem;
  readonly auto?: AutoProblem;
}

async function walletPage(visit: OwnerVisit, state: PageState = {}): Promise<Page> {
  const { services, account, query } = visit;
  const words = WORDS[visit.language];
  const before = /^\d{1,15}$/.test(query.get('before') ?? '') ? Number(query.get('before')) : undefined;
  const [found, entries, cards] = await Promise.all([
    services.store.ledger.wallet(account.id),
    services.store.ledger.entries(account.id, { limit: PER_PAGE, before }),
    listCards(visit),
  ]);
  if (!found) throw fault('internal', {}, new Error(`account ${account.id} has no wallet`));
  const last = entries.length === PER_PAGE ? entries.at(-1) : undefined;
  const done = findWord(words.done, query.get('done'));
  const days = { linkToDay: (day: string) => linkToCalls(visit, day) };
  const body = html`${done !== undefined && message('done', done)}
${found.playMoney && services.isReal() && message('error', words.play)}
${balances(visit, found)}
${await paySection(visit, state.pay)}
${(await readSeller(services.store)) && html`<p><a href="${linkTo(visit, '/account/papers')}">${words.papers}</a></p>`}
${await autoSection(visit, found, state.auto)}
${await bonusSection(visit, found)}
${cardsSection(visit, cards)}
${await historySection(visit)}
<h2>${entriesTitle(visit)}</h2>
${entries.length === 0 ? html`<p>${words.none}</p>` : entryTable(visit, foldDays(foldEntries(entries), visit.zone), days)}
${await archivedNote(visit)}
${last && html`<p><a href="${linkTo(visit, `/account/wallet?before=${last.seq}`)}" rel="next">${words.older}</a></p>`}
<p><a href="${linkTo(visit, '/account/statement')}">${words.statement}</a> ·
<a href="${linkTo(visit, '/account/payments.csv')}" download>${words.payments}</a></p>`;
  return { title: words.title, body };
}

/** Those who do not see calls are led to the sums of the day. */
function linkToCalls(visit: OwnerVisit, day: string): string {
  const list = mayVisit(visit, '/account/calls') ? '/account/calls' : '/account/usage';
  return linkTo(visit, `${list}?from=${day}&to=${day}`);
}

function balances(visit: OwnerVisit, wallet: Wallet): Html {
  const { language, format } = visit;
  const words = WORDS[language];
  return definitionList([
    ...fundsRows(visit, wallet),
    [words.held, format.rub(wallet.held)],
    [words.charged, format.rub(wallet.charged)],
    [words.topped, format.rub(wallet.topped)],
    ...(wallet.granted === undefined ? [] : [[words.granted, format.rub(wallet.granted)] as const]),
    ...(wallet.adjusted === 0n ? [] : [[words.adjusted, format.rub(wallet.adjusted)] as const]),
  ]);
}
