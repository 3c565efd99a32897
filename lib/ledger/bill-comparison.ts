// Compares the bill of a vendor with the attempts that the gateway has booked, by day and model.
import { DAY_MS } from '../base/durations.ts';
import type { Attempt } from '../money/attempt.ts';
import { countPrompt } from '../money/price.ts';
import { readTokens } from '../money/token-usage.ts';
import type { AttemptStore } from '../store/ports/attempts.ts';
import { walkFrom } from '../store/walks.ts';
import type { BillLine } from './vendor-bill.ts';

interface ComparisonOptions {
  /** Only attempts at this upstream; absent: at any that has a model of the bill. */
  readonly upstream?: string | undefined;
  /** That of the bill. */
  readonly currency: string;
}

/** A day and model, as billed and as booked. Costs are in micro-units of the currency. */
export interface ComparedModel {
  readonly day: string;
  readonly model: string;
  readonly billed: BilledSums;
  readonly booked: BookedSums;
  /** Billed less what was reported and estimated; null if the bill has no costs. */
  readonly difference: bigint | null;
}

interface BilledSums {
  readonly requests: number;
  readonly promptTokens: number | null;
  readonly outputTokens: number | null;
  readonly cost: bigint | null;
}

interface BookedSums {
  readonly requests: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly reported: bigint;
  readonly estimated: bigint;
  readonly possible: bigint;
}

/** A call behind a difference. */
export interface DifferingCall {
  readonly day: string;
  readonly model: string;
  readonly requestId: string | null;
  /** Undefined if the gateway has not booked it. */
  readonly attempt: Attempt | undefined;
  /** Undefined if the vendor has not billed it, or bills no single calls. */
  readonly billed: bigint | undefined;
}

export interface Comparison {
  readonly rows: readonly ComparedModel[];
  /** Of days and models that differ: what differs, or without ids in the bill, what was not reported. */
  readonly calls: readonly DifferingCall[];
}

const ATTEMPTS_PER_PAGE = 1000;
const CALLS_MAX = 1000;
/** The costs of a bill are in millionths of a micro-unit. */
const PER_MICRO = 1_000_000n;

export async function compareBill(
  attempts: Pick<AttemptStore, 'page'>,
  lines: readonly BillLine[],
  options: ComparisonOptions,
): Promise<Comparison> {
  const days = lines.map(({ day }) => day).sort();
  const from = Date.parse(days[0] ?? '');
  const to = Date.parse(days.at(-1) ?? '') + DAY_MS;
  const groups = groupLines(lines);
  const nameModel = createModelNames(lines);
  const callsById = new Map(lines.flatMap((line) => (line.requestId === null ? [] : [[line.requestId, line]])));
  const seen = new Set<string>();
  const calls: DifferingCall[] = [];
  for await (const attempt of readAttempts(attempts, { from, to })) {
    const model = nameModel(attempt.upstreamModel ?? '');
    if (options.upstream === undefined ? model === undefined : attempt.upstream !== options.upstream) continue;
    const day = new Date(attempt.at).toISOString().slice(0, 10);
    const group = findGroup(groups, day, model ?? attempt.upstreamModel ?? '');
    addAttempt(group, attempt, options.currency);
    const line = attempt.requestId === null ? undefined : callsById.get(attempt.requestId);
    if (line) seen.add(line.requestId as string);
    if (calls.length < CALLS_MAX && isSuspect(attempt, line, callsById.size > 0)) {
      const billed = line?.cost == null ? undefined : toMicro(line.cost);
      calls.push({ day, model: group.model, requestId: attempt.requestId, attempt, billed });
    }
  }
  for (const line of lines) {
    if (line.requestId === null || seen.has(line.requestId) || calls.length >= CALLS_MAX) continue;
    const { day, model, requestId, cost } = line;
    calls.push({ day, model, requestId, attempt: undefined, billed: cost === null ? undefined : toMicro(cost) });
  }
  const rows = [...groups.values()].map(toComparedModel).sort(compareRows);
  const differing = new Set(rows.filter(differs).map(({ day, model }) => `${day} ${model}`));
  return { rows, calls: calls.filter(({ day, model }) => differing.has(`${day} ${model}`)) };
}

