// `tollgate key users`: what the end users of a key have spent of their budgets.
import type { Command } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import { endUserSumId, endUserSumIds } from '../ledger/caps.ts';
import { getSpent } from '../money/budget.ts';
import { toRub } from '../money/money.ts';
import { periodAt } from '../money/period.ts';
import { readCount, readText } from './arguments.ts';
import { type Answer, formatTable } from './output.ts';
import { onStore, type Session } from './session.ts';

interface Query {
  readonly name?: string;
  readonly after?: string;
  readonly limit?: number;
}

const LIMIT = 100;

export function addKeyUsersCommand(key: Command): void {
  key
    .command('users')
    .description('Lists what the end users of a key have spent of their budgets, by the digests of their names.')
    .argument('<key-id>', 'the key')
    .option('--name <name>', 'only this end user, named as calls name them', readText)
    .option('--after <digest>', 'the digest after which the list goes on', readText)
    .option('--limit <number>', `at most so many (${LIMIT})`, readCount)
    .addHelpText('after', '\nExample:\n  tollgate key users key_83d1… --name alice')
    .action(onStore(list));
}

/** Also what the management API does: lib/manage/verbs.ts. */
export const keyUserActions = { list };

async function list({ store }: Session, id: string, { name, after = '', limit = LIMIT }: Query): Promise<Answer> {
  const key = await store.keys.get(id);
  if (!key) throw new OperatorError(`There is no key ${JSON.stringify(id.slice(0, 60))}.`);
  const { endUsers, zone } = key.limits;
  if (!endUsers) throw new OperatorError(`The key ${id} has no budget for end users: see "key limit --user-budget".`);
  const { first, after: before } = endUserSumIds(key);
  const sums =
    name === undefined
      ? await store.ledger.budgetPage({ after: `${first}${after}`, before, limit })
      : await store.ledger.budgets([endUserSumId(key, name)]);
  const { start } = periodAt(Date.now(), { reset: endUsers.reset, zone });
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
