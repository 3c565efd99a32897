// Moves the accounts of another gateway into a store: names, balances, keys, suspensions and price lists. Every step has an
// id that follows from the source, so that the same run may be repeated and changes nothing more.
import { createHash } from 'node:crypto';
import { hashKey } from '../accounts/key.ts';
import { checkLimits, checkRequestLimits, type RequestedLimits } from '../accounts/limits.ts';
import { noteMovedKeys, toMovedKey } from '../accounts/moved-keys.ts';
import { HOUR_MS } from '../base/durations.ts';
import { OperatorError } from '../base/operator-error.ts';
import { bookOperation } from '../ledger/booking.ts';
import { type AdjustOp, getOperationId } from '../money/decide.ts';
import { NO_LIMITS } from '../money/key-limits.ts';
import { AMOUNT_MAX, formatRub, type Micro } from '../money/money.ts';
import type { AutoTopup } from '../store/ports/accounts.ts';
import type { NewKey } from '../store/ports/keys.ts';
import type { Store } from '../store/store.ts';
import { quotaToMicro } from './amounts.ts';
import type { Source, SourceKey, SourceUser } from './source.ts';

export interface MoveOptions {
  /** Tells apart several installations of a program. */
  readonly installation: string;
  /** Nothing is written. */
  readonly isDry: boolean;
  /** By group: the price list of its users. */
  readonly lists: ReadonlyMap<string, string>;
  readonly now: number;
}

export interface MovedKey {
  readonly id: string;
  readonly name: string;
  readonly state: 'moved' | 'there' | 'planned' | 'left out';
  /** What is different here, or why it was left out. */
  readonly notes: readonly string[];
}

export interface MovedAccount {
  readonly user: SourceUser;
  readonly id: string;
  readonly name: string;
  /** The balance there, by the rate. */
  readonly before: Micro;
  /** The balance that moved in; null: none did. */
  readonly after: Micro | null;
  readonly state: 'moved' | 'there' | 'planned' | 'refused';
  readonly priceList: string | undefined;
  readonly keys: readonly MovedKey[];
  readonly notes: readonly string[];
}

const NO_TOPUP: AutoTopup = { enabled: false, amount: 0n, threshold: 0n };
const NAME_LENGTH_MAX = 100;
/** Accounts may bring more keys than they could make here. */
const KEYS_MAX = 1_000_000;
/** An hour after the epoch: such a key is refused. */
const LONG_AGO = HOUR_MS;

/** Without a store, what would move into a new one. */
export async function* moveAccounts(
  store: Store | undefined,
  source: Source,
  options: MoveOptions,
): AsyncGenerator<MovedAccount> {
  const keys = Map.groupBy(source.keys, ({ user }) => user);
  if (store && !options.isDry) await noteMovedKeys(store, listHashes(source.keys));
  for (const user of source.users) {
    yield await moveAccount(store, { source, user, keys: keys.get(user.id) ?? [] }, options);
  }
  // Once more: another command that had read them before may have written over them.
  if (store && !options.isDry) await noteMovedKeys(store, listHashes(source.keys));
}

function listHashes(keys: readonly SourceKey[]): readonly string[] {
  return keys.flatMap(({ secret }) => {
    const key = toMovedKey(secret);
    return key === undefined ? [] : [hashKey(key)];
  });
}

interface Move {
  readonly source: Source;
  readonly user: SourceUser;
  readonly keys: readonly SourceKey[];
}

