// Resolves the model name of a request to a model that can be used and that the key may use, or throws the fault that
// explains why there is none.
import { distance } from 'fastest-levenshtein';
import { type Fault, type FaultCode, fault } from '../base/faults.ts';
import { SMART_NAMES } from '../base/smart-tiers.ts';
import { allowsModel, type KeyLimits, type NamedModel, NO_LIMITS } from '../money/key-limits.ts';
import type { Catalog } from './catalog.ts';
import type { EmbeddingModel, ImageModel, Model, ModelOf, ModelType, TextModel } from './model.ts';

const ENDPOINTS: Readonly<Record<ModelType, string>> = {
  text: 'POST /api/v1/messages, POST /api/v1/chat/completions or POST /api/v1/responses',
  embedding: 'POST /api/v1/embeddings',
  image: 'POST /api/v1/images/generations',
  video: 'POST /api/v1/videos',
};

/** A text model with a route, which the key may be used for. */
export function findTextModel(catalog: Catalog, name: string, limits: KeyLimits = NO_LIMITS): TextModel {
  const model = findRoutedModel(catalog, name, 'text');
  refuseModel(limits, model);
  return model;
}

/** An embedding model with a route, which the key may be used for. */
export function findEmbeddingModel(catalog: Catalog, name: string, limits: KeyLimits = NO_LIMITS): EmbeddingModel {
  const model = findRoutedModel(catalog, name, 'embedding');
  refuseModel(limits, model);
  return model;
}

/** An image model with a route; the default one if none is named. */
export function findImageModel(catalog: Catalog, name: string | undefined): ImageModel {
  const { image } = catalog.defaults;
  if (name === undefined) return image ?? unavailableFault('Image generation');
  return findRoutedModel(catalog, name, 'image');
}

function findRoutedModel<Type extends ModelType>(catalog: Catalog, name: string, type: Type): ModelOf<Type> {
  const model = findModel(catalog, name, type);
  if (model.routes.length === 0) throw unknownModelFault(catalog, name);
  return model;
}

/** Like `findImageModel`, for edits. A missing route is reported as an outage: editing may be switched off temporarily. */
export function findEditModel(catalog: Catalog, name: string | undefined): ImageModel {
  const { edit } = catalog.defaults;
  if (name === undefined) return edit ?? unavailableFault('Image editing');
  const model = findModel(catalog, name, 'image');
  if (!model.edits) throw modelFault('cannot_edit', name, edit && `\`${edit.id}\``);
  return model.routes.length > 0 ? model : unavailableFault('Image editing');
}

function unavailableFault(what: string): never {
  throw fault('images_unavailable', { hint: what });
}

/** A model of a type, even without a route: what that means differs by endpoint. */
export function findModel<Type extends ModelType>(catalog: Catalog, name: string, type: Type): ModelOf<Type> {
  const replacement = catalog.retired.get(name);
  if (replacement !== undefined) throw retiredFault(catalog, name, replacement);
  const model = catalog.byName.get(name);
  if (!model)
    throw SMART_NAMES.has(name) && type !== 'text' ? wrongType(name, 'text') : unknownModelFault(catalog, name);
  if (!isModelOfType(model, type)) throw wrongType(name, model.type);
  return model;
}

/** A usable model of any type, for look-ups by id: an unknown name is a 404. */
export function findUsableModel(catalog: Catalog, name: string): Model {
  const replacement = catalog.retired.get(name);
  if (replacement !== undefined) throw retiredFault(catalog, name, replacement);
  const model = catalog.byName.get(name);
  if (!model || model.routes.length === 0) throw modelFault('no_such_model', name, listCloseNames(catalog, name));
  return model;
}

function isModelOfType<Type extends ModelType>(model: Model, type: Type): model is ModelOf<Type> {
  return model.type === type;
}

/** Throws a 403 fault for a model that the key may not be used for. */
export function refuseModel(limits: KeyLimits, model: NamedModel): void {
  if (!allowsModel(limits, model)) throw notAllowedFault(limits, model.id);
}

export function notAllowedFault({ models }: KeyLimits, name: string): Fault {
  return modelFault('model_not_allowed', name, (models ?? []).map((each) => `\`${each}\``).join(', '));
}

function wrongType(name: string, type: ModelType): Fault {
  return modelFault('wrong_model_type', name, ENDPOINTS[type]);
}

/** The hint names the replacement only if it is usable. */
function retiredFault(catalog: Catalog, name: string, replacement: string): Fault {
  const isUsable = usableNames(catalog).has(replacement);
  return modelFault('retired_model', name, isUsable ? `Use \`${replacement}\` instead` : undefined);
}

function unknownModelFault(catalog: Catalog, name: string): Fault {
  return modelFault('unknown_model', name, listCloseNames(catalog, name));
}

/** Repeats the client's text in a form that is safe in a message: short, on one line. */
function modelFault(code: FaultCode, name: string, hint: string | undefined): Fault {
  const line = name.slice(0, SHOWN_MAX).replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '?');
  return fault(code, { model: name.length > SHOWN_MAX ? `${line}…` : line, hint });
}

/** The ids and aliases of usable models, in catalog order. */
function usableNames(catalog: Catalog): ReadonlySet<string> {
  const models = catalog.models.filter(({ routes }) => routes.length > 0);
  return new Set([...models.flatMap(({ id, aliases }) => [id, ...aliases]), ...(catalog.smart ? SMART_NAMES : [])]);
}

const CLOSE_MAX = 3;

/** At most three names that differ by a few typos, or contain the name or are contained in it; nearest first. */
function listCloseNames(catalog: Catalog, name: string): string | undefined {
  const wanted = name.slice(0, SHOWN_MAX).toLowerCase();
  const slipsMax = Math.max(1.5, Math.min(3, Math.floor(wanted.length / 3)));
  const close = [...usableNames(catalog)]
    .map((candidate) => ({ candidate, slips: slipsBetween(wanted, candidate.toLowerCase()) }))
    .filter(({ slips }) => slips <= slipsMax)
    .sort((one, other) => one.slips - other.slips)
    .slice(0, CLOSE_MAX)
    .map(({ candidate }) => `\`${candidate}\``);
  return close.length > 0 ? close.join(', ') : undefined;
}

const CONTAINED_MIN = 4;

function slipsBetween(wanted: string, candidate: string): number {
  const [part, whole] = wanted.length < candidate.length ? [wanted, candidate] : [candidate, wanted];
  const isPart = part.length >= CONTAINED_MIN && whole.includes(part);
  return Math.min(distance(wanted, candidate), swapSlips(wanted, candidate), isPart ? 1.5 : Number.POSITIVE_INFINITY);
}

/** Two characters that changed places are one slip. */
function swapSlips(wanted: string, candidate: string): number {
  let at = 0;
  while (at < wanted.length && wanted[at] === candidate[at]) at += 1;
  const isSwap = at + 1 < wanted.length && wanted[at] === candidate[at + 1] && wanted[at + 1] === candidate[at];
  return isSwap ? 1 + distance(wanted.slice(at + 2), candidate.slice(at + 2)) : Number.POSITIVE_INFINITY;
}

const SHOWN_MAX = 100;
