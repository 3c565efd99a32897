// Copies users with their memberships, the audit log, and alert settings.
import { isDeepStrictEqual } from 'node:util';
import { createKeepKnown } from './copy-accounts.ts';
import { mismatchError } from './copy-mismatch.ts';
import type { AccountStore } from './ports/accounts.ts';
import type { AlertStore } from './ports/alerts.ts';
import type { AuditLogStore, AuditRow } from './ports/audit-log.ts';
import type { Membership, UserStore } from './ports/users.ts';
import { walkFrom, walkPages, walkRows } from './walks.ts';

const ROWS_PER_PAGE = 200;

interface Side {
  readonly users: UserStore;
  readonly auditLog: AuditLogStore;
  readonly alerts: AlertStore;
}

/** Resolves to the number of users. */
export async function copyUsers(
  { users: from }: Side,
  { users: to, accounts }: Side & { readonly accounts: AccountStore },
  live: boolean,
): Promise<number> {
  const keepKnown = createKeepKnown({ accounts }, live);
  let copied = 0;
  for await (const user of walkRows(ROWS_PER_PAGE, from.page, ({ id }) => id)) {
    await to.add(user);
    if (!isDeepStrictEqual(await to.get(user.id), user)) throw mismatchError(`the user ${user.id}`);
    copied += 1;
  }
  for (let after: Membership | undefined; ; ) {
    const page = await from.memberships({ after, limit: ROWS_PER_PAGE });
    const known = await keepKnown(page, ({ account }) => account);
    for (const membership of known) await to.join(membership);
    const copies = await to.memberships({ after, limit: known.length || 1 });
    for (const [index, membership] of known.entries()) {
      const { user, account } = membership;
      if (!isDeepStrictEqual(copies[index], membership)) throw mismatchError(`the role of ${user} in ${account}`);
    }
    after = page.at(-1);
    if (!after) return copied;
  }
}

export async function copyFormerUsers({ users: from }: Side, { users: to }: Side): Promise<void> {
  for await (const page of walkPages(ROWS_PER_PAGE, from.formerPage, ({ id }) => id)) await to.putFormer(page);
}

export async function copyAuditLog({ auditLog: from }: Side, { auditLog: to }: Side): Promise<void> {
  const read = (last?: AuditRow) => from.page({ before: last?.seq, limit: ROWS_PER_PAGE });
  for await (const page of walkFrom(ROWS_PER_PAGE, read)) await to.put(page);
}

/** Alerts already sent are not sent again from the copy. */
export async function copyAlerts({ alerts: from }: Side, { alerts: to }: Side): Promise<void> {
  for await (const settings of walkRows(ROWS_PER_PAGE, from.page, ({ account }) => account))
    await to.put(settings, await from.alarms(settings.account));
}
