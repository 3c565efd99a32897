// One invoice, to be printed; owners, accountants and operators can cancel it while it is not paid.
import { readZone } from '../../accounts/zone.ts';
import { fault } from '../../base/faults.ts';
import { cancelInvoice, findInvoice, type Invoice } from '../../payments/papers/invoices.ts';
import { buildAuditLine } from '../audit.ts';
import { codeField } from '../code-field.ts';
import { form, message } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { type Answer, type Page, page } from '../page.ts';
import { describeInvoiceState, nameInvoice } from '../papers/invoice-list.ts';
import { renderInvoice } from '../papers/invoice-paper.ts';
import { linkTo, type OwnerVisit, type UserVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: (name: string) => `Invoice ${name}`,
    state: 'Status',
    print: 'To get a PDF, print this page and choose “Save as PDF”. The invoice itself is in Russian.',
    cancel: 'Cancel the invoice',
    cancelHint: 'Cancel it only if nobody has paid it. Its number is not used again.',
    back: 'All documents',
    done: 'The invoice is canceled.',
    stale: 'This invoice has already been paid or canceled.',
    account: 'Customer',
  },
  ru: {
    title: (name: string) => `Счёт ${name}`,
    state: 'Статус',
    print: 'Чтобы сохранить счёт в PDF, откройте печать этой страницы и выберите «Сохранить как PDF».',
    cancel: 'Отменить счёт',
    cancelHint: 'Отменяйте счёт, только если его не оплатили. Его номер повторно не используется.',
    back: 'Все документы',
    done: 'Счёт отменён.',
    stale: 'Этот счёт уже оплачен или отменён.',
    account: 'Клиент',
  },
});

interface Place {
  /** The path of the page. */
  readonly path: string;
  /** Where its papers are listed. */
  readonly back: string;
}

export const invoice = page({
  path: '/account/papers/invoices/{id}',
  who: 'account',
  get: async (visit) => invoicePage(visit, await findOwnInvoice(visit), {}),
  async post(visit) {
    const found = await findOwnInvoice(visit);
    return cancelByForm(visit, found);
  },
});

export const adminInvoice = page({
  path: '/admin/papers/invoices/{id}',
  who: 'operator',
  get: async (visit) => invoicePage(visit, await findAnyInvoice(visit), {}),
  async post(visit) {
    const found = await findAnyInvoice(visit);
    return cancelByForm(visit, found);
  },
});

type InvoiceVisit = UserVisit & Partial<Pick<OwnerVisit, 'account' | 'accounts' | 'zone'>>;

async function findAnyInvoice({ services, request }: UserVisit): Promise<Invoice> {
  const found = await findInvoice(services.store, String(request.params.id));
  if (!found) throw fault('not_found');
  return found;
}

async function findOwnInvoice(visit: OwnerVisit): Promise<Invoice> {
  const found = await findAnyInvoice(visit);
  if (found.account !== visit.account.id) throw fault('not_found');
  return found;
}

function getPlace(visit: InvoiceVisit, { id, account }: Invoice): Place {
  return visit.account
    ? { path: `/account/papers/invoices/${id}`, back: '/account/papers' }
    : { path: `/admin/papers/invoices/${id}`, back: `/admin/accounts/${account}/papers` };
}

async function cancelByForm(visit: InvoiceVisit, found: Invoice): Promise<Answer> {
  const { services } = visit;
  const { id, account, number } = found;
  const line = buildAuditLine(visit, { action: 'invoice.cancel', target: id, account, detail: { number } });
  if (!(await cancelInvoice(services.store, found, line))) {
    const now = (await findInvoice(services.store, found.id)) ?? found;
    return { ...(await invoicePage(visit, now, { problem: WORDS[visit.language].stale })), status: 409 };
  }
  return { to: linkTo(visit, `${getPlace(visit, found).path}?done=canceled`) };
}

async function invoicePage(visit: InvoiceVisit, found: Invoice, { problem }: { problem?: string }): Promise<Page> {
  const { services, language, query } = visit;
  const words = WORDS[language];
  const { back } = getPlace(visit, found);
  const zone = visit.zone ?? (await readZone(services.store.users, found.account));
  const body = html`<div class="screen">
${problem !== undefined && message('error', problem)}
${query.get('done') === 'canceled' && message('done', words.done)}
${!visit.account && html`<p>${words.account}: <a href="/admin/accounts/${found.account}">${found.buyer.name}</a></p>`}
<p>${words.state}: ${describeInvoiceState(visit, found, zone)}</p>
<p>${words.print}</p></div>
${await renderInvoice(found)}
<div class="screen">${found.state === 'open' && cancelForm(visit, found)}
<p><a href="${linkTo(visit, back)}">${words.back}</a></p></div>`;
  return { title: words.title(nameInvoice(language, found)), body };
}

function cancelForm(visit: InvoiceVisit, found: Invoice): Html {
  const words = WORDS[visit.language];
  return form(visit, {
    action: linkTo(visit, getPlace(visit, found).path),
    button: words.cancel,
    danger: true,
    confirm: `${words.cancel}? ${words.cancelHint}`,
    fields: html`<p>${words.cancelHint}</p>${!visit.account && codeField(visit)}`,
  });
}
