// Refuses prices below cost. If a cost or a rate moved, the price that was in force stays, or is raised to the cost.
import type { PinnedCost } from '../money/cost.ts';
import { findLosses, type Loss } from '../money/loss.ts';
import { findDearestPrices, markUp, NO_MARKUP } from '../money/markup.ts';
import { formatRub, type Micro } from '../money/money.ts';
import type { PriceVector } from '../money/price.ts';
import { type BuiltModel, type Model, type Route, type TextModel, withPrice } from './model.ts';
import type { StatedPrice } from './pricing.ts';
import { findVideoLengths } from './video-lengths.ts';

/** A price below the cost of a route: what became of it. */
export interface LossNotice extends Loss {
  readonly model: string;
  readonly upstream: string;
  /** The upstream's own name for the model that answers. */
  readonly route: string;
  /** The model that answers to images, if it is not the model itself. */
  readonly vision?: string;
  /** `kept`: the price in force before stays. `raised`: the price is now the cost. */
  readonly outcome: 'kept' | 'raised';
}

interface Settled {
  readonly models: readonly Model[];
  /** The price in force of each model, by id. */
  readonly prices: ReadonlyMap<string, StatedPrice>;
  readonly notices: readonly LossNotice[];
}

interface SettleOptions {
  /** The models that answer to images for those that do not see. */
  readonly vision: readonly TextModel[];
  /** The prices in force before, by id of the model. */
  readonly before: ReadonlyMap<string, StatedPrice>;
  /** Takes why a model, by its place in the list, cannot be sold. */
  readonly report: (at: number, problem: string) => void;
}

/** A route that the price has to cover. */
interface CoveredRoute {
  readonly cost: PinnedCost;
  readonly route: Route;
  readonly vision?: string;
}

type Found = Omit<LossNotice, 'outcome'>;

/** A price is raised to a whole kopeck. */
const RAISE_STEP: Micro = 10_000n;

export function settleLosses(built: readonly BuiltModel[], { vision, before, report }: SettleOptions): Settled {
  const notices: LossNotice[] = [];
  const prices = new Map<string, StatedPrice>();
  const models = built.map(({ model, entry, stated }, at) => {
    const settle = (price: PriceVector, outcome: LossNotice['outcome'], losses: readonly Found[]): Model => {
      notices.push(...losses.map((loss) => ({ ...loss, outcome })));
      prices.set(model.id, { ...stated, price });
      return withPrice(model, price);
    };
    prices.set(model.id, stated);
    if (stated.statement === '') return model;
    const bounds = entry.loss === true ? [] : listCoveredRoutes(model, entry.loss === 'vision' ? [] : vision);
    const losses = listLosses(model, stated.price, bounds);
    if (losses.length === 0) return model;
    const raised = entry.onLoss === 'raise' ? raisePrice(stated.price, bounds) : undefined;
    if (raised) return settle(raised, 'raised', losses);
    const kept = before.get(model.id);
    if (kept?.statement === stated.statement) {
      const left = listLosses(model, kept.price, bounds);
      return settle(kept.price, 'kept', left.length > 0 ? left : losses);
    }
    report(at, describeRefusal(losses));
    return model;
  });
  return { models, prices, notices };
}

function listCoveredRoutes(model: Model, vision: readonly TextModel[]): readonly CoveredRoute[] {
  const own = listCosts(model);
  // A model without a usable route is not sold.
  if (model.type !== 'text' || model.vision || model.routes.length === 0) return own;
  return [...own, ...vision.flatMap((each) => listCosts(each).map((bound) => ({ ...bound, vision: each.id })))];
}

function listCosts({ routes }: Model): readonly CoveredRoute[] {
  return routes.flatMap((route) => (route.cost ? [{ cost: route.cost, route }] : []));
}

function listLosses(model: Model, price: PriceVector, bounds: readonly CoveredRoute[]): readonly Found[] {
  const lengths = model.type === 'video' ? findVideoLengths(model) : undefined;
  return bounds.flatMap(({ cost, route, vision }) =>
    findLosses(price, cost, lengths).map((loss) => {
      const answering = { upstream: route.upstream, route: route.model, ...(vision !== undefined && { vision }) };
      return { ...loss, model: model.id, ...answering };
    }),
  );
}

/** Undefined if a price per second would have to be raised to a cost per request, or the other way round. */
function raisePrice(price: PriceVector, bounds: readonly CoveredRoute[]): PriceVector | undefined {
  let raised: PriceVector | undefined = price;
  for (const { cost } of bounds) {
    raised &&= findDearestPrices(raised, markUp(cost, { factor: NO_MARKUP, step: RAISE_STEP }));
  }
  return raised;
}

/** One member says enough: the others follow from the same edit. */
function describeRefusal(losses: readonly Found[]): string {
  const [first] = losses as [Found];
  const more = losses.length > 1 ? ` (and ${losses.length - 1} more)` : '';
  const allow = losses.every(({ vision }) => vision !== undefined) ? '"loss": "vision"' : '"loss": true';
  return `${describeLoss(first)}${more}: raise the price, or write "onLoss": "raise" or ${allow}`;
}

function describeLoss({ member, price, cost, upstream, route, vision }: Found): string {
  const who = vision === undefined ? '' : `of an answer to images by ${vision} `;
  return `price.${member} is ${formatRub(price)} RUB, below the cost ${who}over ${upstream} (${route}), ${formatRub(cost)} RUB`;
}

/** Those whose price was kept, though it is below cost. */
export function countModelsBelowCost({ losses }: { readonly losses: readonly LossNotice[] }): number {
  return new Set(losses.filter(({ outcome }) => outcome === 'kept').map(({ model }) => model)).size;
}

/** One line for the operator. */
export function describeNotice({ outcome, ...loss }: LossNotice): string {
  const what = outcome === 'raised' ? 'was raised to the cost: it' : 'stays as it was:';
  return `model ${loss.model}: the price ${what} ${describeLoss(loss)}`;
}