/** Whether a day and model are not as booked. */
export function differs({ billed, booked, difference }: ComparedModel): boolean {
  if (difference !== null) return difference !== 0n;
  const { promptTokens, outputTokens } = billed;
  return (
    (promptTokens !== null && promptTokens !== booked.promptTokens) ||
    (outputTokens !== null && outputTokens !== booked.outputTokens)
  );
}

async function* readAttempts(
  attempts: Pick<AttemptStore, 'page'>,
  span: { readonly from: number; readonly to: number },
): AsyncGenerator<Attempt> {
  const limit = ATTEMPTS_PER_PAGE;
  const read = (after?: Attempt) => attempts.page({ ...span, limit, ...(after && { after }) });
  for await (const page of walkFrom(limit, read)) yield* page;
}

interface Group {
  readonly day: string;
  readonly model: string;
  billed: { requests: number; promptTokens: number | null; outputTokens: number | null; cost: bigint | null };
  booked: { -readonly [Name in keyof BookedSums]: BookedSums[Name] };
}

function groupLines(lines: readonly BillLine[]): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const { day, model, requests, promptTokens, outputTokens, cost } of lines) {
    const { billed } = findGroup(groups, day, model);
    billed.requests += requests;
    billed.promptTokens = addKnown(billed.promptTokens, promptTokens);
    billed.outputTokens = addKnown(billed.outputTokens, outputTokens);
    if (cost !== null) billed.cost = (billed.cost ?? 0n) + cost;
  }
  return groups;
}

function findGroup(groups: Map<string, Group>, day: string, model: string): Group {
  const name = `${day} ${model}`;
  const found = groups.get(name);
  if (found) return found;
  const billed = { requests: 0, promptTokens: null, outputTokens: null, cost: null };
  const sums = { requests: 0, promptTokens: 0, outputTokens: 0, reported: 0n, estimated: 0n, possible: 0n };
  const made: Group = { day, model, billed, booked: sums };
  groups.set(name, made);
  return made;
}

function addKnown(sum: number | null, count: number | null): number | null {
  return count === null ? sum : (sum ?? 0) + count;
}

function addAttempt({ booked }: Group, { certainty, usage, cost }: Attempt, currency: string): void {
  if (certainty === 'none') return;
  booked.requests += 1;
  if (cost?.currency === currency) booked[certainty] += cost.cost;
  if (certainty === 'possible' || usage === null) return;
  const tokens = readTokens({ tokens_output: 0, ...JSON.parse(usage) });
  booked.promptTokens += tokens ? countPrompt(tokens) : 0;
  booked.outputTokens += tokens?.output ?? 0;
}

/** A bill with single calls names what differs; without them, what was not reported may. */
function isSuspect({ certainty, cost }: Attempt, line: BillLine | undefined, hasIds: boolean): boolean {
  if (!hasIds) return certainty === 'estimated' || certainty === 'possible';
  if (!line) return certainty !== 'none';
  return line.cost !== null && cost !== null && toMicro(line.cost) !== cost.cost;
}

/**
 * The name on the bill of a route's model: the same, or with the date of a version behind it. Undefined if the bill has
 * no such model.
 */
function createModelNames(lines: readonly BillLine[]): (upstreamModel: string) => string | undefined {
  const names = [...new Set(lines.map(({ model }) => model))];
  const known = new Map<string, string | undefined>();
  return (upstreamModel) => {
    if (known.has(upstreamModel)) return known.get(upstreamModel);
    const isVersion = (name: string) =>
      name.startsWith(upstreamModel) && /^[-@:]\d{4}[\d-]*$/.test(name.slice(upstreamModel.length));
    const name = names.includes(upstreamModel) ? upstreamModel : names.find(isVersion);
    known.set(upstreamModel, name);
    return name;
  };
}

function toComparedModel({ day, model, billed, booked }: Group): ComparedModel {
  const cost = billed.cost === null ? null : toMicro(billed.cost);
  const difference = cost === null ? null : cost - booked.reported - booked.estimated;
  return { day, model, billed: { ...billed, cost }, booked, difference };
}

function toMicro(cost: bigint): bigint {
  return (cost + PER_MICRO / 2n) / PER_MICRO;
}

function compareRows(one: ComparedModel, other: ComparedModel): number {
  const [a, b] = [one, other].map(({ day, model }) => `${day} ${model}`) as [string, string];
  return a < b ? -1 : 1;
}
