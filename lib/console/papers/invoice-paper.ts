// An invoice as it is printed: the form that Russian accountants know, so always in Russian.
import { spellKopecks } from '../../payments/papers/amount-words.ts';
import { buildInvoiceQr, describePurpose, formatPaperDate, type Invoice } from '../../payments/papers/invoices.ts';
import { computeVat } from '../../payments/papers/vat.ts';
import { type Html, html } from '../html.ts';
import { formatLongDate, formatPaperSum, partyList, serviceTables } from './printed-form.ts';

export async function renderInvoice(invoice: Invoice): Promise<Html> {
  const { number, date, due, kopecks, seller } = invoice;
  const vat = computeVat(kopecks, seller.vat);
  const sum = formatPaperSum(kopecks);
  return html`<article class="paper" lang="ru">
${bankTable(invoice)}
<div class="title"><h2>Счёт на оплату № ${number} от ${formatLongDate(date)}</h2>
${await drawQr(buildInvoiceQr(invoice))}</div>
${partyList(invoice)}
${serviceTables(invoice, { service: `${seller.service} (аванс, пополнение баланса)`, kopecks, total: 'Всего к оплате' })}
<p>Всего наименований 1, на сумму ${sum} руб.<br><strong>${spellKopecks(kopecks)}</strong></p>
${vat === undefined && seller.vatBasis !== '' && html`<p>Без НДС: ${seller.vatBasis}.</p>`}
<p>Назначение платежа: <strong>${describePurpose(invoice)}</strong></p>
<p>Счёт действителен до ${formatPaperDate(due)} включительно. Укажите в назначении платежа номер счёта: по нему деньги зачисляются на баланс.</p>
${signature([[seller.post === '' ? 'Индивидуальный предприниматель' : seller.post, seller.signer]])}
</article>`;
}

function bankTable({ seller }: Invoice): Html {
  const { bank, bik, correspondent, inn, kpp, account, name } = seller;
  return html`<table class="bank"><caption>Банковские реквизиты</caption><tbody>
<tr><td>${bank}<br><small>Банк получателя</small></td><th scope="row">БИК<br>Сч. №</th><td>${bik}<br>${correspondent}</td></tr>
<tr><td>ИНН ${inn}${kpp !== '' && ` КПП ${kpp}`}<br>${name}<br><small>Получатель</small></td><th scope="row">Сч. №</th><td>${account}</td></tr>
</tbody></table>`;
}

function signature(signers: readonly (readonly [post: string, name: string])[]): Html {
  return html`<p class="signatures">${signers.map(([post, name]) => html`<span>${post} ____________________ ${name}</span> `)}</p>`;
}

/** Loaded on demand: few pages need it. */
async function drawQr(text: string): Promise<Html> {
  const { toString: draw } = await import('qrcode');
  const svg = await draw(text, { type: 'svg', margin: 2, errorCorrectionLevel: 'M' });
  const source = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
  return html`<img class="code" src="${source}" alt="QR-код для оплаты в приложении банка" width="180" height="180">`;
}
