// Reads the forms of models into entries of the catalog.
import { isOneLine } from '../../base/one-line.ts';
import type { CostEntry } from '../../catalog/cost.ts';
import type { LayerModel } from '../../catalog/layer-edits.ts';
import type { AddedRoute, OverrideEntry } from '../../catalog/overrides.ts';
import type { PriceBandEntry, PriceEntry } from '../../catalog/price.ts';
import { AMOUNT_MAX, formatRub } from '../../money/money.ts';
import { readDecimal } from '../amount.ts';
import type { Form, Refusal } from '../forms.ts';
import type { Language } from '../language.ts';
import { MODEL_WORDS, type ModelProblem } from './model-words.ts';

export const SELLABLE = ['text', 'embedding', 'image'] as const;
export type Sellable = (typeof SELLABLE)[number];
export const ABILITIES = ['vision', 'documents', 'audio', 'tools', 'json', 'reasoning', 'sampling'] as const;

export const MODELS_MAX = 50;
const NAME_CHARS_MAX = 200;
const FACTOR_MAX = 1000n * 1_000_000n;
/** A vendor may charge nothing; a price is above zero. */
const FREE = formatRub(0n);

/** The prices that a cost or price of a type has. */
export const PRICE_FIELDS = {
  text: ['input', 'output'],
  embedding: ['input'],
  image: ['request'],
} as const satisfies Readonly<Record<Sellable, readonly string[]>>;

/** Prices of a text that may be left empty: as much as input. */
export const EXTRA_PRICE_FIELDS = ['cacheRead', 'cacheWrite', 'cacheWrite1h', 'audio'] as const;

/** Numbers of tokens of a text model that may be left empty: unknown. */
export const SIZE_FIELDS = ['context', 'maxOutput'] as const;

export type PriceField = (typeof PRICE_FIELDS)[Sellable][number] | (typeof EXTRA_PRICE_FIELDS)[number];

export interface ChosenModels {
  readonly type: Sellable;
  /** In the vendor's words. */
  readonly models: readonly string[];
}

export function readChosen(sent: Form, types: readonly Sellable[]): ChosenModels | ModelProblem {
  const type = types.find((each) => each === sent.text('type'));
  if (!type) return 'type';
  const typed = sent.text('more').split(/\r?\n/);
  const models = [
    ...new Set([...sent.all('model'), ...typed].map((name) => name.trim()).filter((name) => name !== '')),
  ];
  if (models.length === 0) return 'none';
  if (models.length > MODELS_MAX) return 'many';
  return models.every(isName) ? { type, models } : 'name';
}

function isName(text: string): boolean {
  return text !== '' && text.length <= NAME_CHARS_MAX && isOneLine(text) && !text.includes('${');
}

/** What was typed on a page of this language. */
export interface TypedForm {
  readonly sent: Form;
  readonly language: Language;
}

interface Vendor {
  readonly upstream: string;
  /** What the catalog knows of a model. */
  findKnown(model: string): { readonly cost: CostEntry | undefined; readonly options: AddedRoute['options'] };
}

export function readNewModels(
  { sent, language }: TypedForm,
  { type, models }: ChosenModels,
  { upstream, findKnown }: Vendor,
): readonly LayerModel[] | ModelProblem {
  const markup = readFactor(sent.text('markup'), language);
  if (markup === undefined) return 'markup';
  const provider = sent.text('maker');
  if (!isName(provider)) return 'maker';
  const able = type === 'text' ? readAbilities(sent) : {};
  const currency = sent.text('currency');
  const made: LayerModel[] = [];
  for (const [at, model] of models.entries()) {
    const id = sent.text(`id-${at}`);
    if (!isName(id)) return 'name';
    const known = findKnown(model);
    const cost = readCost({ sent, language }, { type, at, known: known.cost, currency });
    const sizes = type === 'text' ? readSizes(sent, at) : {};
    if (typeof cost === 'string') return cost;
    if (typeof sizes === 'string') return sizes;
    const route = { upstream, model, ...(known.options && { options: known.options }), cost };
    made.push({ id, type, provider, routes: [route], price: { markup }, ...sizes, ...able });
  }
  return made;
}

interface CostRead {
  readonly type: Sellable;
  /** Of several costs in one form. */
  readonly at: number;
  readonly known: CostEntry | undefined;
  readonly currency: string;
}

