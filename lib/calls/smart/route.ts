// The router of the `smart` model: chooses a tier by the text of the request alone, always the same for the same text.
import type { SmartRouting, SmartThresholds, SmartTier } from '../../base/smart-tiers.ts';
import { cutDemands, type Rests } from './demands.ts';
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
  return { tier: chooseTier(score, thresholds), score, signals: listSignalNames(found) };
}

/** Like `routeSmart`, with every signal, its evidence and what it added. */
export function explain(request: SmartRequest, thresholds: SmartThresholds = SMART_THRESHOLDS): SmartExplanation {
  const { score, found } = scoreRequest(request);
  const base = findBase();
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
    return { name, points, evidence: sortByWeight(evidence).slice(0, EVIDENCE_SHOWN).map(showWording) };
  });
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
  const whole = readWith(text, parts, carried, budget);
  const { unlowered, ...demands } = cutDemands(text);
  let scored = scoreFindings(whole);
  let findings = whole;
  for (let rests: Omit<Rests, 'unlowered'> = demands, cuts = 0; cuts < CUTS_MAX; cuts++) {
    const { unformatted, unraised } = rests;
    const rest = unformatted ?? (findings.endsInPayload ? undefined : unraised);
    if (rest === undefined || rest.length > budget.left) break;
    findings = readWith(rest, parts, new Set([...carried, ...keepDirection(findings, 1)]), budget);
    // The order was the only request.
    if (unformatted === undefined && !findings.asks) break;
    scored = higher(scored, scoreFindings(findings));
    rests = cutDemands(rest);
  }
  const lowering = keepDirection(whole, -1);
  for (const rest of whole.hasCode ? [] : unlowered) {
    if (rest.length <= budget.left)
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

function listSignalNames({ evidence, wordings }: Findings): SignalName[] {
  const names = new Set<SignalName>();
  for (const each of evidence) if (findWeight(each)) names.add(findSignal(each));
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

/** `^write a` as `write a …`. */
function showWording(name: string): string {
  if (name.startsWith('^')) return `${name.slice(1)} …`;
  return name.startsWith('=') ? name.slice(1) : name;
}

function chooseTier(score: number, { standard, heavy }: SmartThresholds): SmartTier {
  if (score >= heavy) return 'heavy';
  return score >= standard ? 'standard' : 'lite';
}
