// The budgets that a call counts in because of its key: that of the key, of the member who owns it, and of its end users.
import type { KeyHolder, KeyRow } from '../store/ports/keys.ts';
import { type CallBudget, type CallCap, endUserSumId, memberSumId } from './caps.ts';

/** Refusals quote a name up to this length. */
const NAME_CHARACTERS_MAX = 1024;

/** The budget of the key, if it has one. */
export function readCallBudget({ name, budgetKey, limits }: KeyRow): { readonly budget?: CallBudget } {
  const { budget: most, reset, zone } = limits;
  const shared = budgetKey !== null && { sumKey: budgetKey };
  return most === null ? {} : { budget: { name, limit: most, reset, zone, ...shared } };
}

/** The caps of the member and of the end user, whose name may be empty. */
export function listKeyCaps(holder: KeyRow & Pick<KeyHolder, 'member'>, endUser: string): CallCap[] {
  const caps: CallCap[] = [];
  const { account, member } = holder;
  const { endUsers, zone } = holder.limits;
  if (member?.cap) caps.push({ kind: 'member', id: memberSumId({ account, user: member.user }), ...member.cap });
  if (endUsers) {
    caps.push({
      kind: 'user',
      id: endUserSumId(holder, endUser),
      name: endUser.slice(0, NAME_CHARACTERS_MAX),
      limit: endUsers.cap,
      reset: endUsers.reset,
      zone,
    });
  }
  return caps;
}
