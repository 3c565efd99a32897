// What calls cost, and how the money of one call moved.

import { OperatorError, UnknownError } from '../../base/operator-error.ts';
import { readChargeId } from '../../calls/charge-id.ts';
import { toVideoId } from '../../calls/videos/job-id.ts';
import type { Attempt } from '../../money/attempt.ts';
import type { Charge, Entry, Usage } from '../../money/decide.ts';
import { parseGrantParts, sumParts } from '../../money/grants.ts';
import type { Job } from '../../money/job-rules.ts';
import { compareWithList, computeDifference } from '../../money/list-price.ts';
import { type Micro, toRub } from '../../money/money.ts';
import { itemizeTokens } from '../../money/token-receipt.ts';
import { TOKEN_NAMES } from '../../money/token-usage.ts';
import type { ChargeFilter } from '../../store/ports/ledger.ts';
import { type Answer, formatMoney, formatPairs, formatTable, toTime } from '../answer.ts';
import { checkSpan } from '../arguments.ts';
import { OPERATOR_FIELDS } from '../operator-fields.ts';
import { findAccount, type Session } from '../session.ts';
import { archivedNote } from './archived-note.ts';
import { attemptJson, formatAttempts } from './attempt.ts';
import { changeJson } from './wallet-answer.ts';

export const chargeActions = { list, show };

interface ListOptions extends ChargeFilter {
  readonly limit: number;
  readonly before?: string;
}

async function list(session: Session, name: string, options: ListOptions): Promise<Answer> {
  const { limit, before, ...filter } = options;
  checkSpan(filter);
  const { store } = session;
  const { id } = await findAccount(session, name);
  if (before !== undefined && (await store.ledger.charge(before))?.wallet !== id) throw await unknownCharge(before);
  const charges = await store.ledger.charges(id, { limit, filter, ...(before !== undefined && { before }) });
  const next = charges.length === limit ? (charges.at(-1)?.id ?? null) : null;
  const rows = charges.map(({ id, createdAt, kind, model, state, reserved, charged }) => [
    id,
    toTime(createdAt),
    kind,
    model,
    state,
    formatMoney(reserved),
    formatMoney(charged),
  ]);
  const table = formatTable(['request', 'created', 'kind', 'model', 'state', ' reserved', ' charged'], rows);
  const more = next === null ? '' : `\nOlder calls: repeat with --before ${next}`;
  const archived = await archivedNote(store, id);
  return {
    json: { charges: charges.map(chargeJson), next },
    text: (rows.length === 0 ? 'No calls.' : table + more) + archived,
  };
}

interface ShowOptions {
  /** Of an owner: no call of others, and none of an archive, which may take minutes to read. */
  readonly account?: string | undefined;
}

async function show({ store }: Session, text: string, { account }: ShowOptions = {}): Promise<Answer> {
  const id = readChargeId(text);
  const charge = await store.ledger.charge(id);
  if (account !== undefined && charge?.wallet !== account) throw unknownToAccount(id);
  if (!charge) return showArchived(store, id);
  const found = {
    charge,
    entries: await store.ledger.listChargeEntries(charge.id),
    attempts: await store.attempts.list([charge.id]),
    job: await findJob(store, charge),
  };
  return { json: toJson(found), text: toText(found) };
}

async function showArchived(store: Session['store'], id: string): Promise<Answer> {
  const { findArchived } = await import('../../ledger/archive-find.ts');
  const found = await findArchived(store, id);
  if (!found) throw await unknownCharge(id);
  const { file } = found.archive;
  if (!found.call) {
    throw new OperatorError(`Calls of that time have left for the archive ${file}, which is not there: put it back.`);
  }
  const whole = { ...found.call, job: undefined };
  return { json: { ...toJson(whole), archived: file }, text: `${toText(whole)}\n\nArchived in ${file}.` };
}

interface Found {
  readonly charge: Charge;
  readonly entries: readonly Entry[];
  readonly attempts: readonly Attempt[];
  /** The video that the charge pays for. */
  readonly job: Job | undefined;
}

