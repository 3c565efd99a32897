// The keys that a visitor of an account sees, and by them its calls.
import type { Job } from '../money/job-rules.ts';
import type { KeyRow } from '../store/ports/keys.ts';
import type { OwnerVisit } from './visit.ts';

/** All keys of the account, or those of the visitor. */
export async function listVisibleKeys({ services, account, ownKeys }: OwnerVisit): Promise<readonly KeyRow[]> {
  const rows = await services.store.keys.list(account.id);
  const own = ownKeys && new Set(ownKeys);
  return own ? rows.filter(({ id }) => own.has(id)) : rows;
}

export function isVisibleKey({ ownKeys }: OwnerVisit, key: string): boolean {
  return ownKeys === undefined || ownKeys.includes(key);
}

/** Whether a video was made with a visible key. */
export async function isVisibleVideo(visit: OwnerVisit, { charge }: Pick<Job, 'charge'>): Promise<boolean> {
  if (visit.ownKeys === undefined) return true;
  const made = await visit.services.store.ledger.charge(charge);
  return made !== undefined && isVisibleKey(visit, made.key);
}
