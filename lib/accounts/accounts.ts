// Manages accounts and their keys: creates, lists and suspends accounts; issues, limits, rotates and revokes keys.
import { randomBytes } from 'node:crypto';
import { DAY_MS, HOUR_MS } from '../base/durations.ts';
import { isOneLine } from '../base/one-line.ts';
import { OperatorError, UnknownError } from '../base/operator-error.ts';
import { NO_LIMITS } from '../money/key-limits.ts';
import type { RequestLimits } from '../money/request-limits.ts';
import type { Account } from '../store/ports/accounts.ts';
import type { KeyRow } from '../store/ports/keys.ts';
import type { Store } from '../store/store.ts';
import { hashKey, makeKey } from './key.ts';
import { checkLimits, checkRequestLimits, dropRepeats, type RequestedLimits } from './limits.ts';
import { readZone } from './zone.ts';

/** The maximum of active keys of an account, and of each of its members beside these. */
export const ACTIVE_KEYS_MAX = 10;

/**
 * New keys of an account within 24 hours, those of its members included. Keys are kept for good, and pages read all of an
 * account: one that makes thousands would hold up everybody else.
 */
export const NEW_KEYS_MAX = 200;
const NEW_KEYS = { most: NEW_KEYS_MAX, withinMs: DAY_MS } as const;

/** How long a replaced key may keep working. */
export const ROTATION_HOURS_MAX = 720;

const NAME_LENGTH_MAX = 100;
const ID_BYTES = 12;

interface AccountsOptions {
  readonly store: Pick<Store, 'accounts' | 'keys' | 'users'>;
  readonly keyPrefix: string;
  /** ms since the epoch. */
  readonly clock?: () => number;
}

/** A new key. Its text is not stored and cannot be read again. */
interface IssuedKey {
  readonly id: string;
  readonly key: string;
}

interface RotatedKey extends IssuedKey {
  /** When the replaced key expires, ms since the epoch. */
  readonly endsAt: number;
}

/** Every method throws `OperatorError` for an operator's mistake and `StoreError` when the store fails. */
export interface Accounts {
  create(name: string): Promise<Pick<Account, 'id' | 'name'>>;
  list(): Promise<readonly Account[]>;
  get(id: string): Promise<Account>;
  /** Finds an account by its id, or by its name if only one account has it. */
  find(idOrName: string): Promise<Account>;
  rename(id: string, name: string): Promise<Account>;
  suspend(id: string): Promise<Account>;
  resume(id: string): Promise<Account>;
  /** Limits the requests of all keys of the account together; undefined removes all limits. */
  limit(id: string, limits: RequestLimits | undefined): Promise<Account>;
  /** Its calls pay the prices of the list within a second; undefined: list prices. */
  setPriceList(id: string, priceList: string | undefined): Promise<Account>;
  /** `createdBy`: the owner or member who issues it; absent: it belongs to the account. */
  issueKey(account: string, name: string, limits?: Partial<RequestedLimits>, createdBy?: string): Promise<IssuedKey>;
  /** Changes the given limits of a key that is neither revoked nor expired. Resolves to the key. */
  limitKey(id: string, change: Partial<RequestedLimits>): Promise<KeyRow>;
  /**
   * Issues a key with the same name, limits and budget as another one, which keeps working for `hours`. Both keys share
   * what is spent of the budget.
   */
  rotateKey(id: string, hours: number): Promise<RotatedKey>;
  listKeys(account: string): Promise<readonly KeyRow[]>;
  /** `exists`: the key was already revoked. */
  revokeKey(id: string): Promise<'revoked' | 'exists'>;
}

