// The price list of an account, on its page for an operator.
import { NO_PRICE_LIST } from '../../catalog/customer-lists.ts';
import type { Account } from '../../store/ports/accounts.ts';
import { audit } from '../audit.ts';
import { codeField } from '../code-field.ts';
import { form, select } from '../components.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import type { UserVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Price list',
    none: 'List prices',
    hint: 'New calls pay its prices within a second. Discounts are added on the page of the catalog, other price lists in its files, under “priceLists”.',
    first: 'To give a discount, first add it on the page of the',
    catalog: 'catalog',
    button: 'Change the price list',
    missing: 'not in the catalog: list prices apply',
    unknown: 'The catalog has no such price list.',
  },
  ru: {
    title: 'Прайс-лист',
    none: 'Обычные цены',
    hint: 'Новые запросы начнут тарифицироваться по нему в течение секунды. Скидки добавляются на странице каталога, другие прайс-листы — в его файлах, в разделе «priceLists».',
    first: 'Чтобы дать скидку, сначала добавьте её на странице',
    catalog: 'каталога',
    button: 'Сменить прайс-лист',
    missing: 'нет в каталоге: действуют обычные цены',
    unknown: 'В каталоге нет такого прайс-листа.',
  },
});

const FIELD = 'price_list';

/** A row of the account's facts. */
export function priceListRow(
  { language, services }: UserVisit,
  { priceList }: Account,
): readonly [string, Html | string] {
  const words = WORDS[language];
  if (priceList === undefined) return [words.title, words.none];
  const isKnown = services.catalog().priceLists.has(priceList);
  return [words.title, html`<code>${priceList}</code>${!isKnown && html` (<strong>${words.missing}</strong>)`}`];
}

/** Says where to add one if neither the catalog has a list nor the account. */
export function priceListForm(visit: UserVisit, { id, priceList }: Account): Html {
  const words = WORDS[visit.language];
  const names = [...visit.services.catalog().priceLists.keys()];
  if (names.length === 0 && priceList === undefined)
    return html`<h2>${words.title}</h2><p>${words.first} <a href="/admin/catalog">${words.catalog}</a>.</p>`;
  const chosen = priceList ?? NO_PRICE_LIST;
  const options = [[NO_PRICE_LIST, words.none], ...names.map((name) => [name, name] as const)] as const;
  return html`<h2>${words.title}</h2>
${form(visit, {
  action: `/admin/accounts/${id}`,
  button: words.button,
  fields: html`<input type="hidden" name="change" value="${FIELD}"><p class="hint">${words.hint}</p>
${select({ name: FIELD, label: words.title, chosen }, options)}${codeField(visit, FIELD)}`,
})}`;
}

/** Resolves to what is wrong with the form, if anything. */
export async function changePriceList(visit: UserVisit, account: Account, sent: Form): Promise<string | undefined> {
  const { services, language } = visit;
  const name = sent.text(FIELD);
  const to = name === NO_PRICE_LIST ? undefined : name;
  await services.catalogEditor.read();
  if (to !== undefined && !services.catalog().priceLists.has(to)) return WORDS[language].unknown;
  await services.accounts.setPriceList(account.id, to);
  const detail = { price_list: name, before: account.priceList ?? NO_PRICE_LIST };
  await audit(visit, { action: 'account.price_list', target: account.id, account: account.id, detail });
  return undefined;
}
