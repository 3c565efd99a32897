// What printed invoices and acts have in common, always in Russian: parties, the one service with its sum, and VAT.
import type { Buyer, Seller } from '../../payments/papers/details.ts';
import { computeVat } from '../../payments/papers/vat.ts';
import { type Html, html } from '../html.ts';

interface Parties {
  readonly seller: Seller;
  readonly buyer: Buyer;
}

export function partyList({ seller, buyer }: Parties): Html {
  return html`<dl>
<div class="party"><dt>Исполнитель</dt><dd>${describeParty(seller)}</dd></div>
<div class="party"><dt>Заказчик</dt><dd>${describeParty(buyer)}</dd></div>
${seller.contract !== '' && html`<div class="party"><dt>Основание</dt><dd>${seller.contract}</dd></div>`}
</dl>`;
}

interface Service {
  readonly service: string;
  readonly kopecks: bigint;
  /** What the last row is called. */
  readonly total: string;
}

export function serviceTables({ seller }: Parties, { service, kopecks, total }: Service): Html {
  const sum = formatPaperSum(kopecks);
  return html`<table class="lines"><caption>Услуги</caption>
<thead><tr><th scope="col">№</th><th scope="col">Услуга</th><th scope="col">Кол-во</th><th scope="col">Ед.</th><th scope="col">Цена</th><th scope="col">Сумма</th></tr></thead>
<tbody><tr><td>1</td><td>${service}</td><td>1</td><td>усл. ед.</td><td class="number">${sum}</td><td class="number">${sum}</td></tr></tbody>
</table>
<table class="totals"><caption>Итоги</caption><tbody>
<tr><th scope="row">Итого</th><td class="number">${sum}</td></tr>
${vatRow(computeVat(kopecks, seller.vat), seller.vat)}
<tr><th scope="row">${total}</th><td class="number">${sum}</td></tr>
</tbody></table>`;
}

function vatRow(vat: bigint | undefined, rate: string): Html {
  return vat === undefined
    ? html`<tr><th scope="row">Без налога (НДС)</th><td class="number">–</td></tr>`
    : html`<tr><th scope="row">В том числе НДС ${rate} %</th><td class="number">${formatPaperSum(vat)}</td></tr>`;
}

/** `ООО «Ромашка», ИНН 7707083893, КПП 773601001, 117997, г. Москва, …` */
function describeParty({ name, inn, kpp, address }: Buyer): string {
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