async function moveAccount(store: Store | undefined, move: Move, options: MoveOptions): Promise<MovedAccount> {
  const { source, user } = move;
  const id = makeId('acc', [options.installation, 'user', user.id]);
  const name = cleanName(user.name) || `user ${user.id}`;
  const before = quotaToMicro(user.quota, source.exchange);
  const wished = options.lists.get(user.group);
  const told = { user, id, name, before, priceList: wished };
  const notes = user.isAdministrator ? ['an administrator there; "tollgate operator create" makes one here'] : [];
  if (before > AMOUNT_MAX || before < -AMOUNT_MAX) {
    const why = `a balance of ${formatRub(before)} RUB is more than a wallet takes: set another one there, and repeat`;
    return { ...told, after: null, state: 'refused', keys: [], notes: [...notes, why] };
  }
  const found = await store?.accounts.get(id);
  if (!store || options.isDry) {
    const keys = move.keys.map((key) => planKey(key, { id, move, options }).told);
    return { ...told, after: before, state: found ? 'there' : 'planned', keys, notes };
  }
  if (!found) {
    const createdAt = user.createdAt ?? options.now;
    await store.accounts.put([
      { id, name, createdAt, autoTopup: NO_TOPUP, ...(wished !== undefined && { priceList: wished }) },
    ]);
  }
  const { after, problem } = await moveBalance(store, { id, amount: before, user, options });
  if (problem !== undefined) return { ...told, after, state: 'refused', keys: [], notes: [...notes, problem] };
  if (!user.isActive) await suspend(store, id, options);
  const keys: MovedKey[] = [];
  for (const key of move.keys) keys.push(await moveKey(store, planKey(key, { id, move, options })));
  return { ...told, after, state: found ? 'there' : 'moved', keys, notes };
}

interface Balance {
  readonly id: string;
  readonly amount: Micro;
  readonly user: SourceUser;
  readonly options: MoveOptions;
}

/** A user who has never had anything pays a first top-up like a new account. */
async function moveBalance(store: Store, { id, amount, user, options }: Balance) {
  const { installation, now } = options;
  const op: AdjustOp = {
    kind: 'adjust',
    wallet: id,
    at: now,
    amount,
    reason: describeOrigin(installation, user),
    adjustId: `moved-in:${installation}:${user.id}`,
    movesIn: true,
  };
  const prior = await store.ledger.entry(getOperationId(op));
  if (!prior && amount === 0n && user.used === 0n) return { after: 0n, problem: undefined };
  const { status } = await bookOperation(store, op);
  const after = (await store.ledger.entry(getOperationId(op)))?.avail ?? null;
  if (status === 'done' || status === 'exists') return { after, problem: undefined };
  const had = after === null ? `the ledger refused it: ${status}` : `${formatRub(after)} RUB moved in before`;
  return { after, problem: `${had}, and the store says ${formatRub(amount)} RUB now: the difference is left to you` };
}

function describeOrigin(installation: string, { id, email }: SourceUser): string {
  return cutText(`moved in from ${installation}, user ${id}${email === '' ? '' : `, ${email}`}`, 200);
}

async function suspend(store: Store, id: string, { installation, now }: MoveOptions): Promise<void> {
  await bookOperation(store, { kind: 'suspend', wallet: id, at: now, changeId: `moved-in:${installation}:${id}` });
}

interface PlannedKey {
  readonly row: NewKey | undefined;
  /** It is revoked at once. */
  readonly isRevoked: boolean;
  readonly now: number;
  readonly told: MovedKey;
}

function planKey(
  key: SourceKey,
  { id: account, move, options }: { id: string; move: Move; options: MoveOptions },
): PlannedKey {
  const { installation, now, isDry } = options;
  const text = toMovedKey(key.secret);
  const name = cleanName(key.name) || `key ${key.id}`;
  const id = makeId('key', [installation, 'key', key.id]);
  if (text === undefined) {
    const notes = ['its text is too short, or has blanks or other characters that no key has'];
    return { row: undefined, isRevoked: false, now, told: { id, name, state: 'left out', notes } };
  }
  const { limits, notes, isUsable } = readLimits(key, move.source, now);
  const isRevoked = !key.isActive || !isUsable;
  // Refused from the start, even before it is revoked.
  const kept = isRevoked
    ? { ...limits, expiresAt: limits.expiresAt === null ? LONG_AGO : Math.min(limits.expiresAt, LONG_AGO) }
    : limits;
  const row = { id, account, name, hash: hashKey(text), last4: text.slice(-4), createdAt: key.createdAt ?? now };
  const said = key.isActive ? notes : ['disabled there: it comes as a revoked key', ...notes];
  return {
    row: { ...row, limits: { ...NO_LIMITS, ...kept } },
    isRevoked,
    now,
    told: { id, name, state: isDry ? 'planned' : 'moved', notes: said },
  };
}