export function createAccounts({ store, keyPrefix, clock = Date.now }: AccountsOptions): Accounts {
  const { accounts, keys, users } = store;

  /** Reads nothing afterwards: a read that failed would hide the account, and another one would be made. */
  async function create(text: string): Promise<Pick<Account, 'id' | 'name'>> {
    const id = makeId('acc');
    const name = validateName(text);
    await accounts.create({ id, name, createdAt: clock() });
    return { id, name };
  }

  async function get(id: string): Promise<Account> {
    const account = await accounts.get(id);
    if (!account) throw unknownAccountError(id);
    return account;
  }

  async function find(idOrName: string): Promise<Account> {
    const account = await accounts.get(idOrName);
    if (account) return account;
    const [named, ...others] = (await accounts.list()).filter(({ name }) => name === idOrName);
    if (!named) throw new UnknownError(`There is no account ${quote(idOrName)}.`);
    if (others.length === 0) return named;
    const ids = [named, ...others].map(({ id }) => id).join(', ');
    throw new OperatorError(`Several accounts are called ${quote(idOrName)}: name one by its id (${ids}).`);
  }

  async function rename(id: string, text: string): Promise<Account> {
    if (!(await accounts.setName(id, validateName(text)))) throw unknownAccountError(id);
    return get(id);
  }

  async function setStatus(id: string, status: Account['status']): Promise<Account> {
    if (!(await accounts.setStatus(id, status))) throw unknownAccountError(id);
    return get(id);
  }

  const issueKey: Accounts['issueKey'] = async (account, name, requested = {}, createdBy) => {
    const { key, row } = generateKey();
    const { createdAt } = row;
    const limits = { ...NO_LIMITS, ...dropRepeats(requested), zone: await readZone(users, account) };
    checkLimits(limits, createdAt);
    const creator = createdBy !== undefined && { createdBy };
    const added = await keys.add(
      { ...row, account, name: validateName(name), limits, ...creator },
      ACTIVE_KEYS_MAX,
      NEW_KEYS,
    );
    if (added === 'no_account') throw unknownAccountError(account);
    if (added === 'no_member') throw new OperatorError('Only owners and members of an account may issue keys.');
    if (added === 'too_many') throw tooManyKeysError();
    if (added === 'too_many_new') throw tooManyNewKeysError();
    return { id: row.id, key };
  };

  function generateKey() {
    const key = makeKey(keyPrefix);
    return { key, row: { id: makeId('key'), hash: hashKey(key), last4: key.slice(-4), createdAt: clock() } };
  }

  async function rotateKey(id: string, hours: number): Promise<RotatedKey> {
    if (!Number.isInteger(hours) || hours < 1 || hours > ROTATION_HOURS_MAX) {
      throw new OperatorError(`A replaced key works for 1 to ${ROTATION_HOURS_MAX} hours more.`);
    }
    const before = await keys.get(id);
    if (!before) throw unknownKeyError(id);
    const { key, row } = generateKey();
    const endsAt = Math.min(row.createdAt + hours * HOUR_MS, before.limits.expiresAt ?? Number.POSITIVE_INFINITY);
    const result = await keys.replace(id, { ...row, endsAt }, ACTIVE_KEYS_MAX, NEW_KEYS);
    if (result === 'no_key') throw unknownKeyError(id);
    if (result === 'ended') throw endedKeyError(id);
    if (result === 'too_many') throw tooManyKeysError();
    if (result === 'too_many_new') throw tooManyNewKeysError();
    return { id: row.id, key, endsAt };
  }

  async function limitKey(id: string, change: Partial<RequestedLimits>): Promise<KeyRow> {
    const row = await keys.get(id);
    if (!row) throw unknownKeyError(id);
    checkLimits({ ...NO_LIMITS, ...change }, clock());
    const result = await keys.limit(id, { ...dropRepeats(change), zone: await readZone(users, row.account) }, clock());
    if (result === 'ended') throw endedKeyError(id);
    const changed = result === 'no_key' ? undefined : await keys.get(id);
    if (!changed) throw unknownKeyError(id);
    return changed;
  }

  async function listKeys(account: string): Promise<readonly KeyRow[]> {
    await get(account);
    return keys.list(account);
  }

  async function revokeKey(id: string): Promise<'revoked' | 'exists'> {
    const result = await keys.revoke(id, clock());
    if (result === 'no_key') throw unknownKeyError(id);
    return result;
  }

  return {
    create,
    list: () => accounts.list(),
    get,
    find,
    async limit(id, limits) {
      if (limits) checkRequestLimits(limits);
      if (!(await accounts.setRequestLimits(id, limits))) throw unknownAccountError(id);
      return get(id);
    },
    async setPriceList(id, priceList) {
      if (!(await accounts.setPriceList(id, priceList))) throw unknownAccountError(id);
      return get(id);
    },
    rename,
    suspend: (id) => setStatus(id, 'suspended'),
    resume: (id) => setStatus(id, 'active'),
    issueKey,
    limitKey,
    rotateKey,
    listKeys,
    revokeKey,
  };
}

export function unknownAccountError(id: string): OperatorError {
  const hint = id.startsWith('acc_')
    ? ''
    : ' An id begins with acc_: `tollgate account list` shows those of all accounts.';
  return new UnknownError(`There is no account ${quote(id)}.${hint}`);
}

function unknownKeyError(id: string): OperatorError {
  return new UnknownError(`There is no key ${quote(id)}.`);
}

function endedKeyError(id: string): OperatorError {
  return new OperatorError(`The key ${quote(id)} is revoked or expired, which is final.`);
}

function tooManyKeysError(): OperatorError {
  return new OperatorError(`The account already has ${ACTIVE_KEYS_MAX} active keys, the maximum. Revoke one first.`);
}

function tooManyNewKeysError(): OperatorError {
  return new OperatorError(
    `The account has got ${NEW_KEYS_MAX} new keys within 24 hours, the maximum. Try again later.`,
  );
}

/** Quotes an operator's text for a message: short, on one line, with visible control characters. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

function makeId(kind: 'acc' | 'key'): string {
  return `${kind}_${randomBytes(ID_BYTES).toString('hex')}`;
}

function validateName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '') throw new OperatorError('The name is empty.');
  if (trimmed.length > NAME_LENGTH_MAX)
    throw new OperatorError(`The name is longer than ${NAME_LENGTH_MAX} characters.`);
  if (!isOneLine(trimmed))
    throw new OperatorError('The name contains control characters, or nothing that can be seen.');
  return trimmed;
}
