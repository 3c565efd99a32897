// What a command about people leaves behind: a line in the audit log, and a one-time link that is printed once.
import { type Answer, formatPairs } from './output.ts';
import type { Session } from './session.ts';

export interface Deed {
  readonly action: string;
  readonly target: string;
  readonly account?: string;
  readonly detail?: object;
}

/** Whoever may run commands is not known by name. */
export const COMMAND_LINE = 'command line';

export async function recordDeed({ store }: Session, { action, target, account, detail = {} }: Deed): Promise<void> {
  await store.auditLog.append({
    at: Date.now(),
    user: COMMAND_LINE,
    action,
    account: account ?? null,
    target,
    detail: JSON.stringify(detail),
    address: '',
  });
}

interface LinkOf {
  readonly purpose: 'operator' | 'invite' | 'restore';
  readonly email: string;
  readonly user?: string;
  readonly account?: string;
}

export async function linkAnswer({ store, config }: Session, of: LinkOf): Promise<Answer> {
  const { createPeople } = await import('../users/people.ts');
  const token = await createPeople({ store }).makeLink(of);
  const url = `${config.publicUrl}/setup?token=${token}`;
  return { json: { url }, text: formatPairs([['link', url]]) };
}