async function findJob({ jobs }: Session['store'], { id, kind }: Charge): Promise<Job | undefined> {
  return kind === 'video' ? jobs.get(toVideoId(id)) : undefined;
}

const jobFacts = ({ facts }: Job): Readonly<Record<string, string | number | null>> => JSON.parse(facts);

/** The state of a video. */
function videoJson(job: Job) {
  const { id, upstream, phase, progress, error, deadline } = job;
  const { seconds, size, aspect, resolution } = jobFacts(job);
  const wanted = { seconds, size, aspect, resolution };
  return { id, upstream, phase, progress, error, ...wanted, deadline: toTime(deadline) };
}

/** The same for calls of others, for archived ones, and for those that there never were. */
function unknownToAccount(id: string): Error {
  return new UnknownError(`The account has no ${`call ${JSON.stringify(id)}`.slice(0, 60)}.`);
}

async function unknownCharge(id: string): Promise<Error> {
  const { quote } = await import('../../accounts/accounts.ts');
  return new UnknownError(`There is no charge ${quote(id)}. Calls refused before they began have none.`);
}

function toText(found: Found): string {
  const { charge, entries, job } = found;
  const pairs = formatPairs([
    ['request', charge.id],
    ['account', charge.wallet],
    ['key id', charge.key],
    ['kind', charge.kind],
    ['model', charge.model],
    ['state', charge.state],
    ['reserved', formatMoney(charge.reserved)],
    ['charged', formatMoney(charge.charged)],
    ...(charge.grants === undefined ? [] : [['of it by grants', formatMoney(sumGrants(charge))] as const]),
    ...listPrices(charge.prices).map(({ path, micro }) => [`price ${path}`, formatMoney(micro)] as const),
    ...Object.entries(parseUsage(charge)).map(([name, value]) => [name.replaceAll('_', ' '), String(value)] as const),
    ...receiptPairs(charge),
    ...listPricePairs(charge),
    ['created', toTime(charge.createdAt)],
    ['ended', toTime(charge.endedAt) ?? '-'],
    ...Object.entries(job ? videoJson(job) : {}).map(
      ([name, value]) => [`video ${name}`, String(value ?? '-')] as const,
    ),
  ]);
  const rows = entries.map(({ at, kind, avail, held, charged }) => [
    toTime(at),
    kind,
    formatMoney(avail),
    formatMoney(held),
    formatMoney(charged),
  ]);
  return `${pairs}\n\n${formatTable(['entry', 'kind', ' balance', ' held', ' charged'], rows)}${formatAttempts(found.attempts)}`;
}

/** What grants pay of the hold, or of what was charged. */
function sumGrants({ grants }: Charge): Micro {
  return sumParts(parseGrantParts(grants));
}

function chargeJson(charge: Charge) {
  return {
    request_id: charge.id,
    account_id: charge.wallet,
    key_id: charge.key,
    kind: charge.kind,
    model: charge.model,
    state: charge.state,
    reserved_rub: toRub(charge.reserved),
    charged_rub: toRub(charge.charged),
    granted_rub: charge.grants === undefined ? undefined : toRub(sumGrants(charge)),
    prices_rub: Object.fromEntries(listPrices(charge.prices).map(({ path, micro }) => [path, toRub(micro)])),
    ...parseUsage(charge),
    receipt: receiptJson(charge),
    ...listPriceJson(charge),
    created_at: toTime(charge.createdAt),
    ended_at: toTime(charge.endedAt),
  };
}

function toJson({ charge, entries, attempts, job }: Found) {
  const { entries: moved, ...facts } = callJson(charge, entries);
  return { ...facts, video: job && videoJson(job), attempts: attempts.map(attemptJson), entries: moved };
}

/** What an owner may see of a call. */
export function ownerCallJson(charge: Charge, entries: readonly Entry[]) {
  const facts = Object.entries(callJson(charge, entries));
  return Object.fromEntries(facts.filter(([name]) => !OPERATOR_FIELDS.includes(name)));
}

