// What a command leaves behind: a line in the audit log, and for people a one-time link that is printed once.

import type { MembershipOffer } from '../store/ports/sessions.ts';
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
