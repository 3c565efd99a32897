// Records in the audit log what a person changes.
import type { OwnerVisit, UserVisit } from './visit.ts';

export interface Deed {
  /** `key.issue` */
  readonly action: string;
  readonly target: string;
  /** Without secrets. */
  readonly detail?: object;
  /** The account concerned, when it is not the visit's. */
  readonly account?: string;
}

export async function audit(visit: UserVisit & Partial<Pick<OwnerVisit, 'account'>>, deed: Deed): Promise<void> {
  const { services, signedIn, address } = visit;
  const { action, target, detail = {}, account = visit.account?.id ?? null } = deed;
  const user = signedIn.user.id;
  await services.store.auditLog.append({
    ...{ at: services.now(), user, action, account, target },
    ...{ detail: JSON.stringify(detail), address },
  });
}
