// Which model a text call is held and billed for: the one the client names, or the one that smart routes it to.

import { SMART_ID, SMART_NAMES, SMART_TIERS, type SmartRouting, type SmartTier } from '../../base/smart-tiers.ts';
import type { Catalog, SmartModel } from '../../catalog/catalog.ts';
import { findTextModel, notAllowedFault } from '../../catalog/lookup.ts';
import type { TextModel } from '../../catalog/model.ts';
import type { CallPrice } from '../../ledger/refusals.ts';
import { allowsModel, type KeyLimits, NO_LIMITS } from '../../money/key-limits.ts';
import { moveSystemMessages } from '../../upstream/formats/system-messages.ts';
import { routeSmart } from '../smart/route.ts';
import { listPreferences, type Wishes } from './abilities.ts';
import { computeHold } from './hold.ts';
import type { TextRequest } from './request.ts';
import { dropToolTalk } from './tools.ts';

interface Choice {
  /** Its price is that of the call. A call with images keeps the price, whichever model then looks at them. */
  readonly model: TextModel;
  /** How smart chose; undefined if the client named the model, and nothing was scored. */
  readonly smart: SmartRouting | undefined;
}

/** Throws the fault that says why no model can answer: 400, or 403 for a key that may not use it. */
export function chooseModel(catalog: Catalog, request: TextRequest, limits: KeyLimits = NO_LIMITS): Choice {
  const smart = findSmartModel(catalog, request.model);
  if (!smart) return { model: findTextModel(catalog, request.model, limits), smart: undefined };
  const given = { ...request, messages: request.messages.filter(({ isFromGateway }) => !isFromGateway) };
  const { system, messages } = moveSystemMessages({ system: request.system, messages: dropToolTalk(given) });
  const text = system?.map(({ text }) => text).join('\n\n');
  const routing = routeSmart({ system: text, messages, json: request.format !== undefined }, smart.thresholds);
  const model = listTierModels(smart, routing.tier, request).find((each) => allowsModel(limits, each));
  if (!model) throw notAllowedFault(limits, SMART_ID);
  return { model, smart: routing };
}

/** The models one of which will be chosen, whatever the request's texts say. Throws like `chooseModel`. */
export function listEligibleModels(
  catalog: Catalog,
  request: Pick<TextRequest, 'model'> & Wishes,
  limits: KeyLimits,
): readonly TextModel[] {
  const smart = findSmartModel(catalog, request.model);
  const models = smart && listTierModels(smart, 'lite', request).filter((model) => allowsModel(limits, model));
  if (!models) return [findTextModel(catalog, request.model, limits)];
  if (models.length === 0) throw notAllowedFault(limits, SMART_ID);
  return models;
}

/** The least that a call holds, whichever of its models is chosen. Throws like `chooseModel`. */
export function findLeastPrice(catalog: Catalog, request: TextRequest, limits: KeyLimits): CallPrice {
  const { tokensHeld = 0, audioTokens } = request.estimate ?? {};
  const call = { tokensHeld, audioTokens, maxTokens: request.maxTokens };
  const holds = listEligibleModels(catalog, request, limits).map((model) => computeHold(model, call));
  // Before the texts of a long request arrive, smart's choice is unknown; it may be the cheapest.
  const [least = 0n] = holds.sort((a, b) => Number(a - b));
  return { kind: 'text', amount: least };
}

/** The smart model, if there is one and the name is one of its names. */
function findSmartModel({ smart }: Catalog, name: string): SmartModel | undefined {
  return SMART_NAMES.has(name) ? smart : undefined;
}

/** Smart's models for a tier, in order of preference: those that can do what the request needs come first. */
function listTierModels({ models, usable }: SmartModel, tier: SmartTier, wishes: Wishes): readonly TextModel[] {
  const tiers = orderTiers(tier);
  const able = listPreferences(wishes).flatMap((test) => tiers.flatMap((each) => usable[each].find(test) ?? []));
  return [...able, ...tiers.map((each) => models[each])];
}

/** A tier, then those above it, then those below, as when a tier has no route. */
function orderTiers(tier: SmartTier): readonly SmartTier[] {
  const at = SMART_TIERS.indexOf(tier);
  return [...SMART_TIERS.slice(at), ...SMART_TIERS.slice(0, at).reverse()];
}
