// Resolves the model name of a request to a usable model, or throws the fault that explains why there is none.
import { distance } from 'fastest-levenshtein';
import { type FaultDetail, fault } from '../base/faults.ts';
import { SMART_NAMES } from '../base/smart-tiers.ts';
import type { Catalog, SmartModel } from './catalog.ts';
import type { ImageModel, Model, ModelOf, ModelType, TextModel } from './model.ts';

/** The endpoints of a model type. */
const ENDPOINTS: Readonly<Record<ModelType, string>> = {
  text: 'POST /api/v1/messages or POST /api/v1/chat/completions',
  image: 'POST /api/v1/images/generations',
  video: 'POST /api/v1/videos',
};

/** The smart model, if the name is one of its names; undefined for any other name. */
export function findSmartModel(catalog: Catalog, name: string): SmartModel | undefined {
  if (!SMART_NAMES.has(name)) return undefined;
  if (!catalog.smart) throw unknown(catalog, name);
  return catalog.smart;
}

/** A text model with a route. */
export function findTextModel(catalog: Catalog, name: string): TextModel {
  const model = findModel(catalog, name, 'text');
  if (model.routes.length === 0) throw unknown(catalog, name);
  return model;
}

/** An image model with a route; the default one if none is named. */
export function findImageModel(catalog: Catalog, name: string | undefined): ImageModel {
  const { image } = catalog.defaults;
  if (name === undefined) return image ?? unavailable('Image generation');
  const model = findModel(catalog, name, 'image');
  if (model.routes.length === 0) throw unknown(catalog, name);
  return model;
}

/** Like `findImageModel`, for edits. A missing route is reported as an outage: editing may be switched off temporarily. */
export function findEditModel(catalog: Catalog, name: string | undefined): ImageModel {
  const { edit } = catalog.defaults;
  if (name === undefined) return edit ?? unavailable('Image editing');
  const model = findModel(catalog, name, 'image');
  if (!model.edits) throw fault('cannot_edit', { model: quoteName(name), hint: edit && `\`${edit.id}\`` });
  return model.routes.length > 0 ? model : unavailable('Image editing');
}

function unavailable(what: string): never {
  throw fault('images_unavailable', { hint: what });
}

/** A model of a type, even without a route: what that means differs by endpoint. */
export function findModel<Type extends ModelType>(catalog: Catalog, name: string, type: Type): ModelOf<Type> {
  const replacement = catalog.retired.get(name);
  if (replacement !== undefined) throw retired(catalog, name, replacement);
  const model = catalog.byName.get(name);
  if (!model) throw SMART_NAMES.has(name) && type !== 'text' ? wrongType(name, 'text') : unknown(catalog, name);
  if (!isModelOfType(model, type)) throw wrongType(name, model.type);
  return model;
}

/** A usable model of any type, for look-ups by id: an unknown name is a 404. */
export function findUsableModel(catalog: Catalog, name: string): Model {
  const replacement = catalog.retired.get(name);
  if (replacement !== undefined) throw retired(catalog, name, replacement);
  const model = catalog.byName.get(name);
  if (!model || model.routes.length === 0) throw fault('no_such_model', closeTo(catalog, name));
  return model;
}

function isModelOfType<Type extends ModelType>(model: Model, type: Type): model is ModelOf<Type> {
  return model.type === type;
}

function wrongType(name: string, type: ModelType) {
  return fault('wrong_model_type', { model: quoteName(name), hint: ENDPOINTS[type] });
}

/** The hint names the replacement only if it is usable. */
function retired(catalog: Catalog, name: string, replacement: string) {
  const isUsable = usableNames(catalog).has(replacement);
  return fault('retired_model', {
    model: quoteName(name),
    hint: isUsable ? `Use \`${replacement}\` instead` : undefined,
  });
}

function unknown(catalog: Catalog, name: string) {
  return fault('unknown_model', closeTo(catalog, name));
}

function closeTo(catalog: Catalog, name: string): FaultDetail {
  const close = closeNames(name, usableNames(catalog));
  return { model: quoteName(name), hint: close.length > 0 ? close.join(', ') : undefined };
}

/** The ids and aliases of usable models, in catalog order. */
function usableNames(catalog: Catalog): ReadonlySet<string> {
  const models = catalog.models.filter(({ routes }) => routes.length > 0);
  return new Set([...models.flatMap(({ id, aliases }) => [id, ...aliases]), ...(catalog.smart ? SMART_NAMES : [])]);
}

const CLOSE_MAX = 3;

/** At most three names that differ by a few typos, or contain the name or are contained in it; nearest first. */
function closeNames(name: string, names: ReadonlySet<string>): readonly string[] {
  const wanted = name.slice(0, SHOWN_MAX).toLowerCase();
  const slipsMax = Math.max(1.5, Math.min(3, Math.floor(wanted.length / 3)));
  return [...names]
    .map((candidate) => ({ candidate, slips: slipsBetween(wanted, candidate.toLowerCase()) }))
    .filter(({ slips }) => slips <= slipsMax)
    .sort((one, other) => one.slips - other.slips)
    .slice(0, CLOSE_MAX)
    .map(({ candidate }) => `\`${candidate}\``);
}

const CONTAINED_MIN = 4;

function slipsBetween(wanted: string, candidate: string): number {
  const isPart = wanted.length >= CONTAINED_MIN && (candidate.includes(wanted) || wanted.includes(candidate));
  return Math.min(distance(wanted, candidate), isPart ? 1.5 : Number.POSITIVE_INFINITY);
}

const SHOWN_MAX = 100;

/** A client's text in a form that is safe to repeat in a message: short, on one line. */
function quoteName(name: string): string {
  const line = name.slice(0, SHOWN_MAX).replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '?');
  return name.length > SHOWN_MAX ? `${line}…` : line;
}
