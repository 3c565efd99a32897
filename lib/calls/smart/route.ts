// The router of the `smart` model: how hard a request is, judged by its text alone; the same request gets the same
// tier.
import type { SmartRouting, SmartThresholds, SmartTier } from '../../base/smart-tiers.ts';
import { SIGNAL_NAMES, type SignalName, signalOf } from './names.ts';
import { readRequest } from './request.ts';
import type { SmartRequest } from './view.ts';
import weights from './weights.json' with { type: 'json' };

export type { SignalName } from './names.ts';

export type { SmartRequest } from './view.ts';

export interface SmartSignal {
  readonly name: string;
  /** The weight of its evidence. */
  readonly weight: number;
  /** Above 0, at most 1: how much of it counts, since no signal decides alone. */
  readonly strength: number;
  /** What it added to the score. */
  readonly points: number;
  /** The evidence for it, heaviest first. */
  readonly evidence: readonly string[];
}

export interface SmartExplanation extends SmartRouting {
  /** The score of a request without any signal. */
  readonly base: number;
  readonly thresholds: SmartThresholds;
  readonly details: readonly SmartSignal[];
}

export const SMART_THRESHOLDS: SmartThresholds = { standard: 35, heavy: 65 };

/** The score of a request without any signal. */
export const SMART_BASE = 50;
/** The most that a signal can add or subtract. */
const SIGNAL_MAX = 60;

interface Weight {
  readonly signal: SignalName;
  readonly points: number;
}

const WEIGHTS = new Map<string, Weight>(
  Object.entries(weights as Readonly<Record<string, number>>).map(([name, points]) => [
    name,
    { signal: signalOf(name), points },
  ]),
);

/** The tier of a request. Pure: no clock, randomness or I/O; reads a bounded part of the request. */
export function route(request: SmartRequest, thresholds: SmartThresholds = SMART_THRESHOLDS): SmartRouting {
  const { tier, score, signals } = explain(request, thresholds);
  return { tier, score, signals };
}

/** Like `route`, with every signal, its evidence and what it added. */
export function explain(request: SmartRequest, thresholds: SmartThresholds = SMART_THRESHOLDS): SmartExplanation {
  const details = readSignals(readEvidence(request));
  const score = scoreOf(details);
  return {
    tier: tierOf(score, thresholds),
    score,
    signals: details.map(({ name }) => name),
    base: SMART_BASE,
    thresholds,
    details,
  };
}

/** What a request reveals, before any weights. */
export function readEvidence(request: SmartRequest): ReadonlySet<string> {
  return readRequest(request, (evidence) => tierOf(scoreOf(readSignals(evidence)), SMART_THRESHOLDS));
}

function readSignals(evidence: ReadonlySet<string>): SmartSignal[] {
  const found = new Map<SignalName, [string, number][]>();
  for (const name of evidence) {
    const weight = WEIGHTS.get(name);
    if (weight === undefined) continue;
    const list = found.get(weight.signal);
    if (list === undefined) found.set(weight.signal, [[name, weight.points]]);
    else list.push([name, weight.points]);
  }
  const signals: SmartSignal[] = [];
  for (const name of SIGNAL_NAMES) {
    const list = found.get(name);
    const weight = round(list?.reduce((sum, [, points]) => sum + points, 0) ?? 0, 10);
    if (list === undefined || weight === 0) continue;
    const points = Math.max(-SIGNAL_MAX, Math.min(SIGNAL_MAX, weight));
    const heaviest = list.sort(([, one], [, other]) => Math.abs(other) - Math.abs(one));
    signals.push({
      name,
      weight,
      strength: round(points / weight, 100),
      points,
      evidence: heaviest.map(([told]) => told),
    });
  }
  return signals;
}

function scoreOf(signals: readonly SmartSignal[]): number {
  const sum = signals.reduce((total, { points }) => total + points, SMART_BASE);
  return round(Math.max(0, Math.min(100, sum)), 10);
}

function tierOf(score: number, { standard, heavy }: SmartThresholds): SmartTier {
  if (score >= heavy) return 'heavy';
  return score >= standard ? 'standard' : 'lite';
}

function round(value: number, steps: number): number {
  return Math.round(value * steps) / steps;
}
