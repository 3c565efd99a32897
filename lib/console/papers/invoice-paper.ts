// An invoice as it is printed: the form that Russian accountants know, so always in Russian.
import { spellKopecks } from '../../payments/papers/amount-words.ts';
import type { Buyer } from '../../payments/papers/details.ts';
import { buildInvoiceQr, describePurpose, formatPaperDate, type Invoice } from '../../payments/papers/invoices.ts';
import { computeVat } from '../../payments/papers/vat.ts';
import { type Html, html } from '../html.ts';

export async function renderInvoice(invoice: Invoice): Promise<Html> {
  const { number, date, due, kopecks, seller, buyer } = invoice;
  const vat = computeVat(kopecks, seller.vat);
  const sum = formatPaperSum(kopecks);
  return html`<article class="paper" lang="ru">
${bankTable(invoice)}
<div class="title"><h2>Счёт на оплату № ${number} от ${formatLongDate(date)}</h2>
${await drawQr(buildInvoiceQr(invoice))}</div>
<dl>
<div class="party"><dt>Исполнитель</dt><dd>${describeParty(seller)}</dd></div>
<div class="party"><dt>Заказчик</dt><dd>${describeParty(buyer)}</dd></div>
${seller.contract !== '' && html`<div class="party"><dt>Основание</dt><dd>${seller.contract}</dd></div>`}
</dl>
<table class="lines"><caption>Услуги</caption>
<thead><tr><th scope="col">№</th><th scope="col">Услуга</th><th scope="col">Кол-во</th><th scope="col">Ед.</th><th scope="col">Цена</th><th scope="col">Сумма</th></tr></thead>
<tbody><tr><td>1</td><td>${seller.service} (аванс, пополнение баланса)</td><td>1</td><td>усл. ед.</td><td class="number">${sum}</td><td class="number">${sum}</td></tr></tbody>
</table>
<table class="totals"><caption>Итоги</caption><tbody>
<tr><th scope="row">Итого</th><td class="number">${sum}</td></tr>
${vatRow(vat, seller.vat)}
<tr><th scope="row">Всего к оплате</th><td class="number">${sum}</td></tr>
</tbody></table>
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

export function vatRow(vat: bigint | undefined, rate: string): Html {
  return vat === undefined
    ? html`<tr><th scope="row">Без налога (НДС)</th><td class="number">–</td></tr>`
    : html`<tr><th scope="row">В том числе НДС ${rate} %</th><td class="number">${formatPaperSum(vat)}</td></tr>`;
}

export function signature(signers: readonly (readonly [post: string, name: string])[]): Html {
  return html`<p class="signatures">${signers.map(([post, name]) => html`<span>${post} ____________________ ${name}</span> `)}</p>`;
}

/** Loaded on demand: few pages need it. */
async function drawQr(text: string): Promise<Html> {
  const { toString: draw } = await import('qrcode');
  const svg = await draw(text, { type: 'svg', margin: 2, errorCorrectionLevel: 'M' });
  const source = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
  return html`<img class="code" src="${source}" alt="QR-код для оплаты в приложении банка" width="180" height="180">`;
}

/** `ООО «Ромашка», ИНН 7707083893, КПП 773601001, 117997, г. Москва, …` */
export function describeParty({ name, inn, kpp, address }: Buyer): string {
  return [name, `ИНН ${inn}`, ...(kpp === '' ? [] : [`КПП ${kpp}`]), address].join(', ');
}

const LONG_DATE = new Intl.DateTimeFormat('ru-RU', { timeZone: 'UTC', dateStyle: 'long' });

/** `27 ноября 2026 г.` */
export function formatLongDate(day: string): string {
  return LONG_DATE.format(Date.parse(day));
}

/** `10 000,50`; from whole kopecks, so that no double is involved. */
export function formatPaperSum(kopecks: bigint): string {
  const size = kopecks < 0n ? -kopecks : kopecks;
  const roubles = `${size / 100n}`.replaceAll(/\B(?=(\d{3})+$)/g, '\u00a0');
  return `${kopecks < 0n ? '−' : ''}${roubles},${String(size % 100n).padStart(2, '0')}`;
}
