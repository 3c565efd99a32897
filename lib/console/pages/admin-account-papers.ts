// The papers of one account, for an operator.
import { readZone } from '../../accounts/zone.ts';
import { fault } from '../../base/faults.ts';
import { readActRow } from '../../payments/papers/acts.ts';
import { readBuyer } from '../../payments/papers/details.ts';
import { readInvoiceRow } from '../../payments/papers/invoices.ts';
import { definitionList } from '../components.ts';
import { html } from '../html.ts';
import { defineWords } from '../language.ts';
import { page } from '../page.ts';
import { actTable } from '../papers/act-list.ts';
import { listBuyerDetails } from '../papers/details-form.ts';
import { invoiceTable } from '../papers/invoice-list.ts';

const WORDS = defineWords({
  en: {
    title: (name: string) => `Documents: ${name}`,
    details: 'Company details',
    noDetails: 'The customer has not entered company details.',
    invoices: 'Invoices',
    none: 'No invoices yet.',
    acts: 'Acts',
  },
  ru: {
    title: (name: string) => `Документы: ${name}`,
    details: 'Реквизиты организации',
    noDetails: 'Клиент не указал реквизиты организации.',
    invoices: 'Счета',
    none: 'Счетов пока нет.',
    acts: 'Акты',
  },
});

const SHOWN = 100;

export const adminAccountPapers = page({
  path: '/admin/accounts/{id}/papers',
  who: 'operator',
  async get(visit) {
    const { services, language, request } = visit;
    const words = WORDS[language];
    const account = await services.store.accounts.get(String(request.params.id));
    if (!account) throw fault('not_found');
    const [buyer, rows, acts, zone] = await Promise.all([
      readBuyer(services.store, account.id),
      services.store.papers.list({ kind: 'invoice', account: account.id, limit: SHOWN }),
      services.store.papers.list({ kind: 'act', account: account.id, limit: SHOWN }),
      readZone(services.store.users, account.id),
    ]);
    const list = { invoices: rows.map(readInvoiceRow), base: '/admin/papers/invoices/', zone };
    const body = html`<p><a href="/admin/accounts/${account.id}">${account.name}</a></p>
<h2>${words.details}</h2>
${buyer ? definitionList(listBuyerDetails(language, buyer)) : html`<p>${words.noDetails}</p>`}
<h2>${words.invoices}</h2>
${rows.length === 0 ? html`<p>${words.none}</p>` : invoiceTable(visit, list)}
<h2>${words.acts}</h2>
${actTable(visit, { acts: acts.map(readActRow), base: `/admin/accounts/${account.id}/papers/` })}`;
    return { title: words.title(account.name), body };
  },
});
