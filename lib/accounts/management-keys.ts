// Keys of the management API: created, listed and revoked by operators, and for one account by its owners.
import { randomBytes } from 'node:crypto';
import { DAY_MS } from '../base/durations.ts';
import { isOneLine } from '../base/one-line.ts';
import { OperatorError, UnknownError } from '../base/operator-error.ts';
import type { ManagementKey } from '../store/ports/management.ts';
import type { Store } from '../store/store.ts';
import { hashKey, isWellFormedKey, MANAGEMENT_MARK, makeKey } from './key.ts';
import { checkRequestLimits } from './limits.ts';

/** What keys of operators may do. */
export const OPERATOR_SCOPES = ['accounts', 'keys', 'topup', 'usage', 'catalog:read', 'holds', 'people'] as const;

/** `account`: the key of an owner, for one account and nothing else. */
export type ManagementScope = (typeof OPERATOR_SCOPES)[number] | 'account';

/** The maximum of active keys: of operators together, and of each account. */
export const MANAGEMENT_KEYS_MAX = 20;

/** New ones within 24 hours: they are kept for good, and pages list all of them. */
export const NEW_MANAGEMENT_KEYS_MAX = 100;

const NAME_LENGTH_MAX = 100;

interface ManagementKeysOptions {
  readonly store: Pick<Store, 'management' | 'accounts'>;
  readonly keyPrefix: string;
  readonly clock?: () => number;
}

export interface NewManagementKey {
  readonly name: string;
  /** Of an operator's key; an owner's has only `account`. */
  readonly scopes?: readonly string[];
  /** The account of an owner's key; null for one of an operator. */
  readonly account: string | null;
  readonly addresses?: readonly string[] | null;
  readonly expiresAt?: number | null;
  readonly createdBy: string;
}

/** Every method throws `OperatorError` for a mistake and `StoreError` when the store fails. */
export interface ManagementKeys {
  /** The key's text is not stored and cannot be read again. */
  create(key: NewManagementKey): Promise<{ readonly id: string; readonly key: string }>;
  /** Oldest first: those of an account, those of operators (null), or all. */
  list(account?: string | null): Promise<readonly ManagementKey[]>;
  get(id: string): Promise<ManagementKey>;
  revoke(id: string): Promise<'revoked' | 'exists'>;
  /** The key with this text, also if it has expired; undefined if it is malformed, unknown or revoked. */
  find(text: string): Promise<ManagementKey | undefined>;
}

export function createManagementKeys({ store, keyPrefix, clock = Date.now }: ManagementKeysOptions): ManagementKeys {
  const { management, accounts } = store;

  async function list(account?: string | null): Promise<readonly ManagementKey[]> {
    if (account !== null) return management.listKeys(account);
    return (await management.listKeys()).filter((key) => key.account === null);
  }

  async function checkRoom(account: string | null, now: number): Promise<void> {
    const known = await list(account);
    if (known.filter((key) => isActiveManagementKey(key, now)).length >= MANAGEMENT_KEYS_MAX) throw tooManyKeysError();
    const fresh = known.filter(({ createdAt }) => createdAt > now - DAY_MS && createdAt <= now);
    if (fresh.length >= NEW_MANAGEMENT_KEYS_MAX) throw tooManyNewKeysError();
  }

  const listActive = async (account: string | null, now: number) =>
    (await list(account)).filter((key) => isActiveManagementKey(key, now));

  return {
    async create({ name, scopes = [], account, addresses = null, expiresAt = null, createdBy }) {
      const createdAt = clock();
      checkName(name);
      if (account === null) checkScopes(scopes);
      else if (!(await accounts.get(account)))
        throw new UnknownError(`There is no account ${JSON.stringify(account)}.`);
      if (addresses) checkRequestLimits({ addresses });
      if (expiresAt !== null && expiresAt <= createdAt) throw new OperatorError('The expiry date is in the past.');
      await checkRoom(account, createdAt);
      const key = makeKey(keyPrefix, MANAGEMENT_MARK);
      const id = `mk_${randomBytes(12).toString('hex')}`;
      await management.addKey({
        id,
        name: name.trim(),
        hash: hashKey(key),
        last4: key.slice(-4),
        scopes: account === null ? [...new Set(scopes)] : ['account'],
        account,
        addresses,
        createdBy,
        createdAt,
        expiresAt,
        revokedAt: null,
        lastUsedAt: null,
      });
      // Others may have been made since the keys were counted.
      if ((await listActive(account, createdAt)).length <= MANAGEMENT_KEYS_MAX) return { id, key };
      await management.revokeKey(id, createdAt);
      throw tooManyKeysError();
    },
    list,
    async get(id) {
      const key = await management.getKey(id);
      if (!key) throw unknownKeyError(id);
      return key;
    },
    async revoke(id) {
      const result = await management.revokeKey(id, clock());
      if (result === 'no_key') throw unknownKeyError(id);
      return result;
    },
    async find(text) {
      if (!isWellFormedKey(keyPrefix, text, MANAGEMENT_MARK)) return undefined;
      const key = await management.findKey(hashKey(text));
      return key?.revokedAt === null ? key : undefined;
    },
  };
}

export function isActiveManagementKey({ revokedAt, expiresAt }: ManagementKey, now: number): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now);
}

function tooManyNewKeysError(): OperatorError {
  return new OperatorError(`${NEW_MANAGEMENT_KEYS_MAX} keys were made within 24 hours, the maximum. Try again later.`);
}

function tooManyKeysError(): OperatorError {
  return new OperatorError(`There are ${MANAGEMENT_KEYS_MAX} active keys already, the maximum. Revoke one first.`);
}

function unknownKeyError(id: string): UnknownError {
  return new UnknownError(`There is no management key ${JSON.stringify(id.slice(0, 60))}.`);
}

function checkName(name: string): void {
  const trimmed = name.trim();
  if (trimmed === '' || trimmed.length > NAME_LENGTH_MAX || !isOneLine(trimmed)) {
    throw new OperatorError(`A name has 1 to ${NAME_LENGTH_MAX} characters, without control characters.`);
  }
}

function checkScopes(scopes: readonly string[]): void {
  const known: readonly string[] = OPERATOR_SCOPES;
  const wrong = scopes.find((scope) => !known.includes(scope));
  if (wrong !== undefined || scopes.length === 0) {
    const what =
      wrong === undefined ? 'A key needs a scope' : `There is no scope ${JSON.stringify(wrong.slice(0, 60))}`;
    throw new OperatorError(`${what}: choose from ${OPERATOR_SCOPES.join(', ')}.`);
  }
}
