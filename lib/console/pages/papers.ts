// Papers of an account: the details of the company that pays, and its invoices.
import { fault } from '../../base/faults.ts';
import { issueAct, readActRow, readMonth } from '../../payments/papers/acts.ts';
import {
  BUYER_FIELDS,
  type Buyer,
  checkBuyer,
  readBuyer,
  readSeller,
  type Seller,
  saveBuyer,
} from '../../payments/papers/details.ts';
import { findInvoiceBounds, makeInvoiceId, orderInvoice, readInvoiceRow } from '../../payments/papers/invoices.ts';
import { allowHourly, countAttempt, uncountAttempt } from '../../users/attempts.ts';
import { readRub } from '../amount.ts';
import { audit } from '../audit.ts';
import { definitionList, field, foldAway, form, message } from '../components.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { defineWords, findWord } from '../language.ts';
import { type Answer, type Page, page } from '../page.ts';
import { type ActProblem, actForm, actTable, describeActRefusal } from '../papers/act-list.ts';
import { buyerFields, type FormState, listBuyerDetails, readTyped } from '../papers/details-form.ts';
import { invoiceTable } from '../papers/invoice-list.ts';
import { reopenForm, shownField } from '../shown-values.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Documents',
    off: 'This service issues no invoices: its operator has not entered the seller details.',
    intro: 'Invoices and acts for Russian companies and sole proprietors. The documents themselves are in Russian.',
    invoices: 'Invoices',
    acts: 'Acts',
    newAct: 'New act',
    none: 'No invoices yet.',
    order: 'New invoice',
    needDetails: 'Enter the details of your company first: they are printed on the invoice.',
    amount: 'Amount (RUB)',
    least: (least: string) => `At least ${least}. This sum is added to the balance when the payment arrives.`,
    orderButton: 'Issue an invoice',
    details: 'Company details',
    change: 'Change the details',
    detailsHint: 'Documents that have been issued keep their details.',
    save: 'Save',
    wallet: 'Back to the wallet',
    more: 'Earlier invoices',
    done: { details: 'The details are saved.' },
    badAmount: 'Enter an amount in roubles and kopecks, such as 15000 or 15000.50.',
    describeBounds: (least: string, most: string) => `The amount must be from ${least} to ${most}.`,
    tooMany: 'Too many unpaid invoices. Pay or cancel one of them.',
    tooOften: 'Too many invoices within an hour. Try again later.',
    stale: 'Somebody else has just changed the details. Check them and save again.',
  },
  ru: {
    title: 'Документы',
    off: 'Сервис не выставляет счета: оператор ещё не указал реквизиты исполнителя.',
    intro: 'Счета и акты для организаций и индивидуальных предпринимателей.',
    invoices: 'Счета',
    acts: 'Акты',
    newAct: 'Новый акт',
    none: 'Счетов пока нет.',
    order: 'Новый счёт',
    needDetails: 'Сначала укажите реквизиты организации: они печатаются в счёте.',
    amount: 'Сумма, ₽',
    least: (least: string) => `Не меньше ${least}. На эту сумму баланс пополнится, когда платёж поступит.`,
    orderButton: 'Выставить счёт',
    details: 'Реквизиты организации',
    change: 'Изменить реквизиты',
    detailsHint: 'В уже выставленных документах реквизиты не изменятся.',
    save: 'Сохранить',
    wallet: 'Вернуться в кошелёк',
    more: 'Более ранние счета',
    done: { details: 'Реквизиты сохранены.' },
    badAmount: 'Введите сумму в рублях и копейках, например 15000 или 15000,50.',
    describeBounds: (least: string, most: string) => `Сумма — от ${least} до ${most}.`,
    tooMany: 'Слишком много неоплаченных счетов. Оплатите или отмените один из них.',
    tooOften: 'За час выставлено слишком много счетов. Повторите позже.',
    stale: 'Реквизиты только что изменил кто-то другой. Проверьте их и сохраните ещё раз.',
  },
});

const PATH = '/account/papers';
const PER_PAGE = 25;
/** Of an account in an hour, canceled ones too: each takes a number for good. */
const INVOICES_MAX = 40;