function readCost({ sent, language }: TypedForm, { type, at, known, currency }: CostRead): CostEntry | ModelProblem {
  const price = readPrices(type, (name) => sent.text(nameFactField(name, at)), language);
  if (!price) return 'cost';
  if (type !== 'text') return { currency, ...price };
  const bands = sent.has(nameFactField('above', at, 0))
    ? readBands({ sent, language }, at)
    : pickBands(known, currency);
  return bands ? { currency, ...price, ...(bands.length > 0 && { bands }) } : 'bands';
}

/** Routes with the costs that a form states, without those that it drops. */
export function readRoutes(
  { sent, language }: TypedForm,
  type: Sellable,
  routes: readonly AddedRoute[],
): readonly AddedRoute[] | ModelProblem {
  const read: AddedRoute[] = [];
  for (const [at, route] of routes.entries()) {
    if (sent.has(`drop-${at}`)) continue;
    const currency = sent.text(nameFactField('currency', at));
    const cost = readCost({ sent, language }, { type, at, known: route.cost, currency });
    if (typeof cost === 'string') return cost;
    read.push({ ...route, cost });
  }
  return read;
}

/** How many tokens a text model takes. */
export function readSizes(sent: Form, at: number): Readonly<Record<string, number | undefined>> | ModelProblem {
  const typed = SIZE_FIELDS.map((name) => [name, sent.text(nameFactField(name, at)).trim()] as const);
  const sizes = typed.filter(([, size]) => size !== '').map(([name, size]) => [name, readCount(size)] as const);
  return sizes.some(([, size]) => size === undefined) ? 'size' : Object.fromEntries(sizes);
}

/** What a text model can do, and whether answers to images by another model may cost more than it. */
export function readAbilities(sent: Form): Readonly<Record<string, boolean | 'vision'>> {
  const able = ABILITIES.filter((ability) => sent.has(nameAbilityField(ability)));
  return {
    ...Object.fromEntries(able.map((ability) => [ability, true])),
    ...(sent.has(LOSS_FIELD) && { loss: 'vision' }),
  };
}

/** The name of a field of a model, of which a form may have several, or of one of its costs of long prompts. */
export function nameFactField(
  name: PriceField | 'above' | 'currency' | (typeof SIZE_FIELDS)[number],
  at: number,
  band?: number,
): string {
  return band === undefined ? `${name}-${at}` : `${name}-${at}-${band}`;
}

/** Allows a loss of answers to images. */
export const LOSS_FIELD = 'image-loss';

/** Not that of a price: a model may take audio, and audio may have a price. */
export function nameAbilityField(ability: string): string {
  return `can-${ability}`;
}

/** Of a form without fields for them, those that are known stay. */
function pickBands(known: CostEntry | undefined, currency: string): readonly PriceBandEntry[] {
  return known?.currency === currency ? listBands(known) : [];
}

/** The costs of long prompts. */
export function listBands(cost: CostEntry | undefined): readonly PriceBandEntry[] {
  return cost && 'bands' in cost ? (cost.bands ?? []) : [];
}

/** How many costs of long prompts a form has fields for. */
export function countBands(sent: Form, at: number): number {
  let count = 0;
  while (sent.has(nameFactField('above', at, count))) count += 1;
  return count;
}

/** Those that are not left empty; undefined if one is incomplete, malformed, or there twice. */
function readBands({ sent, language }: TypedForm, at: number): readonly PriceBandEntry[] | undefined {
  const names = ['above', ...PRICE_FIELDS.text, ...EXTRA_PRICE_FIELDS] as const;
  const bands: PriceBandEntry[] = [];
  for (let band = 0; band < countBands(sent, at); band += 1) {
    const read = (name: PriceField | 'above') => sent.text(nameFactField(name, at, band)).trim();
    if (names.every((name) => read(name) === '')) continue;
    const above = readCount(read('above'));
    const prices = readPrices('text', read, language);
    if (above === undefined || !prices || bands.some((other) => other.above === above)) return undefined;
    bands.push({ above, ...(prices as Omit<PriceBandEntry, 'above'>) });
  }
  return bands.toSorted((one, other) => one.above - other.above);
}

