// The router of the `smart` model: chooses a tier by the text of the request alone, always the same for the same text.
import type { SmartRouting, SmartThresholds, SmartTier } from '../../base/smart-tiers.ts';
import { findSignal, SIGNAL_NAMES, type SignalName } from './names.ts';
import { readRequest } from './request.ts';
import type { SmartRequest } from './view.ts';
import weights from './weights.json' with { type: 'json' };

export type { SignalName } from './names.ts';

export type { SmartRequest } from './view.ts';

interface SmartSignal {
  readonly name: string;
  /** The total weight of the evidence. */
  readonly weight: number;
  /** The fraction of the weight that counts, above 0 and at most 1: no signal decides alone. */
  readonly strength: number;
  /** The points added to the score. */
  readonly points: number;
  /** The evidence, heaviest first. */
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
/** The maximum that a signal adds or subtracts. */
const SIGNAL_MAX = 60;

interface Weight {
  readonly signal: SignalName;
  readonly points: number;
}

const WEIGHTS = new Map<string, Weight>(
  Object.entries(weights as Readonly<Record<string, number>>).map(([name, points]) => [
    name,
    { signal: findSignal(name), points },
  ]),
);

/** The tier of a request. Pure: no clock, randomness or I/O; reads a bounded part of the request. */
export function routeSmart(request: SmartRequest, thresholds: SmartThresholds = SMART_THRESHOLDS): SmartRouting {
  const { tier, score, signals } = explain(request, thresholds);
  return { tier, score, signals };
}

/** Like `route`, with every signal, its evidence and what it added. */
export function explain(request: SmartRequest, thresholds: SmartThresholds = SMART_THRESHOLDS): SmartExplanation {
  const details = readSignals(readEvidence(request));
  const score = computeScore(details);
  return {
    tier: chooseTier(score, thresholds),
    score,
    signals: details.map(({ name }) => name),
    base: SMART_BASE,
    thresholds,
    details,
  };
}

/** The evidence in a request, without weights. */
export function readEvidence(request: SmartRequest): ReadonlySet<string> {
  return readRequest(request, (evidence) => chooseTier(computeScore(readSignals(evidence)), SMART_THRESHOLDS));
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
      evidence: heaviest.map(([name]) => name),
    });
  }
  return signals;
}

function computeScore(signals: readonly SmartSignal[]): number {
  const sum = signals.reduce((total, { points }) => total + points, SMART_BASE);
  return round(Math.max(0, Math.min(100, sum)), 10);
}

function chooseTier(score: number, { standard, heavy }: SmartThresholds): SmartTier {
  if (score >= heavy) return 'heavy';
  return score >= standard ? 'standard' : 'lite';
}

function round(value: number, steps: number): number {
  return Math.round(value * steps) / steps;
}
