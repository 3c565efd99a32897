// What the accounts on a price list pay: each price from the most exact rule of the list, and none below cost.
import { createHash } from 'node:crypto';
import { SMART_NAMES } from '../base/smart-tiers.ts';
import { serializeCost } from '../money/cost.ts';
import { derivePrice, scalePrices } from '../money/markup.ts';
import { parseRub } from '../money/money.ts';
import { type ListModelEntry, type PriceListsEntry, pickWrittenPart } from './customer-lists.ts';
import { type CheckedListPrice, checkListPrice, type LossNotice } from './loss.ts';
import { isTooHigh, type PricesBefore, ROUND_BY_DEFAULT, type StatedPrice, TOO_HIGH } from './markup.ts';
import { type BuiltModel, type Model, type TextModel, withPrice } from './model.ts';
import { overridePrice } from './override-price.ts';

export interface RepricedModels {
  /** Changes with any price of the list. */
  readonly version: string;
  /** The models whose prices the list sets, by those at the list price. */
  readonly models: ReadonlyMap<Model, Model>;
}

export interface CustomerPrices {
  /** By name of the list. */
  readonly lists: ReadonlyMap<string, RepricedModels>;
  /** The prices in force, by `nameListPrice`. */
  readonly prices: ReadonlyMap<string, StatedPrice>;
  readonly notices: readonly LossNotice[];
}

interface ListOptions {
  /** At their prices in force. */
  readonly models: readonly BuiltModel[];
  readonly byName: ReadonlyMap<string, Model>;
  /** The models that answer to images for those that do not see. */
  readonly vision: readonly TextModel[];
  readonly before: PricesBefore;
  readonly report: (list: string, problem: string) => void;
  readonly warn: (list: string, warning: string) => void;
}

export function priceForLists(entries: PriceListsEntry, options: ListOptions): CustomerPrices {
  const lists = new Map<string, RepricedModels>();
  const prices = new Map<string, StatedPrice>();
  const notices: LossNotice[] = [];
  for (const [name, list] of Object.entries(entries)) {
    const repriced = priceForList(name, list, options);
    lists.set(name, labelModels(name, repriced));
    for (const { model, stated, price } of repriced)
      prices.set(nameListPrice(name, model.model.id), { ...stated, price });
    notices.push(...repriced.flatMap((each) => each.notices));
  }
  return { lists, prices, notices };
}

interface Repriced extends CheckedListPrice {
  readonly model: BuiltModel;
  /** As the list states its price. */
  readonly stated: StatedPrice;
}

function priceForList(name: string, list: PriceListsEntry[string], options: ListOptions): readonly Repriced[] {
  const { models, vision, before } = options;
  const report = (problem: string) => options.report(name, problem);
  const exact = indexExactNames(list.models ?? {}, options.byName, report);
  warnOfVainPrefixes(list.models ?? {}, options, name);
  const costless: string[] = [];
  const repriced = models.flatMap((model): readonly Repriced[] => {
    const { id } = model.model;
    const rule = findRule(list, model.model, exact);
    // A refused model has no price to begin with.
    if (!rule || model.stated.statement === '') return [];
    const stated = resolveListPrice(model, rule.entry);
    if (stated === undefined && !rule.isExact) costless.push(id);
    else if (typeof stated !== 'object') report(`${rule.place}: ${stated ?? NO_COST}`);
    if (typeof stated !== 'object') return [];
    if (isTooHigh(stated.price)) report(`${rule.place}: model ${id}: ${TOO_HIGH}`);
    const loss = (rule.entry.loss ?? list.loss) === true || model.entry.loss;
    const covered = { ...model, stated, entry: { ...model.entry, loss } };
    const kept = before.get(nameListPrice(name, id), stated.statement);
    const checked = checkListPrice(name, covered, { vision, kept });
    if (checked.refusal !== undefined) report(`model ${id}: ${checked.refusal}`);
    return [{ ...checked, model, stated }];
  });
  if (costless.length > 0) {
    options.warn(name, `its markup has no cost to be on, so list prices apply to ${costless.join(', ')}`);
  }
  return repriced;
}

/** Beside the ids of models, which the prices in force are also found by. */
export function nameListPrice(list: string, model: string): string {
  return JSON.stringify([list, model]);
}

