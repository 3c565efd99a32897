// API keys of an account: issues, limits, rotates, lists and revokes them.
import { InvalidInputError } from '../../base/operator-error.ts';
import { getBudgetKeyId, indexSums } from '../../money/budget.ts';
import { isExpired } from '../../money/key-limits.ts';
import { type Micro, toRub } from '../../money/money.ts';
import type { KeyRow } from '../../store/ports/keys.ts';
import { type Answer, formatPairs, formatTable, toTime } from '../answer.ts';
import { findAccount, openAccounts, type Session } from '../session.ts';
import { computeSpent, formatLimits, type LimitOptions, limitsJson, readLimitChanges } from './key-limits.ts';

export const keyActions = { issue, limit, rotate, list, revoke };

async function issue(
  session: Session,
  account: string,
  { name, ...limits }: { name: string } & LimitOptions,
): Promise<Answer> {
  if (limits.reset !== undefined && limits.budget === undefined) {
    throw new InvalidInputError('--reset needs --budget: without it the key may spend everything.');
  }
  const { id, key } = await (await openAccounts(session)).issueKey(account, name, readLimitChanges(limits));
  return { json: { key_id: id, key }, text: formatNewKey({ id, key }) };
}

/** The output for a new key, which is shown only once. */
function formatNewKey(
  { id, key }: { readonly id: string; readonly key: string },
  more: readonly [string, string][] = [],
): string {
  const pairs = formatPairs([['key id', id], ['key', key], ...more]);
  return `${pairs}\nSave the key now: it is not stored and cannot be shown again.`;
}

async function rotate(session: Session, before: string, { hours }: { hours: number }): Promise<Answer> {
  const { id, key, endsAt } = await (await openAccounts(session)).rotateKey(before, hours);
  const end = toTime(endsAt) ?? '';
  return {
    json: { key_id: id, key, replaces: before, ends_at: end },
    text: formatNewKey({ id, key }, [[`${before} ends`, end]]),
  };
}

async function limit(session: Session, id: string, options: LimitOptions): Promise<Answer> {
  const key = await session.store.keys.get(id);
  if (options.reset !== undefined && options.budget === undefined) {
    if (key?.limits.budget === null) throw new InvalidInputError('--reset needs --budget: the key has no budget.');
  }
  const { limits } = await (await openAccounts(session)).limitKey(id, readLimitChanges(options, key?.limits));
  return { json: { key_id: id, ...limitsJson(limits) }, text: `Limits of key ${id}: ${formatLimits(limits)}.` };
}

async function list(session: Session, account: string): Promise<Answer> {
  const { id } = await findAccount(session, account);
  const keys = await (await openAccounts(session)).listKeys(id);
  const limited = keys.filter(({ limits }) => limits.budget !== null);
  const sums = indexSums(await session.store.ledger.budgets(limited.map(getBudgetKeyId)));
  const spent = new Map(limited.map((key) => [key.id, computeSpent(key, sums.get(getBudgetKeyId(key)))]));
  const rows = keys.map((key) => {
    const { id, last4, requestsCount, lastUsedAt, name } = key;
    const used = [String(requestsCount), toTime(lastUsedAt) ?? 'never'];
    return [id, `…${last4}`, findStatus(key), ...used, formatLimits(key.limits, spent.get(id)), name];
  });
  const head = ['key id', 'key', 'status', ' requests', 'last used', 'limits', 'name'];
  return {
    json: { account_id: id, keys: keys.map((key) => toJson(key, spent.get(key.id))) },
    text: rows.length === 0 ? 'No keys.' : formatTable(head, rows),
  };
}

async function revoke(session: Session, id: string): Promise<Answer> {
  const repeated = (await (await openAccounts(session)).revokeKey(id)) === 'exists';
  return {
    json: { key_id: id, status: 'revoked', repeated },
    text: repeated ? `Key ${id} was already revoked.` : `Key ${id} is revoked.`,
  };
}

function findStatus({ revokedAt, limits }: KeyRow): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== null) return 'revoked';
  return isExpired(limits, Date.now()) ? 'expired' : 'active';
}

function toJson(key: KeyRow, spent: Micro | undefined) {
  return {
    key_id: key.id,
    name: key.name,
    last4: key.last4,
    status: findStatus(key),
    created_at: toTime(key.createdAt),
    revoked_at: toTime(key.revokedAt),
    requests_count: key.requestsCount,
    last_used_at: toTime(key.lastUsedAt),
    ...limitsJson(key.limits),
    spent_rub: spent === undefined ? null : toRub(spent),
    budget_shared_with: key.budgetKey,
  };
}
