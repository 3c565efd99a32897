// An act as it is printed: always in Russian.
import {
  type Act,
  computeActKopecks,
  computeAdvance,
  findActDate,
  roundToKopecks,
} from '../../payments/papers/acts.ts';
import { spellKopecks } from '../../payments/papers/amount-words.ts';
import { formatPaperDate } from '../../payments/papers/invoices.ts';
import { computeVat } from '../../payments/papers/vat.ts';
import { type Html, html } from '../html.ts';
import { describeParty, formatLongDate, formatPaperSum, vatRow } from './invoice-paper.ts';

export function renderAct(act: Act): Html {
  const { number, month, seller, buyer } = act;
  const kopecks = computeActKopecks(act);
  const vat = computeVat(kopecks, seller.vat);
  const sum = formatPaperSum(kopecks);
  const date = findActDate(month);
  return html`<article class="paper" lang="ru">
<h2>Акт об оказании услуг № ${number} от ${formatLongDate(date)}</h2>
<dl>
<div class="party"><dt>Исполнитель</dt><dd>${describeParty(seller)}</dd></div>
<div class="party"><dt>Заказчик</dt><dd>${describeParty(buyer)}</dd></div>
${seller.contract !== '' && html`<div class="party"><dt>Основание</dt><dd>${seller.contract}</dd></div>`}
</dl>
<table class="lines"><caption>Услуги</caption>
<thead><tr><th scope="col">№</th><th scope="col">Услуга</th><th scope="col">Кол-во</th><th scope="col">Ед.</th><th scope="col">Цена</th><th scope="col">Сумма</th></tr></thead>
<tbody><tr><td>1</td><td>${seller.service} за ${formatMonth(month)} (${formatPaperDate(`${month}-01`)}–${formatPaperDate(date)})</td><td>1</td><td>усл. ед.</td><td class="number">${sum}</td><td class="number">${sum}</td></tr></tbody>
</table>
<table class="totals"><caption>Итоги</caption><tbody>
<tr><th scope="row">Итого</th><td class="number">${sum}</td></tr>
${vatRow(vat, seller.vat)}
<tr><th scope="row">Всего</th><td class="number">${sum}</td></tr>
</tbody></table>
<p>Всего оказано услуг 1, на сумму ${sum} руб.<br><strong>${spellKopecks(kopecks)}</strong></p>
${vat === undefined && seller.vatBasis !== '' && html`<p>Без НДС: ${seller.vatBasis}.</p>`}
<p>Вышеперечисленные услуги оказаны полностью и в срок. Заказчик претензий по объёму, качеству и срокам оказания услуг не имеет.</p>
${advanceTable(act, sum)}
${act.grants > 0n && html`<p>Справочно: за счёт бонусов (скидка исполнителя) использовано услуг на ${formatPaperSum(roundToKopecks(act.grants))} руб.; в сумму акта они не входят.</p>`}
<div class="sides">
<p><strong>Исполнитель</strong><br>${seller.post === '' ? 'Индивидуальный предприниматель' : seller.post}<br><br>____________________ ${seller.signer}</p>
<p><strong>Заказчик</strong><br>${buyer.name}<br><br>____________________ / ____________________</p>
</div>
</article>`;
}

function advanceTable(act: Act, sum: string): Html {
  const { opening, received, closing } = computeAdvance(act);
  const [first, last] = [formatPaperDate(`${act.month}-01`), formatPaperDate(findActDate(act.month))];
  const name = (kopecks: bigint) => (kopecks < 0n ? 'Задолженность Заказчика' : 'Остаток аванса');
  const size = (kopecks: bigint) => formatPaperSum(kopecks < 0n ? -kopecks : kopecks);
  return html`<table class="advance"><caption>Расчёты по авансам</caption><tbody>
<tr><th scope="row">${name(opening)} на ${first}</th><td class="number">${size(opening)}</td></tr>
<tr><th scope="row">Поступило за месяц, за вычетом возвратов</th><td class="number">${formatPaperSum(received)}</td></tr>
<tr><th scope="row">Оказано услуг по акту</th><td class="number">${sum}</td></tr>
<tr><th scope="row">${name(closing)} на ${last}</th><td class="number">${size(closing)}</td></tr>
</tbody></table>`;
}

const MONTHS = new Intl.DateTimeFormat('ru-RU', { timeZone: 'UTC', month: 'long', year: 'numeric' });

/** `ноябрь 2026 г.` */
function formatMonth(month: string): string {
  return MONTHS.format(Date.parse(`${month}-01`));
}
