// Which model a text call is held and billed for: the one the client names, or the one that smart routes it to.
import type { Catalog } from '../catalog/catalog.ts';
import { findSmartModel, findTextModel } from '../catalog/lookup.ts';
import type { TextModel } from '../catalog/model.ts';
import { route } from '../smart/route.ts';
import type { SmartRouting } from '../stream/smart.ts';
import type { TextRequest } from './request.ts';

export interface Choice {
  /** Its price is that of the call. A call with images keeps the price, whichever model then looks at them. */
  readonly model: TextModel;
  /** How smart chose; undefined when the client named the model, and nothing was scored. */
  readonly smart: SmartRouting | undefined;
}

/** Throws the 400 fault that says why there is no model to answer. */
export function chooseModel(catalog: Catalog, request: TextRequest): Choice {
  const smart = findSmartModel(catalog, request.model);
  if (!smart) return { model: findTextModel(catalog, request.model), smart: undefined };
  const routing = route(request, smart.thresholds);
  return { model: smart.models[routing.tier], smart: routing };
}