interface PageState {
  readonly details?: FormState<(typeof BUYER_FIELDS)[number]>;
  readonly order?: { readonly amount: string; readonly problem: string };
  /** Why an act was not issued. */
  readonly act?: ActProblem;
  readonly problem?: string;
}

export const papers = page({
  path: PATH,
  who: 'account',
  get: (visit) => papersPage(visit, {}),
  async post(visit, sent) {
    const seller = await readSeller(visit.services.store);
    if (!seller) throw fault('not_found');
    switch (sent.text('change')) {
      case 'details':
        return changeDetails(visit, sent);
      case 'act':
        return issueByForm(visit, seller, sent);
      case 'invoice':
        return orderByForm(visit, seller, sent);
      default:
        throw fault('stale_form');
    }
  },
});

async function changeDetails(visit: OwnerVisit, sent: Form): Promise<Answer> {
  const { services, account } = visit;
  const now = (await readBuyer(services.store, account.id)) ?? {};
  const checked = checkBuyer(readTyped(reopenForm(sent, now), BUYER_FIELDS));
  if ('wrong' in checked) {
    const details = { typed: readTyped(sent, BUYER_FIELDS), ...checked, sent };
    return { ...(await papersPage(visit, { details })), status: 400 };
  }
  const { details: buyer } = checked;
  if (!(await saveBuyer(services.store, account.id, { buyer, at: services.now() })))
    return { ...(await papersPage(visit, { problem: WORDS[visit.language].stale })), status: 409 };
  await audit(visit, { action: 'papers.buyer', target: account.id, detail: buyer });
  return { to: linkTo(visit, `${PATH}?done=details`) };
}

async function orderByForm(visit: OwnerVisit, seller: Seller, sent: Form): Promise<Answer> {
  const { services, account, language, format, zone, signedIn } = visit;
  const words = WORDS[language];
  const typed = sent.text('amount');
  const refuse = async (problem: string) => {
    return { ...(await papersPage(visit, { order: { amount: typed, problem } })), status: 400 };
  };
  const buyer = await readBuyer(services.store, account.id);
  if (!buyer) return refuse(words.needDetails);
  const amount = readRub(typed, visit.language);
  if (amount === undefined) return refuse(words.badAmount);
  const { store } = services;
  const now = services.now();
  const counted = [allowHourly(`invoices:${account.id}`, INVOICES_MAX, now)];
  if ((await countAttempt(store.sessions, counted, now)) > 0) return { ...(await refuse(words.tooOften)), status: 429 };
  const order = { id: sent.text('invoice'), account: account.id, amount, seller, buyer, user: signedIn.user.id };
  const answer = await orderInvoice(store, { ...order, zone, now });
  if ('refusal' in answer) {
    await uncountAttempt(store.sessions, counted);
    const { min, max } = await findInvoiceBounds(services.store, account.id);
    const bounds = words.describeBounds(format.rub(min), format.rub(max));
    return refuse({ kopecks: words.badAmount, bounds, too_many: words.tooMany }[answer.refusal]);
  }
  const { id, number } = answer.invoice;
  await audit(visit, { action: 'invoice.issue', target: id, detail: { number, rub_micro: `${amount}` } });
  return { to: linkTo(visit, `${PATH}/invoices/${id}`) };
}

async function issueByForm(visit: OwnerVisit, seller: Seller, sent: Form): Promise<Answer> {
  const { services, account, language, zone, signedIn } = visit;
  const refuse = async (problem: string) => {
    return { ...(await papersPage(visit, { act: { month: sent.text('month'), problem } })), status: 400 };
  };
  const buyer = await readBuyer(services.store, account.id);
  if (!buyer) return refuse(WORDS[language].needDetails);
  const month = readMonth(sent.text('month'));
  if (month === undefined) return refuse(describeActRefusal(language, 'month'));
  const order = { account: account.id, month, zone, seller, buyer, user: signedIn.user.id, now: services.now() };
  const answer = await issueAct(services.store, order);
  if ('refusal' in answer) return refuse(describeActRefusal(language, answer.refusal));
  const { id, number, user } = answer.act;
  // Also of one issued before: the line may have failed then. Who only asks for another's act has issued nothing.
  if (user === signedIn.user.id) await audit(visit, { action: 'act.issue', target: id, detail: { number } });
  return { to: linkTo(visit, `${PATH}/acts/${month}`) };
}

