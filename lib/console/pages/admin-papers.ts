// Papers for an operator: the details of the seller, which switch invoices on, and the invoices that wait for their money.
import { DEFAULT_ZONE } from '../../money/key-limits.ts';
import {
  checkSeller,
  readSeller,
  SELLER_FIELDS,
  type Seller,
  type SellerField,
  saveSeller,
} from '../../payments/papers/details.ts';
import { readInvoiceRow } from '../../payments/papers/invoices.ts';
import { audit } from '../audit.ts';
import { codeField } from '../code-field.ts';
import { form, message } from '../components.ts';
import { html } from '../html.ts';
import { defineWords, findWord } from '../language.ts';
import { type Page, page } from '../page.ts';
import { type FormState, readTyped, sellerFields, toTyped } from '../papers/details-form.ts';
import { invoiceTable } from '../papers/invoice-list.ts';
import { reopenForm, shownField } from '../shown-values.ts';
import type { UserVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Documents',
    off: 'Customers can order invoices as soon as you have entered the seller details here.',
    on: 'Customers order invoices on their page “Documents”.',
    bank: 'Bank statements: import and credit payments',
    open: 'Unpaid invoices',
    none: 'No unpaid invoices.',
    seller: 'Seller details',
    hint: 'Documents that have been issued keep their details.',
    save: 'Save',
    done: { saved: 'The details are saved.' },
  },
  ru: {
    title: 'Документы',
    off: 'Клиенты смогут заказывать счета, как только вы укажете здесь реквизиты исполнителя.',
    on: 'Клиенты заказывают счета на странице «Документы».',
    bank: 'Банковские выписки: загрузка и зачисление платежей',
    open: 'Неоплаченные счета',
    none: 'Неоплаченных счетов нет.',
    seller: 'Реквизиты исполнителя',
    hint: 'В уже выставленных документах реквизиты не изменятся.',
    save: 'Сохранить',
    done: { saved: 'Реквизиты сохранены.' },
  },
});

const PATH = '/admin/papers';
const SHOWN = 50;

export const adminPapers = page({
  path: PATH,
  who: 'operator',
  get: (visit) => papersPage(visit),
  async post(visit, sent) {
    const shown = showSeller(await readSeller(visit.services.store));
    const checked = checkSeller(readTyped(reopenForm(sent, shown), SELLER_FIELDS));
    if ('wrong' in checked) {
      const rejected = { typed: readTyped(sent, SELLER_FIELDS), ...checked, sent };
      return { ...(await papersPage(visit, rejected)), status: 400 };
    }
    await saveSeller(visit.services.store, checked.details);
    await audit(visit, { action: 'papers.seller', target: checked.details.inn, detail: checked.details });
    return { to: `${PATH}?done=saved` };
  },
});

function showSeller(seller: Seller | undefined): Partial<Record<SellerField, string>> {
  return seller ? toTyped(seller) : { vat: 'none', days: '5' };
}

async function papersPage(visit: UserVisit, rejected?: FormState<SellerField>): Promise<Page> {
  const { services, language, query } = visit;
  const words = WORDS[language];
  const seller = await readSeller(services.store);
  const rows = await services.store.papers.list({ kind: 'invoice', state: 'open', limit: SHOWN });
  const invoices = rows.map(readInvoiceRow);
  const done = findWord(words.done, query.get('done'));
  const list = { invoices, base: `${PATH}/invoices/`, zone: DEFAULT_ZONE };
  const shown = showSeller(seller);
  const body = html`${done !== undefined && message('done', done)}
<p>${seller ? words.on : words.off}</p>
${
  seller &&
  html`<p><a href="${PATH}/bank">${words.bank}</a></p>
<h2>${words.open}</h2>${invoices.length === 0 ? html`<p>${words.none}</p>` : invoiceTable(visit, list)}`
}
<h2>${words.seller}</h2>
<p>${words.hint}</p>
${form(visit, { action: PATH, button: words.save, fields: html`${shownField(shown, rejected?.sent)}${sellerFields(language, rejected ?? { typed: shown })}${codeField(visit)}` })}`;
  return { title: words.title, body };
}
