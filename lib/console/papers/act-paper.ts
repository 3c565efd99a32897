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
import { formatLongDate, formatPaperSum, partyList, serviceTables } from './printed-form.ts';

export function renderAct(act: Act): Html {
  const { number, month, seller, buyer } = act;
  const kopecks = computeActKopecks(act);
  const vat = computeVat(kopecks, seller.vat);
  const sum = formatPaperSum(kopecks);
  const date = findActDate(month);
  const service = `${seller.service} за ${formatMonth(month)} (${formatPaperDate(`${month}-01`)}–${formatPaperDate(date)})`;
  return html`<article class="paper" lang="ru">
<h2>Акт об оказании услуг № ${number} от ${formatLongDate(date)}</h2>
${partyList(act)}
${serviceTables(act, { service, kopecks, total: 'Всего' })}
<p>Всего оказано услуг 1, на сумму ${sum} руб.<br><strong>${spellKopecks(kopecks)}</strong></p>
${vat === undefined && seller.vatBasis !== '' && html`<p>Без НДС: ${seller.vatBasis}.</p>`}
<p>Вышеперечисленные услуги оказаны полностью и в срок. Заказчик претензий по объёму, качеству и срокам оказания услуг не имеет.</p>
${advanceTable(act, sum)}
${act.grants > 0n && html`<p>Справочно: за счёт бонусов (скидка исполнителя) использовано услуг на ${formatPaperSum(roundToKopecks(act.grants))} руб.; в сумму акта они не входят.</p>`}
<div class="sides">
<p><strong>Исполнитель</strong><br>${seller.post === '' ? 'Индивидуальный предприниматель' : seller.post}<br><br>______________ ${seller.signer}</p>
<p><strong>Заказчик</strong><br>${buyer.name}<br><br>______________ / ______________</p>
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
