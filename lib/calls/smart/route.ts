// The router of the `smart` model: chooses a tier by the text of the request alone, always the same for the same text.
import type { SmartRouting, SmartThresholds, SmartTier } from '../../base/smart-tiers.ts';
import { cutLowering, cutRaising } from './demands.ts';
import type { Findings, Message } from './evidence.ts';
import { findDirection, findSignal, SIGNAL_NAMES, type SignalName } from './names.ts';
import { type RequestParts, readRequest } from './request.ts';
import type { SmartRequest } from './view.ts';
import { computeScore, findWeight, SMART_THRESHOLDS, shareWeight, type Weight } from './weights.ts';

export type { SignalName } from './names.ts';
export type { SmartRequest } from './view.ts';
export { SMART_THRESHOLDS } from './weights.ts';

interface SmartSignal {
  readonly name: string;
  /** How far the score moves as this signal joins those before it. */
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

/** The tier of a request. Pure: no clock, randomness or I/O; reads a bounded part of the request. */
export function routeSmart(request: SmartRequest, thresholds: SmartThresholds = SMART_THRESHOLDS): SmartRouting {
  const { score, found } = scoreRequest(request);
  return { tier: chooseTier(score, thresholds), score, signals: listSignalNames(found) };
}

/** Like `routeSmart`, with every signal, its evidence and what it added. */
export function explain(request: SmartRequest, thresholds: SmartThresholds = SMART_THRESHOLDS): SmartExplanation {
  const { score, found } = scoreRequest(request);
  const base = findWeight('base')!;
  let sum = base;
  let before = computeScore(sum);
  const signals = listSignalNames(found);
  const details = signals.map((name) => {
    const evidence =
      name === 'wording' ? found.wordings : [...found.evidence].filter((each) => findSignal(each) === name);
    sum = add(sum, name === 'wording' ? weighWordings(evidence) : sumWeights(evidence));
    const after = computeScore(sum);
    const points = after - before;
    before = after;
    return {
      name,
      points,
      evidence: sortByWeight(evidence)
        .slice(0, EVIDENCE_SHOWN)
        .map((each) => each.replace('=', '')),
    };
  });
  return { tier: chooseTier(score, thresholds), score, signals, base: computeScore(base), thresholds, details };
}

function add(one: Weight, other: Weight): Weight {
  return { standard: one.standard + other.standard, heavy: one.heavy + other.heavy };
}

function judgeTier(findings: Findings): SmartTier {
  return chooseTier(scoreFindings(findings).score, SMART_THRESHOLDS);
}

interface Scored {
  readonly score: number;
  readonly found: Findings;
}

function scoreRequest(request: SmartRequest): Scored {
  const parts = readRequest(request, judgeTier);
  const own = new MessageScorer(parts.find).score(parts.message);
  return parts.ordered ? lower(own, scoreFindings(parts.ordered)) : own;
}

/** How many times a message may be read in all, with parts left out. */
const READINGS_MAX = 4;

class MessageScorer {
  readonly #find: RequestParts['find'];
  #left = READINGS_MAX;

  constructor(find: RequestParts['find']) {
    this.#find = find;
  }

  /**
   * The score of a message, bound by the scores of the same message without what it ends or begins with: a demand that
   * raises the score must not turn the words before it into something easier, nor an order that lowers it make them
   * harder.
   */
  score(message: Message, carried: readonly string[] = []): Scored {
    const whole = this.#read(message, carried);
    let scored = scoreFindings(whole);
    let findings = whole;
    for (let cut = cutRaising(message, whole); cut && this.#left > 0; cut = cutRaising(cut, findings)) {
      findings = this.#read(cut, [...carried, ...keepDirection(findings, 1)]);
      scored = higher(scored, scoreFindings(findings));
    }
    for (const rest of cutLowering(message)) {
      if (this.#left > 0) scored = lower(scored, this.score(rest, [...carried, ...keepDirection(whole, -1)]));
    }
    return scored;
  }

  #read(message: Message, carried: readonly string[]): Findings {
    this.#left -= 1;
    return this.#find(message, carried);
  }
}

const higher = (one: Scored, other: Scored) => (other.score > one.score ? other : one);
const lower = (one: Scored, other: Scored) => (other.score < one.score ? other : one);

function keepDirection({ evidence }: Findings, direction: 1 | -1): string[] {
  return [...evidence].filter((name) => findDirection(findSignal(name)) === direction);
}

function scoreFindings(found: Findings): Scored {
  const sum = add(add(findWeight('base')!, sumWeights(found.evidence)), weighWordings(found.wordings));
  return { score: computeScore(sum), found };
}

function weighWordings(wordings: readonly string[]): Weight {
  const { standard, heavy } = sumWeights(wordings);
  return { standard: shareWeight(standard, wordings.length), heavy: shareWeight(heavy, wordings.length) };
}

function sumWeights(names: Iterable<string>): Weight {
  let standard = 0;
  let heavy = 0;
  for (const name of names) {
    const weight = findWeight(name);
    standard += weight?.standard ?? 0;
    heavy += weight?.heavy ?? 0;
  }
  return { standard, heavy };
}

function listSignalNames({ evidence, wordings }: Findings): SignalName[] {
  const names = new Set<SignalName>();
  for (const each of evidence) if (findWeight(each)) names.add(findSignal(each)!);
  if (wordings.some(findWeight)) names.add('wording');
  return SIGNAL_NAMES.filter((name) => names.has(name));
}

const EVIDENCE_SHOWN = 8;

/** Known names, heaviest first. */
function sortByWeight(names: readonly string[]): string[] {
  const size = (name: string) => {
    const { standard, heavy } = findWeight(name)!;
    return Math.abs(standard) + Math.abs(heavy);
  };
  return names.filter(findWeight).sort((one, other) => size(other) - size(one));
}

function chooseTier(score: number, { standard, heavy }: SmartThresholds): SmartTier {
  if (score >= heavy) return 'heavy';
  return score >= standard ? 'standard' : 'lite';
}
