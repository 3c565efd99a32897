// Which model a text call is held and billed for: the one the client names, or the one that smart routes it to.
import { notAllowed, refuseModel } from '../catalog/allowed.ts';
import { type Catalog, SMART_ID } from '../catalog/catalog.ts';
import { findSmartModel, findTextModel } from '../catalog/lookup.ts';
import type { TextModel } from '../catalog/model.ts';
import { allowsModel, type KeyLimits, NO_LIMITS } from '../money/key-limits.ts';
import { route } from '../smart/route.ts';
import { SMART_TIERS, type SmartRouting, type SmartTier } from '../stream/smart.ts';
import type { TextRequest } from './request.ts';

export interface Choice {
  /** Its price is that of the call. A call with images keeps the price, whichever model then looks at them. */
  readonly model: TextModel;
  /** How smart chose; undefined when the client named the model, and nothing was scored. */
  readonly smart: SmartRouting | undefined;
}

/** Throws the fault that says why there is no model to answer: 400, or 403 for a key that may not use it. */
export function chooseModel(catalog: Catalog, request: TextRequest, limits: KeyLimits = NO_LIMITS): Choice {
  const smart = findSmartModel(catalog, request.model);
  if (!smart) return { model: findNamed(catalog, request.model, limits), smart: undefined };
  const routing = route(request, smart.thresholds);
  const model = tiersFrom(routing.tier)
    .map((tier) => smart.models[tier])
    .find((each) => allowsModel(limits, each));
  if (!model) throw notAllowed(limits, SMART_ID);
  return { model, smart: routing };
}

/** The models one of which will be chosen, whatever the request says. Throws as `chooseModel` does. */
export function modelsFor(catalog: Catalog, name: string, limits: KeyLimits): readonly TextModel[] {
  const smart = findSmartModel(catalog, name);
  if (!smart) return [findNamed(catalog, name, limits)];
  const models = Object.values(smart.models).filter((model) => allowsModel(limits, model));
  if (models.length === 0) throw notAllowed(limits, SMART_ID);
  return models;
}

function findNamed(catalog: Catalog, name: string, limits: KeyLimits): TextModel {
  const model = findTextModel(catalog, name);
  refuseModel(limits, model);
  return model;
}

/** A tier, those above it, and then those below, as where a tier has no route. */
function tiersFrom(tier: SmartTier): readonly SmartTier[] {
  const at = SMART_TIERS.indexOf(tier);
  return [...SMART_TIERS.slice(at), ...SMART_TIERS.slice(0, at).reverse()];
}
