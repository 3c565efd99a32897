// The forms of the catalog page for what applies to many models: discounts, as price lists, and exchange rates; and the save
// of these and of the lists of models. All are written to the part of the catalog that is kept in the store; price lists of files are changed there.
import { fault } from '../../base/faults.ts';
import type { SaveResult } from '../../catalog/editor.ts';
import { type LayerPart, MODEL_LISTS, readModelList, setDiscount, setRate } from '../../catalog/layer-edits.ts';
import { findHourDay } from '../../money/days.ts';
import { DEFAULT_ZONE } from '../../money/key-limits.ts';
import { formatRub, MICRO_PER_RUB } from '../../money/money.ts';
import { readRub } from '../amount.ts';
import { audit } from '../audit.ts';
import { codeField } from '../code-field.ts';
import { field, foldAway, form, hiddenInputs } from '../components.ts';
import type { Form, Refusal } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { isRefused, typedFields } from '../refused-form.ts';
import type { UserVisit } from '../visit.ts';
import { CATALOG_PATH, changeModelLists } from './list-form.ts';
import { changesTable, describeRefusal, isPreviewed, newWarnings, previewMark } from './save-words.ts';

const WORDS = defineWords({
  en: {
    discount: 'Add or change a discount',
    discountText: 'A discount is a price list that takes a share off all prices. Give it to customers on their pages.',
    list: 'Name of the price list',
    listHint: 'Such as partner or spring-10: lower-case Latin letters, digits, dots and hyphens.',
    percent: 'Discount, %',
    percentHint: '0 removes the price list: its customers then pay list prices.',
    save: 'Save the discount',
    badName: 'The name has at most 40 lower-case Latin letters, digits, dots and hyphens.',
    fileList: 'A file of the catalog defines this price list: change it there, or choose another name.',
    badPercent: 'The discount is a percentage from 0 to 95.',
    rate: 'Set an exchange rate',
    rateText:
      'Costs in this currency, and the prices that follow from them, change at once. Running calls keep their prices.',
    currency: 'Currency',
    currencyHint: 'Three capital letters, such as USD.',
    rub: 'Roubles for one unit',
    saveRate: 'Save the rate',
    badCurrency: 'A currency has three capital letters, such as USD.',
    badRate: 'Enter the rate in roubles, such as 81.40.',
    preview: 'Preview',
    previewText: 'Nothing has been saved yet. The catalog would warn:',
    saveAnyway: 'Save anyway',
  },
  ru: {
    discount: 'Добавить или изменить скидку',
    discountText:
      'Скидка — это прайс-лист, который уменьшает все цены на указанный процент. Назначить его клиенту можно на странице клиента.',
    list: 'Название прайс-листа',
    listHint: 'Например, partner или spring-10: строчные латинские буквы, цифры, точки и дефисы.',
    percent: 'Скидка, %',
    percentHint: '0 удалит прайс-лист: его клиенты будут платить по обычным ценам.',
    save: 'Сохранить скидку',
    badName: 'В названии не больше 40 строчных латинских букв, цифр, точек и дефисов.',
    fileList: 'Этот прайс-лист задан в файле каталога: измените его там или выберите другое название.',
    badPercent: 'Скидка — число процентов от 0 до 95.',
    rate: 'Задать курс валюты',
    rateText:
      'Закупочные цены в этой валюте и зависящие от них цены для клиентов изменятся сразу. Запросы, которые уже выполняются, сохранят свои цены.',
    currency: 'Валюта',
    currencyHint: 'Три заглавные латинские буквы, например USD.',
    rub: 'Рублей за единицу',
    saveRate: 'Сохранить курс',
    badCurrency: 'Валюта — три заглавные латинские буквы, например USD.',
    badRate: 'Введите курс в рублях, например 81,40.',
    preview: 'Предпросмотр',
    previewText: 'Пока ничего не сохранено. Каталог предупредит:',
    saveAnyway: 'Всё равно сохранить',
  },
});

const LIST_NAME = /^(?!none$)[a-z0-9][a-z0-9._-]{0,39}$/;
const PERCENT = /^(?:\d|[1-8]\d|9[0-5])(?:[.,]\d{1,2})?$/;
const PERCENT_MAX = 95;
const RATE_MAX = 1_000_000n * MICRO_PER_RUB;

export const isTermsChange = (change: string) => ['discount', 'rate', 'lists'].includes(change);

export function discountForm(visit: UserVisit, version: number): Html {
  const words = WORDS[visit.language];
  const typed = typedFields(visit, { change: 'discount' });
  const fields = html`${hidden('discount', version)}<p class="hint">${words.discountText}</p>
${field({ ...typed('list'), label: words.list, hint: words.listHint })}
${field({ ...typed('percent'), label: words.percent, hint: words.percentHint, inputmode: 'decimal' })}${codeField(visit, 'discount')}`;
  return foldAway(
    words.discount,
    form(visit, { action: CATALOG_PATH, button: words.save, fields }),
    isRefused(visit, { change: 'discount' }),
  );
}