async function papersPage(visit: OwnerVisit, state: PageState): Promise<Page> {
  const { services, language, account, query } = visit;
  const words = WORDS[language];
  const wallet = html`<p><a href="${linkTo(visit, '/account/wallet')}">${words.wallet}</a></p>`;
  const seller = await readSeller(services.store);
  if (!seller) return { title: words.title, body: html`<p>${words.off}</p>${wallet}` };
  const buyer = await readBuyer(services.store, account.id);
  const done = findWord(words.done, query.get('done'));
  const body = html`${done !== undefined && message('done', done)}
${state.problem !== undefined && message('error', state.problem)}
<p>${words.intro}</p>
<h2>${words.order}</h2>
${await orderForm(visit, buyer, state)}
<h2>${words.invoices}</h2>
${await invoiceSection(visit)}
<h2>${words.acts}</h2>
${await actSection(visit, buyer, state)}
<h2>${words.details}</h2>
${detailsSection(visit, buyer, state)}
${wallet}`;
  return { title: words.title, body };
}

async function orderForm(visit: OwnerVisit, buyer: Buyer | undefined, { order }: PageState): Promise<Html> {
  const { services, account, language, format } = visit;
  const words = WORDS[language];
  if (!buyer) return html`<p>${words.needDetails}</p>`;
  const { min } = await findInvoiceBounds(services.store, account.id);
  const amount = {
    name: 'amount',
    label: words.amount,
    inputmode: 'decimal' as const,
    hint: words.least(format.rub(min)),
  };
  const fields = html`<input type="hidden" name="change" value="invoice"><input type="hidden" name="invoice" value="${makeInvoiceId()}">
${field({ ...amount, value: order?.amount ?? '', error: order?.problem, autofocus: order !== undefined })}`;
  return form(visit, { action: linkTo(visit, PATH), fields, button: words.orderButton });
}

async function invoiceSection(visit: OwnerVisit): Promise<Html> {
  const { services, account, language, query, zone } = visit;
  const words = WORDS[language];
  const list = { kind: 'invoice', account: account.id, limit: PER_PAGE } as const;
  const before = readBefore(query.get('before'));
  const rows = await services.store.papers.list({ ...list, ...(before && { before }) });
  if (rows.length === 0) return html`<p>${words.none}</p>`;
  const last = rows.length === PER_PAGE ? rows.at(-1) : undefined;
  const base = `${PATH}/invoices/`;
  return html`${invoiceTable(visit, { invoices: rows.map(readInvoiceRow), base, zone })}
${last && html`<p><a href="${linkTo(visit, `${PATH}?before=${last.at}-${last.id}`)}" rel="next">${words.more}</a></p>`}`;
}

const ACTS_SHOWN = 60;

async function actSection(visit: OwnerVisit, buyer: Buyer | undefined, { act }: PageState): Promise<Html> {
  const { services, account, language } = visit;
  const words = WORDS[language];
  const rows = await services.store.papers.list({ kind: 'act', account: account.id, limit: ACTS_SHOWN });
  return html`${actTable(visit, { acts: rows.map(readActRow), base: `${PATH}/acts/` })}
${buyer && html`<h3>${words.newAct}</h3>`}
${buyer && actForm(visit, linkTo(visit, PATH), act)}`;
}

/** `<time>-<id>` of the last one of the previous page. */
export function readBefore(text: string | null): { readonly at: number; readonly id: string } | undefined {
  const [, at, id] = /^(\d{1,15})-(.{1,200})$/.exec(text ?? '') ?? [];
  return at === undefined || id === undefined ? undefined : { at: Number(at), id };
}

function detailsSection(visit: OwnerVisit, buyer: Buyer | undefined, { details }: PageState): Html {
  const words = WORDS[visit.language];
  const fields = html`<input type="hidden" name="change" value="details">${shownField({ ...buyer }, details?.sent)}
${buyerFields(visit.language, details ?? { typed: buyer ?? {} })}`;
  const changeForm = form(visit, { action: linkTo(visit, PATH), fields, button: words.save });
  if (!buyer || details) return changeForm;
  return html`${definitionList(listBuyerDetails(visit.language, buyer))}
${foldAway(words.change, html`<p>${words.detailsHint}</p>${changeForm}`)}`;
}
