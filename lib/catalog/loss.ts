// Refuses prices below cost. If a cost or a rate moved, the price that was in force stays, or is raised to the cost.
import type { PinnedCost } from '../money/cost.ts';
import { findLosses, type Loss, type Sold } from '../money/loss.ts';
import { findDearestPrices, markUp, NO_MARKUP } from '../money/markup.ts';
import { formatRub, KOPECK } from '../money/money.ts';
import type { PriceVector } from '../money/price.ts';
import type { PricesBefore, StatedPrice } from './markup.ts';
import { type BuiltModel, type Model, type Route, type TextModel, withPrice } from './model.ts';
import { findVideoLengths } from './video-lengths.ts';

/** A price below the cost of a route: what became of it. */
export interface LossNotice extends Loss {
  readonly model: string;
  /** The price list that sets the price; absent: it is the price of the model. */
  readonly list?: string;
  readonly upstream: string;
  /** The upstream's own name for the model that answers. */
  readonly route: string;
  /** The model that answers to images, if it is not the model itself. */
  readonly vision?: string;
  /** `kept`: the price in force before stays. `raised`: the price is now the cost. */
  readonly outcome: 'kept' | 'raised';
}

interface ResolvedModels {
  readonly models: readonly Model[];
  /** The price in force of each model, by id. */
  readonly prices: ReadonlyMap<string, StatedPrice>;
  readonly notices: readonly LossNotice[];
}

interface LossOptions {
  /** The models that answer to images for those that do not see. */
  readonly vision: readonly TextModel[];
  readonly before: PricesBefore;
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

export function resolveLosses(built: readonly BuiltModel[], { vision, before, report }: LossOptions): ResolvedModels {
  const notices: LossNotice[] = [];
  const prices = new Map<string, StatedPrice>();
  const models = built.map((each, at) => {
    const { model, stated } = each;
    const resolved = resolveLoss(each, { vision, kept: before.get(model.id, stated.statement) });
    if (resolved.losses.length > 0 && !resolved.outcome)
      report(at, describeRefusal(resolved.losses, adviseForModel(resolved.losses)));
    notices.push(...listNotices(resolved));
    prices.set(model.id, { ...stated, price: resolved.price });
    return resolved.outcome ? withPrice(model, resolved.price) : model;
  });
  return { models, prices, notices };
}

interface PriceOptions extends Pick<LossOptions, 'vision'> {
  /** The price in force before; undefined if there was none. */
  readonly kept: StatedPrice | undefined;
}

export interface CheckedListPrice {
  /** The price in force. */
  readonly price: PriceVector;
  readonly notices: readonly LossNotice[];
  /** Why nothing can be sold at the price. */
  readonly refusal?: string;
}

/** Checks the price that a price list sets for a model. */
export function checkListPrice(list: string, built: BuiltModel, options: PriceOptions): CheckedListPrice {
  const resolved = resolveLoss(built, options);
  const { price, losses, outcome } = resolved;
  const notices = listNotices(resolved).map((notice) => ({ ...notice, list }));
  const isRefused = losses.length > 0 && !outcome;
  return { price, notices, ...(isRefused && { refusal: describeRefusal(losses, 'write in the list "loss": true') }) };
}

interface ResolvedPrice {
  readonly price: PriceVector;
  readonly losses: readonly Found[];
  /** Undefined: the price stands as stated, or it is refused. */
  readonly outcome?: LossNotice['outcome'];
}

/** What becomes of a stated price: one below cost is raised, gives way to the price before, or is refused. */
function resolveLoss({ model, entry, stated }: BuiltModel, { vision, kept }: PriceOptions): ResolvedPrice {
  const { price, statement } = stated;
  const isExempt = statement === '' || entry.loss === true;
  const covered = isExempt ? [] : listCoveredRoutes(model, entry.loss === 'vision' ? [] : vision);
  const losses = listLosses(model, price, covered);
  if (losses.length === 0) return { price, losses };
  const raised = entry.onLoss === 'raise' ? raisePrice(price, covered) : undefined;
  if (raised) return { price: raised, losses, outcome: 'raised' };
  if (kept?.statement !== statement) return { price, losses };
  const left = listLosses(model, kept.price, covered);
  return { price: kept.price, losses: left.length > 0 ? left : losses, outcome: 'kept' };
}

function listNotices({ losses, outcome }: ResolvedPrice): readonly LossNotice[] {
  return outcome ? losses.map((loss) => ({ ...loss, outcome })) : [];
}

function listCoveredRoutes(model: Model, vision: readonly TextModel[]): readonly CoveredRoute[] {
  const own = listCosts(model);
  // A model without a usable route is not sold.
  if (model.type !== 'text' || model.vision || model.routes.length === 0) return own;
  return [...own, ...vision.flatMap((seeing) => listCosts(seeing).map((route) => ({ ...route, vision: seeing.id })))];
}

function listCosts({ routes }: Model): readonly CoveredRoute[] {
  return routes.flatMap((route) => (route.cost ? [{ cost: route.cost, route }] : []));
}

function listLosses(model: Model, price: PriceVector, covered: readonly CoveredRoute[]): readonly Found[] {
  const sold = describeSold(model);
  return covered.flatMap(({ cost, route, vision }) =>
    findLosses(price, cost, sold).map((loss) => {
      const answering = { upstream: route.upstream, route: route.model, ...(vision !== undefined && { vision }) };
      return { ...loss, model: model.id, ...answering };
    }),
  );
}

export function describeSold(model: Model): Sold {
  if (model.type === 'video') return { lengths: findVideoLengths(model) };
  return model.type === 'text' ? { audio: model.audio === true } : {};
}

/** Undefined if a price per second would have to be raised to a cost per request, or the other way round. */
function raisePrice(price: PriceVector, covered: readonly CoveredRoute[]): PriceVector | undefined {
  let raised: PriceVector | undefined = price;
  for (const { cost } of covered) {
    raised &&= findDearestPrices(raised, markUp(cost, { factor: NO_MARKUP, step: KOPECK }));
  }
  return raised;
}

/** One member says enough: the others follow from the same edit. */
function describeRefusal(losses: readonly Found[], advice: string): string {
  const [first] = losses as [Found];
  const more = losses.length > 1 ? ` (and ${losses.length - 1} more)` : '';
  return `${describeLoss(first)}${more}: raise the price, or ${advice}`;
}

function adviseForModel(losses: readonly Found[]): string {
  const allow = losses.every(({ vision }) => vision !== undefined) ? '"loss": "vision"' : '"loss": true';
  return `write "onLoss": "raise" or ${allow}`;
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
  const where = loss.list === undefined ? '' : ` in priceLists.${loss.list}`;
  return `model ${loss.model}${where}: the price ${what} ${describeLoss(loss)}`;
}
