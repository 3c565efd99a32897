// From the name a client wrote to a model that can answer, or to the fault that says why there is none.
import { fault } from '../faults.ts';
import { type Catalog, type Model, SMART_NAMES, type SmartModel, type TextModel } from './catalog.ts';

/** Where models of a type are used. */
const ENDPOINTS: Readonly<Record<Model['type'], string>> = {
  text: 'POST /api/v1/messages or POST /api/v1/chat/completions',
  image: 'POST /api/v1/images/generations',
  video: 'POST /api/v1/videos',
};

/** The smart model when it was asked for; undefined for every other name. */
export function findSmartModel(catalog: Catalog, name: string): SmartModel | undefined {
  if (!SMART_NAMES.has(name)) return undefined;
  if (!catalog.smart) throw fault('unknown_model', { model: name });
  return catalog.smart;
}

export function findTextModel(catalog: Catalog, name: string): TextModel {
  const replacement = catalog.retired.get(name);
  if (replacement !== undefined) throw fault('retired_model', { model: shown(name), hint: replacement });
  const model = catalog.byName.get(name);
  if (!model) throw fault('unknown_model', { model: shown(name) });
  if (model.type !== 'text') throw fault('wrong_model_type', { model: shown(name), hint: ENDPOINTS[model.type] });
  if (model.routes.length === 0) throw fault('unknown_model', { model: shown(name) });
  return model;
}

const SHOWN_MAX = 100;

/** A client's text as a message may repeat it: short, one line. */
function shown(name: string): string {
  const line = name.slice(0, SHOWN_MAX).replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '?');
  return name.length > SHOWN_MAX ? `${line}…` : line;
}