const VERSION_DIGITS = 8;

/** A call keeps the list's name and version with its prices, and what it would have cost without the list. */
function labelModels(name: string, found: readonly Repriced[]): RepricedModels {
  const text = found.map(({ model, price }) => `${model.model.id} ${serializeCost(price)}`).join('\n');
  const version = createHash('sha256').update(text).digest('hex').slice(0, VERSION_DIGITS);
  const repriced = found.map(({ model: { model, entry, stated }, price }) => {
    const list = { name, version, prices: JSON.parse(serializeCost(stated.price)) };
    return [model, withPrice({ ...entry, routes: model.routes }, price, list)] as const;
  });
  return { version, models: new Map(repriced) };
}

interface FoundRule {
  readonly entry: ListModelEntry;
  /** Where the list states it. */
  readonly place: string;
  readonly isExact: boolean;
}

/** An exact name, else the longest prefix, else the rule of the list: nothing is applied on top of another. */
function findRule(
  { models = {}, ...list }: PriceListsEntry[string],
  model: Model,
  exact: ReadonlyMap<Model, string>,
): FoundRule | undefined {
  const name = exact.get(model);
  if (name !== undefined) return { entry: models[name] as ListModelEntry, place: `models.${name}`, isExact: true };
  const prefixes = Object.keys(models).filter((key) => isPrefix(key) && matchesPrefix(key, model.id));
  const [longest] = prefixes.sort((one, other) => other.length - one.length);
  if (longest !== undefined) {
    return { entry: models[longest] as ListModelEntry, place: `models.${longest}`, isExact: false };
  }
  if (list.markup !== undefined) return { entry: list, place: 'markup', isExact: false };
  return list.factor === undefined ? undefined : { entry: list, place: 'factor', isExact: false };
}

function isPrefix(name: string): boolean {
  return name.endsWith('*');
}

function matchesPrefix(prefix: string, id: string): boolean {
  return id.startsWith(prefix.slice(0, -1));
}

function indexExactNames(
  entries: Readonly<Record<string, ListModelEntry>>,
  byName: ReadonlyMap<string, Model>,
  report: (problem: string) => void,
): ReadonlyMap<Model, string> {
  const exact = new Map<Model, string>();
  for (const name of Object.keys(entries).filter((key) => !isPrefix(key))) {
    const model = byName.get(name);
    if (SMART_NAMES.has(name)) report(`models.${name}: a call pays the price of the model that is picked: name models`);
    else if (!model) report(`models.${name}: unknown model ${name}`);
    else if (exact.has(model)) report(`models.${name}: names the model ${model.id} twice`);
    else exact.set(model, name);
  }
  return exact;
}

function warnOfVainPrefixes(
  entries: Readonly<Record<string, ListModelEntry>>,
  { models, warn }: ListOptions,
  list: string,
): void {
  for (const name of Object.keys(entries).filter(isPrefix)) {
    if (!models.some(({ model }) => matchesPrefix(name, model.id))) warn(list, `models.${name}: no model begins so`);
  }
}

const NO_COST = 'a markup needs costs of its routes, all in the same unit: write "factor", or prices';

/** A text that says why there is no such price; undefined if there is no cost that a markup could be on. */
function resolveListPrice(
  { model, costs, stated }: BuiltModel,
  entry: ListModelEntry,
): StatedPrice | string | undefined {
  const { markup, factor, round } = entry;
  if (markup !== undefined) {
    const step = round ?? ROUND_BY_DEFAULT;
    const price = derivePrice(costs, { factor: parseRub(markup) as bigint, step: parseRub(step) as bigint });
    return price && { statement: JSON.stringify([model.type, { markup, round: step }]), price };
  }
  // What its author changes about the model's price, they change about this one.
  const state = (what: object) => JSON.stringify([model.type, what, stated.statement]);
  if (factor !== undefined) {
    const step = round === undefined ? 1n : (parseRub(round) as bigint);
    const price = scalePrices(stated.price, { factor: parseRub(factor) as bigint, step });
    return { statement: state({ factor, round }), price };
  }
  const part = pickWrittenPart(entry);
  const price = overridePrice(model.type, stated.price, part);
  return typeof price === 'string' ? price : { statement: state(part), price };
}