interface ReadLimits {
  readonly limits: RequestedLimits;
  readonly notes: readonly string[];
  /** False if a limit cannot be kept, and the key would be wider without it. */
  readonly isUsable: boolean;
}

/** The smallest budget: nothing can be spent, and its owner may raise it. */
const EXHAUSTED: Micro = 1n;

function readLimits({ budget, expiresAt, models, addresses }: SourceKey, source: Source, now: number): ReadLimits {
  const notes: string[] = [];
  const left = budget === null ? null : quotaToMicro(budget, source.exchange);
  if (left !== null && left <= 0n) notes.push('its budget is used up: it spends nothing until its owner raises it');
  if (left !== null && left > AMOUNT_MAX) notes.push('its budget is above the largest one, and comes as none');
  const spendable = left === null || left > AMOUNT_MAX ? null : left > 0n ? left : EXHAUSTED;
  if (expiresAt !== null && expiresAt <= now) notes.push('it has expired');
  const allowed = models && keepValid(models, (model) => checkLimits({ ...NO_LIMITS, models: [model] }, now), 200);
  // Not `::/0`: there it lets no IPv4 address in.
  const isEverywhere = addresses?.some((address) => /^[\d.]+\/0$/.test(address)) === true;
  const from =
    isEverywhere || !addresses
      ? null
      : keepValid(addresses, (address) => checkRequestLimits({ addresses: [address] }), 100);
  for (const [what, list] of [
    ['models', allowed],
    ['addresses', from],
  ] as const) {
    if (list && list.dropped.length > 0)
      notes.push(`these ${what} of its limit are left out: ${cutText(list.dropped.join(', '), 1000)}`);
    if (list && list.kept.length === 0)
      notes.push(`nothing of its limit of ${what} can be kept: it comes as a revoked key`);
  }
  const isUsable = allowed?.kept.length !== 0 && from?.kept.length !== 0;
  const allowedModels = allowed && allowed.kept.length > 0 ? allowed.kept : null;
  const requests = from && from.kept.length > 0 ? { requests: { addresses: from.kept } } : {};
  return {
    limits: { ...NO_LIMITS, budget: spendable, expiresAt, models: allowedModels, ...requests },
    notes,
    isUsable,
  };
}

function keepValid(values: readonly string[], check: (value: string) => void, most: number) {
  const kept: string[] = [];
  const dropped: string[] = [];
  for (const value of values) (kept.length < most && isValid(value, check) ? kept : dropped).push(value);
  return { kept, dropped };
}

function isValid(value: string, check: (value: string) => void): boolean {
  try {
    check(value);
    return true;
  } catch (error) {
    if (error instanceof OperatorError) return false;
    throw error;
  }
}

async function moveKey(store: Store, { row, isRevoked, now, told }: PlannedKey): Promise<MovedKey> {
  if (!row) return told;
  const found = await store.keys.find(row.hash);
  if (found && found.id !== row.id) {
    return { ...told, state: 'left out', notes: [`the key ${found.id} of ${found.account} has the same text`] };
  }
  if (!found) {
    await store.keys.add(row, KEYS_MAX).catch(async (error: unknown) => {
      // Another command has added it since.
      if ((await store.keys.find(row.hash))?.id !== row.id) throw error;
    });
  }
  if (isRevoked && (!found || found.revokedAt === null)) await store.keys.revoke(row.id, now);
  return found ? { ...told, state: 'there' } : told;
}

/** The same for the same source. */
function makeId(kind: 'acc' | 'key', parts: readonly string[]): string {
  return `${kind}_${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24)}`;
}

function cleanName(text: string): string {
  return cutText(text, NAME_LENGTH_MAX);
}

/** Cleaned again, as a cut may leave half a character. */
function cutText(text: string, length: number): string {
  return cleanText(cleanText(text).slice(0, length));
}

function cleanText(text: string): string {
  return text
    .replace(/\p{Cc}+/gu, ' ')
    .replace(/[\ud800-\udfff]/gu, '')
    .trim();
}
