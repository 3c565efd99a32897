// Issues a key from a page: the visitor becomes its creator, and it is recorded.
import type { RequestedLimits } from '../accounts/limits.ts';
import { isOneLine } from '../base/one-line.ts';
import { OperatorError } from '../base/operator-error.ts';
import { audit } from './audit.ts';
import { toAuditDetail } from './pages/key-limits.ts';
import type { OwnerVisit } from './visit.ts';

interface IssuedKey {
  readonly id: string;
  /** Shown once. */
  readonly key: string;
  /** The visit, in which the key is visible also to a visitor who sees only their own. */
  readonly visit: OwnerVisit;
}

/** Undefined if there are too many active keys. */
export async function issueKey(
  visit: OwnerVisit,
  name: string,
  limits: RequestedLimits,
): Promise<IssuedKey | undefined> {
  const { services, account, signedIn, ownKeys } = visit;
  try {
    const { id, key } = await services.accounts.issueKey(account.id, name, limits, signedIn.user.id);
    await audit(visit, { action: 'key.issue', target: id, detail: { name, ...toAuditDetail(limits) } });
    return { id, key, visit: ownKeys ? { ...visit, ownKeys: [...ownKeys, id] } : visit };
  } catch (error) {
    if (error instanceof OperatorError) return undefined;
    throw error;
  }
}

export function isKeyName(name: string): boolean {
  return name !== '' && name.length <= 100 && isOneLine(name);
}
