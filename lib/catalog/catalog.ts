// The current catalog: models with their usable routes and prices, built from checked files.
import { OperatorError } from '../base/operator-error.ts';
import { SMART_NAMES, SMART_TIERS, type SmartThresholds, type SmartTier } from '../base/smart-tiers.ts';
import type { Rate } from '../money/cost.ts';
import { type CustomerPrices, priceForLists, type RepricedModels } from './customer-prices.ts';
import { describeNotice, type LossNotice, resolveLosses } from './loss.ts';
import type { PricesBefore, StatedPrice } from './markup.ts';
import {
  type BuiltModel,
  buildModel,
  type ImageModel,
  keepRoutes,
  type Model,
  type ModelOf,
  type ModelType,
  type OpenUpstream,
  type TextModel,
  warnOfUnableRoutes,
} from './model.ts';
import type { UpstreamPauses } from './pauses.ts';
import { describeMissingRate, findRatesInForce } from './rates.ts';
import { type CatalogFile, describeMistake, type SmartEntry } from './schema.ts';
import { readTopupBounds, type TopupBounds } from './topup-bounds.ts';

/** The virtual model that routes each request to a real one. */
export interface SmartModel {
  /** The model that answers requests of a tier: its own, or that of another tier if it has none. */
  readonly models: Readonly<Record<SmartTier, TextModel>>;
  /** The usable models of a tier, in order of preference. */
  readonly usable: Readonly<Record<SmartTier, readonly TextModel[]>>;
  /** Undefined for the router's defaults. */
  readonly thresholds: SmartThresholds | undefined;
}

export interface Catalog {
  /** In the order of the files. */
  readonly models: readonly Model[];
  /** By id and by alias. */
  readonly byName: ReadonlyMap<string, Model>;
  /** Those that are switched on, paused ones too: the videos that run there are asked for, whatever is still on sale. */
  readonly upstreams: ReadonlyMap<string, OpenUpstream>;
  /** Undefined if no tier has a model with a route. */
  readonly smart: SmartModel | undefined;
  /** Usable models for calls with images, in order of preference. */
  readonly vision: readonly TextModel[];
  /** True if they also answer keys that are limited to other models. */
  readonly visionBeyondLimits?: boolean;
  /** The models of requests that name none; undefined if no listed model is usable. */
  readonly defaults: { readonly image: ImageModel | undefined; readonly edit: ImageModel | undefined };
  /** Retired id → the id to use instead. */
  readonly retired: ReadonlyMap<string, string>;
  /** The same catalog at the prices of each price list, by its name; use `chooseCatalog`. */
  readonly priceLists: ReadonlyMap<string, CustomerCatalog>;
  /** The bounds that the operator sets for automatic top-ups. */
  readonly autoTopup: TopupBounds;
  /** The rates in force by currency, with that of RUB. */
  readonly rates: ReadonlyMap<string, Rate>;
  /** The price in force of each model, by its id, with how the catalog states it. */
  readonly prices: ReadonlyMap<string, StatedPrice>;
  /** Prices that a cost or a rate has moved below the cost. */
  readonly losses: readonly LossNotice[];
  /** Warnings for the operator, one line each. */
  readonly warnings: readonly string[];
  /** Payment providers that are switched off, with the variables they lack. */
  readonly paymentsOff?: ReadonlyMap<string, readonly string[]>;
  /** What operators have paused; absent if nothing is. */
  readonly paused?: PausedUpstreams;
}

export interface PausedUpstreams {
  readonly upstreams: UpstreamPauses;
  /** All models with all their routes. */
  readonly models: readonly Model[];
}

/** The catalog of the accounts on a price list. */
export interface CustomerCatalog extends Catalog {
  /** Changes with any price of the list. */
  readonly version: string;
  /** How many models have a price of the list. */
  readonly repriced: number;
}

interface BuildOptions {
  /** ms since the epoch: decides which rates are in force. */
  readonly now?: number;
  /** The prices in force before: they stay if a cost or a rate moved a price below the cost. */
  readonly pricesBefore?: PricesBefore;
}

