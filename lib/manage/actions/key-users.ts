// What the end users of a key have spent of their budgets.
import { OperatorError, UnknownError } from '../../base/operator-error.ts';
import { endUserSumId, endUserSumIds } from '../../ledger/caps.ts';
import { getSpent } from '../../money/budget.ts';
import { toRub } from '../../money/money.ts';
import { findPeriod } from '../../money/period.ts';
import { type Answer, formatTable } from '../answer.ts';
import type { Session } from '../session.ts';

interface Query {
  readonly name?: string;
  readonly after?: string;
  readonly limit?: number;
}

export const KEY_USERS_BY_DEFAULT = 100;

export const keyUserActions = { list };

async function list(
  { store }: Session,
  id: string,
  { name, after = '', limit = KEY_USERS_BY_DEFAULT }: Query,
): Promise<Answer> {
  const key = await store.keys.get(id);
  if (!key) throw new UnknownError(`There is no key ${JSON.stringify(id.slice(0, 60))}.`);
  const { endUsers, zone } = key.limits;
  if (!endUsers) throw new OperatorError(`The key ${id} has no budget for end users: see "key limit --user-budget".`);
  const { first, after: before } = endUserSumIds(key);
  const sums =
    name === undefined
      ? await store.ledger.budgetPage({ after: `${first}${after}`, before, limit })
      : await store.ledger.budgets([endUserSumId(key, name)]);
  const { start } = findPeriod(Date.now(), { reset: endUsers.reset, zone });
  const users = sums.map((sum) => ({ user: sum.key.slice(first.length), spent_rub: toRub(getSpent(sum, start)) }));
  const last = name === undefined && sums.length === limit ? users.at(-1) : undefined;
  const rows = users.map(({ user, spent_rub: spent }) => [user, String(spent)]);
  const more = last && `\nNext: --after ${last.user}`;
  return {
    json: {
      key_id: id,
      cap: { rub: toRub(endUsers.cap), reset: endUsers.reset, time_zone: zone },
      users,
      next: last?.user ?? null,
    },
    text:
      rows.length === 0
        ? 'Nobody has spent anything.'
        : `${formatTable(['digest of the name', ' spent'], rows)}${more ?? ''}`,
  };
}
