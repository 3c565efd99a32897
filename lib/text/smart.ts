// The `smart` model's router: how hard a request is, told from its text alone; the same request gets the same tier.
import type { SmartRouting, SmartThresholds, SmartTier } from '../smart-tier.ts';
import { adoptHistory } from './smart/dialog.ts';
import { SIGNAL_NAMES, type SignalName, type Strengths } from './smart/names.ts';
import { type SmartRequest, viewRequest } from './smart/view.ts';
import weights from './smart-weights.json' with { type: 'json' };

export type { SmartRouting, SmartThresholds, SmartTier } from '../smart-tier.ts';
export type { SmartRequest } from './smart/view.ts';

export interface SmartSignal {
  readonly name: string;
  /** Points at full strength, from `smart-weights.json`. */
  readonly weight: number;
  /** Above 0, at most 1. */
  readonly strength: number;
  /** What it added to the score. */
  readonly points: number;
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
const WEIGHTS: Readonly<Partial<Record<SignalName, number>>> = weights;

/** The tier of a request. Pure: no clock, no chance, no I/O; reads a bounded part of the request. */
export function route(request: SmartRequest, thresholds: SmartThresholds = SMART_THRESHOLDS): SmartRouting {
  const { tier, score, signals } = explain(request, thresholds);
  return { tier, score, signals };
}

/** As `route`, with every signal, its weight and what it added. */
export function explain(request: SmartRequest, thresholds: SmartThresholds = SMART_THRESHOLDS): SmartExplanation {
  const strengths = readSignals(request);
  const details: SmartSignal[] = [];
  let sum = SMART_BASE;
  for (const name of SIGNAL_NAMES) {
    const strength = strengths.get(name);
    if (strength === undefined) continue;
    const weight = WEIGHTS[name] ?? 0;
    const points = weight * strength;
    sum += points;
    details.push({ name, weight, strength: round(strength, 100), points: round(points, 10) });
  }
  const score = round(Math.max(0, Math.min(100, sum)), 10);
  return {
    tier: tierOf(score, thresholds),
    score,
    signals: details.map(({ name }) => name),
    base: SMART_BASE,
    thresholds,
    details,
  };
}

/** The signals of a request with their strengths, before any weight. */
export function readSignals(request: SmartRequest): Strengths {
  return adoptHistory(viewRequest(withoutVastTexts(request)));
}

/** No model reads a longer text; a glance at one that has just arrived copies all of it first. */
const TEXT_CHARACTERS_MAX = 8 * 1024 * 1024;
const isVast = ({ length }: string) => length > TEXT_CHARACTERS_MAX;

/** Vast texts count as empty ones. */
function withoutVastTexts(request: SmartRequest): SmartRequest {
  const { system = '', messages } = request;
  if (!isVast(system) && !messages.some(({ content }) => content.some(({ text }) => isVast(text)))) return request;
  const glance = (text: string) => (isVast(text) ? '' : text);
  return {
    system: glance(system),
    messages: messages.map(({ role, content }) => ({
      role,
      content: content.map(({ type, text }) => ({ type, text: glance(text) })),
    })),
  };
}

function tierOf(score: number, { standard, heavy }: SmartThresholds): SmartTier {
  if (score >= heavy) return 'heavy';
  return score >= standard ? 'standard' : 'lite';
}

function round(value: number, steps: number): number {
  return Math.round(value * steps) / steps;
}
