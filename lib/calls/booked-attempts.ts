// The attempts of a call at upstreams, as the cost ledger books them: how each one went, and what it cost for certain,
// by our own count, or possibly.
import type { Route } from '../catalog/model.ts';
import type { AttemptCost, AttemptEnding, Certainty, NewAttempt } from '../money/attempt.ts';
import { computeCost, convertToRub, type PinnedCost } from '../money/cost.ts';
import type { Usage } from '../money/decide.ts';
import { AMOUNT_MAX } from '../money/money.ts';
import { isUpstreamFault } from '../upstream/host/fault.ts';
import type { PluginRun } from '../upstream/host/plugin-run.ts';
import type { Ending } from './ending.ts';
import { isUpstreamRefusal } from './refusal.ts';

export interface UsedByAttempt {
  readonly usage: Usage;
  /** The upstream has said so, or delivered it; otherwise it is an estimate. */
  readonly isReported: boolean;
  /** A part of an answer has come. */
  readonly hasOutput: boolean;
}

interface EndedAttempt {
  /** The id of the model that was asked. */
  readonly model: string;
  readonly route: Pick<Route, 'upstream' | 'model' | 'cost'>;
  /** Undefined if the plugin was not called. */
  readonly run: PluginRun | undefined;
  readonly ending: Ending;
  readonly used: UsedByAttempt;
  /** On the clock of `performance.now()`. */
  readonly startedAt: number;
  readonly firstAt?: number | undefined;
  /** The vendor's id of the answer, if no header has one. */
  readonly answerId?: string | undefined;
}

/** The rows of an attempt at a route: one for each key that was refused, and one for the last request. */
export function bookAttempt(attempt: EndedAttempt): readonly NewAttempt[] {
  const { run, used, startedAt, firstAt, answerId } = attempt;
  const ending = judgeEnding(attempt);
  const certainty = judgeCertainty(attempt, ending);
  const times = { startedAt: run?.refused ? (run.sentAt ?? startedAt) : startedAt, endedAt: performance.now() };
  const last: NewAttempt = {
    ...describeRequest(attempt, times),
    keyPlace: run?.keyPlace ?? null,
    requestId: cleanVendorId(run?.requestId ?? answerId),
    ending,
    ...describeReason(attempt.ending),
    firstMs: firstAt === undefined ? null : Math.round(firstAt - times.startedAt),
    usage: certainty === 'none' ? null : JSON.stringify(used.usage),
    certainty,
    cost: priceAttempt(attempt.route.cost, certainty === 'none' ? undefined : used.usage),
  };
  if (!run?.refused) return [last];
  const refused = run.refused.map(
    ({ keyPlace, requestId, ...sent }): NewAttempt => ({
      ...describeRequest(attempt, sent),
      keyPlace,
      requestId,
      ending: 'refused',
      firstMs: null,
      usage: null,
      certainty: 'none',
      cost: priceAttempt(attempt.route.cost, undefined),
    }),
  );
  return [...refused, last];
}

const VENDOR_ID_CHARS_MAX = 100;

/** A vendor's id may be any text: no store keeps half a character as it is, and a row is no place for long ones. */
export function cleanVendorId(id: string | undefined): string | null {
  return id === undefined ? null : id.slice(0, VENDOR_ID_CHARS_MAX).toWellFormed().replaceAll('\0', '');
}

interface RequestTimes {
  readonly startedAt: number;
  readonly endedAt: number;
}

function describeRequest({ model, route }: EndedAttempt, { startedAt, endedAt }: RequestTimes) {
  const { upstream, model: upstreamModel } = route;
  const at = Math.round(Date.now() - (performance.now() - startedAt));
  return { model, upstream, upstreamModel, at, totalMs: Math.round(endedAt - startedAt) };
}

function judgeEnding({ ending, used }: EndedAttempt): AttemptEnding {
  if (ending.type === 'finish') return 'answered';
  if (ending.type === 'gone') return 'left';
  if (used.hasOutput) return 'cut';
  if (isUpstreamRefusal(ending.fault.cause)) return 'refused';
  return ending.fault.data?.code === 'upstream_timeout' ? 'timeout' : 'failed';
}

/** In a few words, because rows are many: the upstream's own words are in the log. */
function describeReason(ending: Ending): Pick<NewAttempt, 'reason'> {
  if (ending.type !== 'error') return {};
  const { cause, data } = ending.fault;
  if (!isUpstreamFault(cause)) return data?.code === undefined ? {} : { reason: data.code };
  return { reason: cause.status === undefined ? cause.kind : `${cause.status} ${cause.kind}` };
}

function judgeCertainty({ run, used }: EndedAttempt, ending: AttemptEnding): Certainty {
  if (used.isReported) return 'reported';
  switch (ending) {
    case 'answered':
    case 'cut':
      return 'estimated';
    case 'left':
      return run ? 'estimated' : 'none';
    case 'refused':
      return 'none';
    default:
      return run ? 'possible' : 'none';
  }
}

/**
 * Of no usage the cost is zero. Null if the route has no cost in the catalog, or none for such usage, or one that no
 * vendor bills: what an upstream reports may be any number, and a store refuses a row that does not fit.
 */
function priceAttempt(pinned: PinnedCost | undefined, usage: Usage | undefined): AttemptCost | null {
  if (!pinned) return null;
  const { currency, stored: prices, rate } = pinned;
  const cost = usage ? computeCost(pinned, usage) : 0n;
  if (cost === undefined) return null;
  const costRub = convertToRub(cost, rate.rub);
  if (cost > AMOUNT_MAX || costRub > AMOUNT_MAX) return null;
  return { currency, prices, rate: rate.rub, cost, costRub };
}

/** Records the attempts of a call whose answers come whole. */
export class AttemptLog {
  readonly list: NewAttempt[] = [];
  readonly #model: string;

  constructor(model: string) {
    this.#model = model;
  }

  /**
   * `ask` gets a function to call with the plugin's run as it starts; `measure` is called when the attempt has ended.
   */
  async record<Result>(
    route: EndedAttempt['route'],
    ask: (onRun: (run: PluginRun) => void) => Promise<Ending<Result>>,
    measure: (ending: Ending<Result>) => UsedByAttempt,
  ): Promise<Ending<Result>> {
    const startedAt = performance.now();
    let run: PluginRun | undefined;
    const ending = await ask((started) => {
      run = started;
    });
    this.list.push(...bookAttempt({ model: this.#model, route, run, ending, used: measure(ending), startedAt }));
    return ending;
  }
}