export function callJson(charge: Charge, entries: readonly Entry[]) {
  return {
    ...chargeJson(charge),
    entries: entries.map((entry) => ({
      seq: entry.seq,
      at: toTime(entry.at),
      kind: entry.kind,
      change: changeJson(entry),
      overshoot_rub: toRub(entry.overshoot),
    })),
  };
}

function parseUsage({ usage }: Charge): Usage {
  return usage === null ? {} : JSON.parse(usage);
}

/** How the cost of a call follows from its tokens: a line for each kind, before the minimum. */
function receiptPairs(charge: Charge): readonly (readonly [string, string])[] {
  const receipt = itemizeTokens(charge);
  if (!receipt) return [];
  const { lines, above, total, saved } = receipt;
  return [
    ...(above === undefined ? [] : [['price band', `prompts longer than ${above} tokens`] as const]),
    ...lines.map(({ kind, count, rate, cost }) => {
      return [`cost ${LINE_NAMES[kind]}`, `${count} × ${formatMoney(rate)} per 1M = ${formatMoney(cost)}`] as const;
    }),
    ['cost total', formatMoney(total)],
    ...(saved === 0n ? [] : [['cache saved', formatMoney(saved)] as const]),
  ];
}

const LINE_NAMES = {
  input: 'input',
  audio: 'audio',
  cacheRead: 'cache read',
  cacheWrite: 'cache write 5 min',
  cacheWrite1h: 'cache write 1 h',
  output: 'output',
} as const;

/** Absent for calls that are not billed by tokens. */
function receiptJson(charge: Charge): object | undefined {
  const receipt = itemizeTokens(charge);
  return (
    receipt && {
      band_above: receipt.above ?? null,
      lines: receipt.lines.map(({ kind, count, rate, cost }) => {
        return { tokens: TOKEN_NAMES[kind], count, rub_per_mtok: toRub(rate), rub: toRub(cost) };
      }),
      total_rub: toRub(receipt.total),
      cache_saved_rub: toRub(receipt.saved),
    }
  );
}

/** Empty for a call at list prices. */
function listPricePairs(charge: Charge): readonly (readonly [string, string])[] {
  const found = compareWithList(charge);
  if (!found) return [];
  const { name, version, amount } = found;
  const list = ['price list', `${name} (version ${version})`] as const;
  if (amount === undefined) return [list];
  const percent = computeDifference(amount, charge.charged);
  const difference = percent === undefined ? '' : `, ${percent > 0 ? '+' : ''}${percent} %`;
  return [list, ['list price', `${formatMoney(amount)}, charged ${formatMoney(charge.charged)}${difference}`]];
}

/** Empty for calls at list prices. */
function listPriceJson(charge: Charge): object {
  const found = compareWithList(charge);
  if (!found) return {};
  const { name, version, amount } = found;
  const percent = amount === undefined ? undefined : computeDifference(amount, charge.charged);
  const listPrice = { rub: amount === undefined ? null : toRub(amount), difference_percent: percent ?? null };
  return { price_list: { name, version }, list_price: listPrice };
}

/** The prices of a call, stored as JSON in micro-roubles, with paths such as `input`, `above_200000.input`, `second.720p`. */
function listPrices(prices: string): { path: string; micro: bigint }[] {
  const walk = (value: unknown, path: string): { path: string; micro: bigint }[] => {
    if (typeof value === 'string') return /^\d+$/.test(value) ? [{ path, micro: BigInt(value) }] : [];
    if (typeof value !== 'object' || value === null) return [];
    if (Array.isArray(value)) return value.flatMap((band) => walk(band, `above_${band?.above}`));
    return Object.entries(value).flatMap(([name, inner]) => walk(inner, path ? `${path}.${name}` : name));
  };
  const { list: _, ...own } = JSON.parse(prices);
  return walk(own, '');
}