/** Builds the catalog from the upstreams that are switched on. Throws an `OperatorError` that lists all mistakes. */
export function buildCatalog(
  file: CatalogFile,
  upstreams: ReadonlyMap<string, OpenUpstream>,
  { now = Date.now(), pricesBefore = new Map() }: BuildOptions = {},
): Catalog {
  const problems: string[] = [];
  const warnings = [...warnOfUnableRoutes(file.models, upstreams)];
  const rates = findRatesInForce(file.rates ?? {}, now);
  checkRoutes(file, rates, problems);
  const { pricing } = file;
  const report = (at: number, problem: string) =>
    problems.push(describeMistake(file, `models[${at}]`, `model ${file.models[at]?.id}: ${problem}`));
  const built = file.models.map((entry, at) =>
    buildModel(entry, { upstreams, rates, pricing }, (problem) => report(at, problem)),
  );
  const seeing = findUsableModels('text', file.vision, indexBuilt(built));
  const resolved = resolveLosses(built, { vision: seeing, before: pricesBefore, report });
  const { models } = resolved;
  const byName = indexNames(file, models, problems);
  checkReferences(file, byName, { problems, warnings });
  const customers = priceForLists(file.priceLists ?? {}, {
    models: built.map((each, at) => ({
      ...each,
      model: models[at] as Model,
      stated: resolved.prices.get(each.model.id) ?? each.stated,
    })),
    byName,
    vision: seeing,
    before: pricesBefore,
    report: (list, problem) =>
      problems.push(describeMistake(file, `priceLists.${list}`, `priceLists.${list}: ${problem}`)),
    warn: (list, warning) => warnings.push(`priceLists.${list}: ${warning}`),
  });
  const losses = [...resolved.notices, ...customers.notices];
  warnings.push(...losses.filter(({ outcome }) => outcome === 'kept').map(describeNotice));
  if (problems.length > 0) throw new OperatorError(`Bad catalog: ${problems.join('; ')}`);
  const retired = new Map(Object.entries(file.retired));
  const catalog: Catalog = {
    models,
    byName,
    upstreams,
    ...chooseModels(file, byName, warnings),
    ...(file.visionBeyondLimits && { visionBeyondLimits: true }),
    retired,
    priceLists: new Map(),
    autoTopup: readTopupBounds(file.autoTopup),
    rates,
    prices: new Map([...resolved.prices, ...customers.prices]),
    losses,
    warnings,
  };
  return { ...catalog, priceLists: createCustomerCatalogs(catalog, customers) };
}

/**
 * The catalog without the routes of paused upstreams: calls go as if these were switched off. Prices stay, also those that
 * follow from the costs of these routes.
 */
export function pauseUpstreams(catalog: Catalog, file: CatalogFile, upstreams: UpstreamPauses): Catalog {
  if (upstreams.size === 0) return catalog;
  const paused = { upstreams, models: catalog.models };
  const isRunning = ({ upstream }: { readonly upstream: string }) => !upstreams.has(upstream);
  const pauseIn = <Kind extends Catalog>(whole: Kind): Kind => {
    const models = new Map(whole.models.map((model) => [model, keepRoutes(model, isRunning)]));
    const byName = new Map([...whole.byName].map(([name, model]) => [name, models.get(model) ?? model]));
    return { ...whole, models: [...models.values()], byName, ...chooseModels(file, byName), paused };
  };
  return {
    ...pauseIn(catalog),
    priceLists: new Map([...catalog.priceLists].map(([name, list]) => [name, pauseIn(list)])),
  };
}

function createCustomerCatalogs(catalog: Catalog, { lists }: CustomerPrices): Catalog['priceLists'] {
  return new Map([...lists].map(([name, list]) => [name, createCustomerCatalog(catalog, list)]));
}

function createCustomerCatalog(catalog: Catalog, { models: repriced, version }: RepricedModels): CustomerCatalog {
  const reprice = <Kind extends Model>(model: Kind): Kind => (repriced.get(model) as Kind | undefined) ?? model;
  const { models, byName, smart, vision, defaults } = catalog;
  const { image, edit } = defaults;
  const byTier = <Value, To>(tiers: Readonly<Record<SmartTier, Value>>, map: (value: Value) => To) => ({
    lite: map(tiers.lite),
    standard: map(tiers.standard),
    heavy: map(tiers.heavy),
  });
  return {
    ...catalog,
    models: models.map(reprice),
    byName: new Map([...byName].map(([name, model]) => [name, reprice(model)])),
    smart: smart && {
      ...smart,
      models: byTier(smart.models, reprice),
      usable: byTier(smart.usable, (tier) => tier.map(reprice)),
    },
    vision: vision.map(reprice),
    defaults: { image: image && reprice(image), edit: edit && reprice(edit) },
    version,
    repriced: repriced.size,
  };
}

/** The catalog at the prices of an account; a list that the catalog no longer has counts as none. */
export function chooseCatalog(catalog: Catalog, { priceList }: { readonly priceList?: string }): Catalog {
  return (priceList !== undefined && catalog.priceLists.get(priceList)) || catalog;
}

function indexBuilt(built: readonly BuiltModel[]): ReadonlyMap<string, Model> {
  return new Map(built.flatMap(({ model }) => [model.id, ...model.aliases].map((name) => [name, model] as const)));
}

/** The models of a list that have the right type and a route. */
function findUsableModels<Type extends ModelType>(
  type: Type,
  names: readonly string[],
  byName: ReadonlyMap<string, Model>,
): readonly ModelOf<Type>[] {
  const isUsable = (model: Model | undefined): model is ModelOf<Type> =>
    model?.type === type && model.routes.length > 0;
  return names.map((name) => byName.get(name)).filter(isUsable);
}

