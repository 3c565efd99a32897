// The current catalog: models with their usable routes and prices, built from checked files.
import { OperatorError } from '../base/operator-error.ts';
import { SMART_NAMES, SMART_TIERS, type SmartThresholds, type SmartTier } from '../base/smart-tiers.ts';
import {
  type ImageModel,
  type Model,
  type ModelOf,
  type ModelType,
  modelOf,
  type OpenUpstream,
  type TextModel,
} from './model.ts';
import { type CatalogFile, mistakeIn, type SmartEntry } from './schema.ts';
import { type TopupBounds, topupBoundsOf } from './topup-bounds.ts';

/** The virtual model that picks a real one per request. */
export interface SmartModel {
  /** The model that runs requests of the tier: its own, or that of the next tier that has one. */
  readonly models: Readonly<Record<SmartTier, TextModel>>;
  /** All models of a tier that have a route, in order of preference. */
  readonly usable: Readonly<Record<SmartTier, readonly TextModel[]>>;
  /** Absent: the router's own. */
  readonly thresholds: SmartThresholds | undefined;
}

export interface Catalog {
  /** In the order of the files. */
  readonly models: readonly Model[];
  /** By id and by alias. */
  readonly byName: ReadonlyMap<string, Model>;
  /** Undefined if no tier has a model with a route. */
  readonly smart: SmartModel | undefined;
  /** Models that answer calls with pictures, in order of preference; those without a route are left out. */
  readonly vision: readonly TextModel[];
  /** The model for requests that name none; undefined if no model of the list has a route. */
  readonly defaults: { readonly image: ImageModel | undefined; readonly edit: ImageModel | undefined };
  /** Retired id → the id to use instead. */
  readonly retired: ReadonlyMap<string, string>;
  /** The bounds that the operator sets for automatic top-ups. */
  readonly autoTopup: TopupBounds;
  /** Warnings for the operator, one line each. */
  readonly warnings: readonly string[];
  /** Payment providers that are off, with the variables they lack; absent: none is. */
  readonly paymentsOff?: ReadonlyMap<string, readonly string[]>;
}

/** Builds the catalog from the upstreams that are switched on. Throws an `OperatorError` listing everything wrong. */
export function buildCatalog(file: CatalogFile, upstreams: ReadonlyMap<string, OpenUpstream>): Catalog {
  const problems: string[] = [];
  const warnings: string[] = [];
  checkRoutes(file, problems);
  const models = file.models.map((entry) => modelOf(entry, upstreams));
  const byName = indexNames(file, models, problems);
  checkReferences(file, byName, { problems, warnings });
  if (problems.length > 0) throw new OperatorError(`Bad catalog: ${problems.join('; ')}`);
  const smart = buildSmart(file.smart, byName, warnings);
  const vision = findUsableModels('text', file.vision, byName);
  const defaults = {
    image: findUsableModels('image', file.defaults.image, byName)[0],
    edit: findUsableModels('image', file.defaults.edit, byName).find(({ edits }) => edits),
  };
  const retired = new Map(Object.entries(file.retired));
  return { models, byName, smart, vision, defaults, retired, autoTopup: topupBoundsOf(file.autoTopup), warnings };
}

/** The models of a list that are of its type and have a route. */
function findUsableModels<Type extends ModelType>(
  type: Type,
  names: readonly string[],
  byName: ReadonlyMap<string, Model>,
): readonly ModelOf<Type>[] {
  const isUsable = (model: Model | undefined): model is ModelOf<Type> =>
    model?.type === type && model.routes.length > 0;
  return names.map((name) => byName.get(name)).filter(isUsable);
}

/** A tier without a usable route falls to the next one up, or down where there is none above. */
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

/** Each tier has its own model, or that of the next tier. */
function fillTiers(own: readonly (TextModel | undefined)[]): Readonly<Record<SmartTier, TextModel>> | undefined {
  const [lite, standard, heavy] = SMART_TIERS.map((_, at) =>
    [...own.slice(at), ...own.slice(0, at).reverse()].find((model) => model !== undefined),
  );
  return lite && standard && heavy && { lite, standard, heavy };
}

function checkRoutes(file: CatalogFile, problems: string[]): void {
  for (const [at, { id, routes }] of file.models.entries()) {
    for (const [place, { upstream }] of routes.entries()) {
      if (Object.hasOwn(file.upstreams, upstream)) continue;
      const mistake = `model ${id}: routes[${place}].upstream: unknown upstream ${upstream}`;
      problems.push(mistakeIn(file, `models[${at}]`, mistake));
    }
  }
}

function indexNames(file: CatalogFile, models: readonly Model[], problems: string[]): Map<string, Model> {
  const taken = new Set<string>();
  const byName = new Map<string, Model>();
  const take = (name: string, entry: string, field: string) => {
    const say = (mistake: string) => problems.push(mistakeIn(file, entry, `${field}: the name ${name} ${mistake}`));
    if (SMART_NAMES.has(name)) say('belongs to the smart model');
    if (taken.has(name)) say('is used twice');
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
      problems.push(mistakeIn(file, `smart.${tier}.${name}`, `smart.${tier}: ${name} is not a text model`));
    }
  }
  const known = (place: string, names: readonly string[], type: Model['type']) => {
    for (const name of names) {
      if (byName.get(name)?.type !== type) warnings.push(`${place}: ${name} is not a model of type ${type}`);
    }
  };
  known('vision', file.vision, 'text');
  known('defaults.image', file.defaults.image, 'image');
  known('defaults.edit', file.defaults.edit, 'image');
  for (const name of file.defaults.edit) {
    const model = byName.get(name);
    if (model?.type === 'image' && !model.edits) warnings.push(`defaults.edit: ${name} does not edit`);
  }
  for (const [name, replacement] of Object.entries(file.retired)) {
    if (!byName.has(replacement) && !SMART_NAMES.has(replacement))
      warnings.push(`retired.${name}: ${replacement} is not a model`);
  }
}
