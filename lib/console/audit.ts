// Writes the audit log: changes made on pages, and sign-in attempts.
import { isFault } from '../base/faults.ts';
import type { AuditLine } from '../store/ports/audit-log.ts';
import type { User } from '../store/ports/users.ts';
import type { SignInFactor, SignInOutcome, SignInResult } from '../users/sign-in.ts';
import type { OwnerVisit, UserVisit, Visit } from './visit.ts';

interface AuditEntry {
  /** For example `key.issue`. */
  readonly action: string;
  readonly target: string;
  /** Without secrets. */
  readonly detail?: object;
  /** Defaults to the account of the visit. */
  readonly account?: string;
}

type AuditVisit = UserVisit & Partial<Pick<OwnerVisit, 'account'>>;

export async function audit(visit: AuditVisit, entry: AuditEntry): Promise<void> {
  await visit.services.store.auditLog.append(buildAuditLine(visit, entry));
}

/** For a change that writes its line itself. */
export function buildAuditLine(visit: AuditVisit, entry: AuditEntry): AuditLine {
  const { services, signedIn, address } = visit;
  const { action, target, detail = {}, account = visit.account?.id ?? null } = entry;
  const user = signedIn.user.id;
  return { at: services.now(), user, action, account, target, detail: JSON.stringify(detail), address };
}

interface SignInEvent {
  readonly factor: SignInFactor;
  readonly result: SignInOutcome;
  /** The user who signed in or tried to, if known. */
  readonly user?: Pick<User, 'id'> | undefined;
  /** Without secrets; typed text only if it is an email address. */
  readonly detail?: object;
}

/** Stands for an unknown user. */
const NOBODY = '-';

/** Counts a sign-in attempt and logs it; throttled attempts are not logged. */
export async function recordSignIn(visit: Visit, { factor, result, user, detail = {} }: SignInEvent): Promise<void> {
  const { services, address, path } = visit;
  services.onSignIn?.(factor, result);
  if (result === 'wait' || result === 'busy') return;
  await services.store.auditLog.append({
    at: services.now(),
    user: user?.id ?? NOBODY,
    action: `sign_in.${factor}`,
    account: null,
    target: user?.id ?? '',
    detail: JSON.stringify({ result, page: path, ...detail }),
    address,
  });
}

/** Runs a step of `services.signIn` and records its outcome. */
export async function attemptSignIn(
  visit: Visit,
  { factor, detail = {} }: Pick<SignInEvent, 'factor' | 'detail'>,
  attempt: () => Promise<SignInResult>,
): Promise<SignInResult> {
  const result = await attempt().catch(async (error: unknown) => {
    if (isFault(error) && error.data?.code === 'busy') await recordSignIn(visit, { factor, result: 'busy' });
    throw error;
  });
  const user = 'user' in result ? result.user : undefined;
  await recordSignIn(visit, { factor, result: result.status, user, detail });
  return result;
}
