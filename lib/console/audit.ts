// Records in the audit log what a person changes, and who tries to get in.
import { isFault } from '../base/faults.ts';
import type { User } from '../store/ports/users.ts';
import type { SignInFactor, SignInOutcome, SignInResult } from '../users/sign-in.ts';
import type { OwnerVisit, UserVisit, Visit } from './visit.ts';

interface AuditEntry {
  /** `key.issue` */
  readonly action: string;
  readonly target: string;
  /** Without secrets. */
  readonly detail?: object;
  /** The account concerned, when it is not the visit's. */
  readonly account?: string;
}

export async function audit(visit: UserVisit & Partial<Pick<OwnerVisit, 'account'>>, entry: AuditEntry): Promise<void> {
  const { services, signedIn, address } = visit;
  const { action, target, detail = {}, account = visit.account?.id ?? null } = entry;
  const user = signedIn.user.id;
  await services.store.auditLog.append({
    at: services.now(),
    user,
    action,
    account,
    target,
    detail: JSON.stringify(detail),
    address,
  });
}

interface SignInEvent {
  readonly factor: SignInFactor;
  readonly result: SignInOutcome;
  /** Whose it is or would have been, if there is such a user. */
  readonly user?: Pick<User, 'id'> | undefined;
  /** Without secrets; what was typed only if it is an email address. */
  readonly detail?: object;
}

/** Nobody's id. */
const NOBODY = '-';

/** Counts an attempt to get in and writes its line; those who have to wait write none. */
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

/** Makes an attempt of `services.signIn` and records how it ends. */
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