export function rateForm(visit: UserVisit, version: number): Html {
  const words = WORDS[visit.language];
  const typed = typedFields(visit, { change: 'rate' });
  const fields = html`${hidden('rate', version)}<p class="hint">${words.rateText}</p>
${field({ ...typed('currency'), label: words.currency, hint: words.currencyHint })}
${field({ ...typed('rub'), label: words.rub, inputmode: 'decimal' })}${codeField(visit, 'rate')}`;
  return foldAway(
    words.rate,
    form(visit, { action: CATALOG_PATH, button: words.saveRate, fields }),
    isRefused(visit, { change: 'rate' }),
  );
}

const hidden = (change: string, version: number) =>
  html`<input type="hidden" name="change" value="${change}"><input type="hidden" name="seen" value="${version}">`;

/** What to show instead of a save. */
interface TermsNotice {
  readonly notice: Html;
  readonly isPreview?: boolean;
}

/** Saves what a form wants, unless it is refused; shows first what it would make the catalog warn of. */
export async function changeTerms(visit: UserVisit, sent: Form): Promise<Refusal | TermsNotice | undefined> {
  const { services, signedIn, language } = visit;
  const { part } = await services.catalogEditor.read();
  const change = READERS[sent.text('change')]?.(visit, part, sent);
  if (!change) throw fault('stale_form');
  if ('text' in change) return change;
  if ('problem' in change) return { text: WORDS[language][change.problem], field: FIELDS[change.problem] };
  const { action, target, detail, next } = change;
  if (!isPreviewed(sent, next)) {
    const tried = await services.catalogEditor.tryPart(next);
    const warnings = 'problem' in tried ? [] : newWarnings(visit, tried.catalog);
    if (warnings.length > 0) return { notice: preview(visit, sent, { part, next, warnings }), isPreview: true };
  }
  const saved: SaveResult = await services.catalogEditor.save({
    seen: Number(sent.text('seen')),
    part: next,
    user: signedIn.user.id,
    note: `${action} ${target}`.trim(),
  });
  if (saved.status !== 'saved') return { notice: describeRefusal(visit, saved) };
  await audit(visit, { action, target, detail });
  return undefined;
}

const NOT_AGAIN = new Set(['step', 'previewed', 'code', 'csrf']);

/** Warns, and offers to save what was sent all the same. */
function preview(
  visit: UserVisit,
  sent: Form,
  { part, next, warnings }: { part: LayerPart; next: LayerPart; warnings: readonly Html[] },
): Html {
  const words = WORDS[visit.language];
  const again = sent.entries().filter(([name]) => !NOT_AGAIN.has(name));
  const fields = html`${hiddenInputs(again)}
<input type="hidden" name="step" value="save">${previewMark(next)}${codeField(visit, 'preview')}`;
  return html`<h2>${words.preview}</h2><p>${words.previewText}</p>${warnings}${changesTable(visit, part, next)}
${form(visit, { action: CATALOG_PATH, button: words.saveAnyway, fields })}`;
}

interface TermsChange {
  readonly action: string;
  readonly target: string;
  readonly detail: Readonly<Record<string, string>>;
  readonly next: LayerPart;
}

const FIELDS = {
  badName: 'list',
  fileList: 'list',
  badPercent: 'percent',
  badCurrency: 'currency',
  badRate: 'rub',
} as const;

interface Problem {
  readonly problem: keyof typeof FIELDS;
}

const READERS: Readonly<Record<string, (...form: [UserVisit, LayerPart, Form]) => TermsChange | Problem | Refusal>> = {
  discount: readDiscount,
  rate: readRate,
  lists: readLists,
};

function readLists(visit: UserVisit, part: LayerPart, sent: Form): TermsChange | Refusal {
  const change = changeModelLists(visit, part, sent);
  if ('text' in change) return change;
  const { next } = change;
  const detail = Object.fromEntries(MODEL_LISTS.map((list) => [list, readModelList(next, list).join(', ')] as const));
  return { action: 'model_lists.change', target: '', detail, next };
}

function readDiscount({ services }: UserVisit, part: LayerPart, sent: Form): TermsChange | Problem {
  const target = sent.text('list').trim();
  const percent = sent.text('percent').trim().replace(/%$/, '').trim();
  if (!LIST_NAME.test(target)) return { problem: 'badName' };
  const lists = services.catalogParts().file.priceLists ?? {};
  if (Object.hasOwn(lists, target) && !Object.hasOwn(part.priceLists ?? {}, target)) return { problem: 'fileList' };
  const hundredths = Math.round(Number(percent.replace(',', '.')) * 100);
  if (!PERCENT.test(percent) || hundredths > PERCENT_MAX * 100) return { problem: 'badPercent' };
  const detail = { percent: `${hundredths / 100}` };
  return { action: 'price_list.change', target, detail, next: setDiscount(part, target, hundredths) };
}

function readRate({ services, language }: UserVisit, part: LayerPart, sent: Form): TermsChange | Problem {
  const target = sent.text('currency').toUpperCase();
  const rate = readRub(sent.text('rub'), language);
  if (!/^[A-Z]{3}$/.test(target)) return { problem: 'badCurrency' };
  if (rate === undefined || rate >= RATE_MAX) return { problem: 'badRate' };
  const rub = formatRub(rate);
  const from = findHourDay(services.now(), DEFAULT_ZONE);
  return { action: 'rate.change', target, detail: { rub, from }, next: setRate(part, target, { rub, from }) };
}