/** Undefined if a price is missing or malformed. */
function readPrices(type: Sellable, read: (name: PriceField) => string, language: Language): PriceEntry | undefined {
  const names: readonly PriceField[] = PRICE_FIELDS[type];
  const extras = type === 'text' ? EXTRA_PRICE_FIELDS.filter((name) => read(name).trim() !== '') : [];
  const found = [...names, ...extras].map((name) => [name, readPrice(read(name), language)] as const);
  return found.every(([, value]) => value !== undefined)
    ? (Object.fromEntries(found) as unknown as PriceEntry)
    : undefined;
}

/** As the catalog writes it. */
function readPrice(text: string, language: Language): string | undefined {
  const micro = readDecimal(text, language);
  return micro === undefined || micro < 0n || micro > AMOUNT_MAX ? undefined : formatRub(micro);
}

/** A whole number above zero; people separate its thousands. */
function readCount(text: string): number | undefined {
  const digits = text.replaceAll(/[\s.,](?=\d{3}(?!\d))/g, '');
  return /^[1-9]\d{0,8}$/.test(digits) ? Number(digits) : undefined;
}

function readFactor(text: string, language: Language): string | undefined {
  const micro = readDecimal(text, language);
  return micro === undefined || micro <= 0n || micro > FACTOR_MAX ? undefined : formatRub(micro);
}

/** What a form says of one model; an absent member stays as its author wrote it. */
export function readChange(
  { sent, language }: TypedForm,
  {
    type,
    before,
  }: { readonly type: string; readonly before: { readonly aliases: readonly string[]; readonly isOwn: boolean } },
): OverrideEntry | ModelProblem {
  const price = readPriceChange({ sent, language }, type);
  if (typeof price === 'string') return price;
  const aliases = sent
    .text('aliases')
    .split(',')
    .map((alias) => alias.trim())
    .filter((alias) => alias !== '');
  if (!aliases.every(isName)) return 'aliases';
  const isChanged = before.isOwn || aliases.join(',') !== before.aliases.join(',');
  return {
    ...(price && { price }),
    ...(isChanged && (aliases.length > 0 || !before.isOwn) && { aliases }),
    ...(sent.has('off') && { off: true }),
  };
}

function readPriceChange(
  { sent, language }: TypedForm,
  type: string,
): PriceEntry | { readonly markup: string } | undefined | ModelProblem {
  const kind = sent.text('kind');
  if (kind === 'markup') {
    const markup = readFactor(sent.text('factor'), language);
    return markup === undefined ? 'markup' : { markup };
  }
  const known = SELLABLE.find((each) => each === type);
  if (kind !== 'written' || !known) return undefined;
  const price = readPrices(known, (name) => sent.text(name), language);
  return price && Object.values(price).every((rub) => rub !== FREE) ? price : 'price';
}

/** What is wrong with a form, at the first of its fields that is, if the problem is that of a field. */
export function refuseModels({ sent, language }: TypedForm, problem: ModelProblem): Refusal {
  const isWrong = FIELD_PROBLEMS[problem];
  const wrong = sent.entries().find(([name, value]) => isWrong?.(name, value.trim(), language));
  return { text: MODEL_WORDS[language].problems[problem], field: wrong?.[0] };
}

const COST_FIELD = /^(?:input|output|request)-\d+$/;
const EXTRA_COST_FIELD = /^(?:cacheRead|cacheWrite|cacheWrite1h|audio)-\d+$/;
const PRICE_FIELD = /^(?:input|output|request)$/;
const EXTRA_PRICE_FIELD = /^(?:cacheRead|cacheWrite|cacheWrite1h|audio)$/;
const SIZE_FIELD = /^(?:context|maxOutput)-\d+$/;

const isFree = (value: string, language: Language) => (readPrice(value, language) ?? FREE) === FREE;

/** Whether a field is one that a problem is about. */
const FIELD_PROBLEMS: Partial<Record<ModelProblem, (name: string, value: string, language: Language) => boolean>> = {
  cost: (name, value, language) =>
    (COST_FIELD.test(name) || (value !== '' && EXTRA_COST_FIELD.test(name))) &&
    readPrice(value, language) === undefined,
  price: (name, value, language) =>
    (PRICE_FIELD.test(name) || (value !== '' && EXTRA_PRICE_FIELD.test(name))) && isFree(value, language),
  size: (name, value) => SIZE_FIELD.test(name) && value !== '' && readCount(value) === undefined,
  name: (name, value) => /^id-\d+$/.test(name) && !isName(value),
  markup: (name) => name === 'markup' || name === 'factor',
  maker: (name) => name === 'maker',
  aliases: (name) => name === 'aliases',
};
