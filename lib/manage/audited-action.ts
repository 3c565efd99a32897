// What a command leaves behind: a line in the audit log, and for people a one-time link that is printed once.

import type { MembershipOffer } from '../store/ports/sessions.ts';
import type { Store } from '../store/store.ts';
import { type Answer, formatPairs } from './answer.ts';
import type { Session } from './session.ts';

interface AuditedAction {
  readonly action: string;
  readonly target: string;
  readonly account?: string;
  readonly detail?: object;
}

/** The user of audit lines: who runs a command is unknown. */
export const COMMAND_LINE = 'command line';

export async function recordAction(
  { store, caller }: Session,
  { action, target, account, detail = {} }: AuditedAction,
): Promise<void> {
  await store.auditLog.append({
    at: Date.now(),
    user: caller?.user ?? COMMAND_LINE,
    action,
    account: account ?? null,
    target,
    detail: JSON.stringify(detail),
    address: caller?.address ?? '',
  });
}

/** The line of a change that may have been made before, when it had its line unless the attempt broke off. */
export async function recordFirst(
  session: Session,
  { repeated, ...action }: AuditedAction & { readonly repeated: boolean },
): Promise<void> {
  if (!repeated || session.caller?.isAgain) await recordAction(session, action);
}

/** What a verb has changed, by the ids in its reply. */
export function recordVerb(
  session: Session,
  action: string,
  { json, account, detail }: { readonly json: object; readonly account?: string | undefined; readonly detail: object },
): Promise<void> {
  const owner = account ?? readId(json, ['account_id']);
  // First: a hold names its key as well.
  const target = readId(json, ['hold_id', 'payment_id', 'key_id', 'account_id']) ?? '';
  return recordAction(session, { action, target, detail, ...(owner !== undefined && { account: owner }) });
}

/** The account that a change is about; undefined if there is none, or if what it names does not exist. */
export async function findChangedAccount(
  { keys, payments, ledger }: Pick<Store, 'keys' | 'payments' | 'ledger'>,
  { account, key, payment, hold }: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  // First: an owner's request names an account as well, which must be that of the key.
  if (typeof key === 'string') return (await keys.get(key))?.account;
  if (typeof payment === 'string') return (await payments.get(payment))?.wallet;
  if (typeof hold === 'string') return (await ledger.charge(hold))?.wallet;
  return typeof account === 'string' ? account : undefined;
}

/** The first of these members of a reply that is an id. */
export function readId(json: object, names: readonly string[]): string | undefined {
  const values = json as Readonly<Record<string, unknown>>;
  const name = names.find((each) => typeof values[each] === 'string');
  return name === undefined ? undefined : (values[name] as string);
}

interface LinkTerms {
  readonly purpose: 'operator' | 'invite' | 'restore';
  readonly email: string;
  readonly user?: string;
  readonly account?: string;
  readonly offer?: MembershipOffer;
}

export async function createLinkAnswer({ store, config }: Session, of: LinkTerms): Promise<Answer> {
  const { createPeople } = await import('../users/people.ts');
  const token = await createPeople({ store }).makeLink(of);
  const url = `${config.publicUrl}/setup?token=${token}`;
  return { json: { url }, text: formatPairs([['link', url]]) };
}
