// The router of the `smart` model: chooses a tier by the text of the request alone, always the same for the same text.
import type { SmartRouting, SmartThresholds, SmartTier } from '../../base/smart-tiers.ts';
import { cutFormatEnd, cutLoweringEnd, cutLoweringStart, cutRaisingEnd } from './demands.ts';
import type { Findings } from './evidence.ts';
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
  return { tier: chooseTier(score, thresholds), score, signals: listSignals(found).map(({ name }) => name) };
}

/** Like `routeSmart`, with every signal, its evidence and what it added. */
export function explain(request: SmartRequest, thresholds: SmartThresholds = SMART_THRESHOLDS): SmartExplanation {
  const { score, found } = scoreRequest(request);
  const base = findBase();
  let sum = base;
  let before = computeScore(sum);
  const details = listSignals(found).map(({ name, weight, evidence }) => {
    sum = add(sum, weight);
    const after = computeScore(sum);
    const points = after - before;
    before = after;
    return { name, points, evidence };
  });
  const signals = details.map(({ name }) => name);
  return { tier: chooseTier(score, thresholds), score, signals, base: computeScore(base), thresholds, details };
}

function findBase(): Weight {
  return findWeight('base') ?? { standard: 0, heavy: 0 };
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
  const own = scorePrompt(parts.prompt, parts, new Set(), { left: CHARACTERS_SCORED });
  return parts.ordered ? lower(own, scoreFindings(parts.ordered)) : own;
}

/** How much text is scored for one request, its parts included. */
const CHARACTERS_SCORED = 4200;
const CUTS_MAX = 4;

/**
 * The score of a text, bound by the scores of the same text without what it ends or begins with: a demand that raises
 * the score must not turn the words before it into something easier, nor an order that lowers it make them harder.
 */
function scorePrompt(
  text: string,
  parts: RequestParts,
  carried: ReadonlySet<string>,
  budget: { left: number },
): Scored {
  let findings = readWith(text, parts, carried, budget);
  let scored = scoreFindings(findings);
  const lowering = keepDirection(findings, -1);
  const rests = findings.hasCode ? [] : [cutLoweringEnd(text), cutLoweringStart(text)];
  for (let rest = text, cuts = 0; cuts < CUTS_MAX; cuts++) {
    const format = cutFormatEnd(rest);
    const shorter = format ?? (findings.endsInPayload ? undefined : cutRaisingEnd(rest));
    if (shorter === undefined || shorter.length > budget.left) break;
    findings = readWith(shorter, parts, new Set([...carried, ...keepDirection(findings, 1)]), budget);
    // The order was the only request.
    if (format === undefined && !findings.asks) break;
    scored = higher(scored, scoreFindings(findings));
    rest = shorter;
  }
  for (const rest of rests) {
    if (rest !== undefined && rest.length <= budget.left)
      scored = lower(scored, scorePrompt(rest, parts, new Set([...carried, ...lowering]), budget));
  }
  return scored;
}

function readWith(text: string, parts: RequestParts, carried: ReadonlySet<string>, budget: { left: number }): Findings {
  budget.left -= text.length;
  const findings = parts.readPrompt(text);
  return { ...findings, evidence: new Set([...findings.evidence, ...carried]) };
}

const higher = (one: Scored, other: Scored) => (other.score > one.score ? other : one);
const lower = (one: Scored, other: Scored) => (other.score < one.score ? other : one);

function keepDirection({ evidence }: Findings, direction: 1 | -1): string[] {
  return [...evidence].filter((name) => findDirection(findSignal(name)) === direction);
}

function scoreFindings(found: Findings): Scored {
  const sum = add(findBase(), add(weighWordings(found.wordings), sumWeights(found.evidence)));
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

interface FoundSignal {
  readonly name: SignalName;
  readonly weight: Weight;
  readonly evidence: readonly string[];
}

const WORDINGS_SHOWN = 8;

function listSignals({ evidence, wordings }: Findings): FoundSignal[] {
  const known = Map.groupBy([...evidence].filter(findWeight), findSignal);
  const words = sortByWeight(wordings).slice(0, WORDINGS_SHOWN);
  return SIGNAL_NAMES.flatMap((name): FoundSignal[] => {
    if (name === 'wording') {
      return words.length === 0 ? [] : [{ name, weight: weighWordings(wordings), evidence: words.map(showWording) }];
    }
    const list = known.get(name);
    if (list === undefined) return [];
    return [{ name, weight: sumWeights(list), evidence: sortByWeight(list) }];
  });
}

/** Known names, heaviest first. */
function sortByWeight(names: readonly string[]): string[] {
  const size = (name: string) => {
    const { standard, heavy } = findWeight(name)!;
    return Math.abs(standard) + Math.abs(heavy);
  };
  return names.filter(findWeight).sort((one, other) => size(other) - size(one));
}

/** `^write a` as `write a …`. */
function showWording(name: string): string {
  return name.startsWith('^') ? `${name.slice(1)} …` : name.slice(1);
}

function chooseTier(score: number, { standard, heavy }: SmartThresholds): SmartTier {
  if (score >= heavy) return 'heavy';
  return score >= standard ? 'standard' : 'lite';
}