/** The models that answer where a request leaves the choice to the gateway. */
function chooseModels(
  file: CatalogFile,
  byName: ReadonlyMap<string, Model>,
  warnings: string[] = [],
): Pick<Catalog, 'smart' | 'vision' | 'defaults'> {
  return {
    smart: buildSmart(file.smart, byName, warnings),
    vision: findUsableModels('text', file.vision, byName),
    defaults: {
      image: findUsableModels('image', file.defaults.image, byName)[0],
      edit: findUsableModels('image', file.defaults.edit, byName).find(({ edits }) => edits),
    },
  };
}

/** A tier without a usable model uses that of the next higher tier, or of a lower one. */
function buildSmart(
  { thresholds, ...tiers }: SmartEntry,
  byName: ReadonlyMap<string, Model>,
  warnings: string[],
): SmartModel | undefined {
  const usableIn = (tier: SmartTier) => findUsableModels('text', tiers[tier], byName);
  const usable = { lite: usableIn('lite'), standard: usableIn('standard'), heavy: usableIn('heavy') };
  const models = fillTiers(SMART_TIERS.map((tier) => usable[tier][0]));
  for (const tier of SMART_TIERS) {
    if (models && usable[tier].length === 0) {
      warnings.push(`smart.${tier}: none of its models has a route; ${models[tier].id} answers instead`);
    }
  }
  return models && { models, usable, thresholds };
}

function fillTiers(own: readonly (TextModel | undefined)[]): Readonly<Record<SmartTier, TextModel>> | undefined {
  const [lite, standard, heavy] = SMART_TIERS.map((_, at) =>
    [...own.slice(at), ...own.slice(0, at).reverse()].find((model) => model !== undefined),
  );
  return lite && standard && heavy && { lite, standard, heavy };
}

function checkRoutes(file: CatalogFile, rates: ReadonlyMap<string, Rate>, problems: string[]): void {
  for (const [at, { id, routes }] of file.models.entries()) {
    for (const [place, { upstream, cost }] of routes.entries()) {
      const report = (mistake: string) =>
        problems.push(describeMistake(file, `models[${at}]`, `model ${id}: routes[${place}].${mistake}`));
      if (!Object.hasOwn(file.upstreams, upstream)) report(`upstream: unknown upstream ${upstream}`);
      if (typeof cost === 'object' && !rates.has(cost.currency))
        report(`cost: ${describeMissingRate(file.rates, cost.currency)}`);
    }
  }
}

function indexNames(file: CatalogFile, models: readonly Model[], problems: string[]): Map<string, Model> {
  const taken = new Set<string>();
  const byName = new Map<string, Model>();
  const take = (name: string, entry: string, field: string) => {
    const report = (mistake: string) =>
      problems.push(describeMistake(file, entry, `${field}: the name ${name} ${mistake}`));
    if (SMART_NAMES.has(name)) report('belongs to the smart model');
    if (taken.has(name)) report('is used twice');
    taken.add(name);
  };
  for (const [at, model] of models.entries()) {
    const { id, aliases } = model;
    take(id, `models[${at}]`, `model ${id}: id`);
    for (const alias of aliases) take(alias, `models[${at}]`, `model ${id}: aliases`);
    for (const name of [id, ...aliases]) byName.set(name, model);
  }
  for (const name of Object.keys(file.retired)) take(name, `retired.${name}`, `retired.${name}`);
  return byName;
}

function checkReferences(
  file: CatalogFile,
  byName: ReadonlyMap<string, Model>,
  { problems, warnings }: { problems: string[]; warnings: string[] },
): void {
  for (const tier of SMART_TIERS) {
    for (const name of file.smart[tier]) {
      if (byName.get(name)?.type === 'text') continue;
      problems.push(describeMistake(file, `smart.${tier}.${name}`, `smart.${tier}: ${name} is not a text model`));
    }
  }
  const warnOfUnknown = (place: string, names: readonly string[], type: Model['type']) => {
    for (const name of names) {
      if (byName.get(name)?.type !== type) warnings.push(`${place}: ${name} is not a model of type ${type}`);
    }
  };
  warnOfUnknown('vision', file.vision, 'text');
  warnOfUnknown('defaults.image', file.defaults.image, 'image');
  warnOfUnknown('defaults.edit', file.defaults.edit, 'image');
  for (const name of file.defaults.edit) {
    const model = byName.get(name);
    if (model?.type === 'image' && !model.edits) warnings.push(`defaults.edit: ${name} does not edit`);
  }
  for (const model of new Set(byName.values())) {
    if (model.type === 'embedding' && model.tokens && !model.routes.every(({ provider }) => provider.embedsTokens)) {
      warnings.push(`model ${model.id}: tokens: not all of its upstreams take inputs that are tokens`);
    }
  }
  for (const id of Object.keys(file.overrides ?? {})) {
    if (byName.get(id)?.id !== id) warnings.push(`overrides.${id}: there is no model of this id`);
  }
  for (const [name, replacement] of Object.entries(file.retired)) {
    if (!byName.has(replacement) && !SMART_NAMES.has(replacement))
      warnings.push(`retired.${name}: ${replacement} is not a model`);
  }
}
