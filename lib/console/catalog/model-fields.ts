// The fields of what a model costs and can do, for the page that adds models and the page of one of them.
import type { CostEntry } from '../../catalog/cost.ts';
import { HOME_CURRENCY } from '../../money/cost.ts';
import { checkbox, field, foldAway, select } from '../components.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { wrongField } from '../refused-form.ts';
import type { UserVisit } from '../visit.ts';
import {
  ABILITIES,
  countBands,
  EXTRA_PRICE_FIELDS,
  LOSS_FIELD,
  listBands,
  nameAbilityField,
  nameFactField,
  PRICE_FIELDS,
  type PriceField,
  type Sellable,
  SIZE_FIELDS,
} from './model-form.ts';
import { MODEL_WORDS } from './model-words.ts';

interface CostFields {
  readonly type: Sellable;
  /** Of several in one form. */
  readonly at: number;
  readonly cost: CostEntry | undefined;
  /** What was typed before. */
  readonly sent: Form | undefined;
}

export function costFields(visit: UserVisit, { type, at, cost, sent }: CostFields): Html {
  const { language, format } = visit;
  const words = MODEL_WORDS[language];
  const known = listBands(cost);
  const readValue = (name: string, first: string) => (sent?.has(name) ? sent.text(name) : first);
  const costField = (price: PriceField, { optional = false, band }: { optional?: boolean; band?: number } = {}) => {
    const name = nameFactField(price, at, band);
    const from = (band === undefined ? cost : known[band]) as Partial<Record<PriceField, unknown>> | undefined;
    const first = from?.[price];
    const value = readValue(name, typeof first === 'string' ? format.decimalTyped(first) : '');
    const label = band === undefined ? words.costs[price] : words.bandCost(words.costs[price]);
    return field({ name, label, value, inputmode: 'decimal', optional, ...wrongField(visit, name) });
  };
  const required = PRICE_FIELDS[type].map((price) => costField(price));
  if (type !== 'text') return html`${required}`;
  const extras = foldAway(
    words.extras,
    html`<p class="hint">${words.extrasHint}</p>${EXTRA_PRICE_FIELDS.map((price) => costField(price, { optional: true }))}`,
    cost !== undefined || EXTRA_PRICE_FIELDS.some((price) => sent?.text(nameFactField(price, at))),
  );
  const readAbove = (band: number) => readValue(nameFactField('above', at, band), String(known[band]?.above ?? ''));
  const bandFields = (band: number) => {
    const name = nameFactField('above', at, band);
    const value = readAbove(band);
    const costs = [...PRICE_FIELDS.text, ...EXTRA_PRICE_FIELDS];
    const body = html`<p class="hint">${words.bandsHint}</p>
${field({ name, label: words.above, value, inputmode: 'numeric', optional: true })}${costs.map((price) => costField(price, { optional: true, band }))}`;
    return foldAway(words.bands, body, value !== '');
  };
  // One more than there are, for another.
  const count = (sent && countBands(sent, at)) || known.length + 1;
  const bands = Array.from({ length: count }, (_, band) => bandFields(band));
  return html`${required}${extras}${bands}`;
}

/** Of a text model. */
export function sizeFields(
  visit: UserVisit,
  at: number,
  sent: Form | undefined,
  model: Readonly<Record<string, unknown>> = {},
): Html {
  const words = MODEL_WORDS[visit.language];
  const fields = SIZE_FIELDS.map((size) => {
    const name = nameFactField(size, at);
    const value = sent?.has(name) ? sent.text(name) : String(model[size] ?? '');
    return field({
      ...{ name, label: words.sizes[size], hint: words.sizeHint, value, inputmode: 'numeric', optional: true },
      ...wrongField(visit, name),
    });
  });
  return html`${fields}`;
}

export function currencyField({ services, language }: UserVisit, chosen: string | undefined, name = 'currency'): Html {
  const currencies = [...services.catalog().rates.keys()].toSorted();
  const first = currencies.includes('USD') ? 'USD' : HOME_CURRENCY;
  return select(
    { name, label: MODEL_WORDS[language].currency, chosen: chosen ?? first },
    currencies.map((each) => [each, each]),
  );
}

/** As it was sent, or before anything was sent, as the model has it. */
export function abilityFields(
  { language }: UserVisit,
  sent: Form | undefined,
  model: Readonly<Record<string, unknown>>,
): Html {
  const { abilities, able, imageLoss } = MODEL_WORDS[language];
  const boxes = ABILITIES.map((ability) => {
    const name = nameAbilityField(ability);
    return checkbox({ name, label: able[ability], checked: sent ? sent.has(name) : model[ability] === true });
  });
  const isLossy = sent ? sent.has(LOSS_FIELD) : model.loss === 'vision';
  return html`<fieldset><legend>${abilities}</legend>${boxes}</fieldset>${checkbox({ name: LOSS_FIELD, label: imageLoss, checked: isLossy })}`;
}
