// The keys that a page names: an account that rotates its keys has thousands that no longer work.
import { isExpired } from '../money/key-limits.ts';
import type { KeyRow } from '../store/ports/keys.ts';
import type { Visit } from './visit.ts';

const ENDED_SHOWN = 20;

type Clock = { readonly services: Pick<Visit['services'], 'now'> };

export function isActive({ services }: Clock, { revokedAt, limits }: KeyRow): boolean {
  return revokedAt === null && !isExpired(limits, services.now());
}

/** Those that work and the latest of the others, of which the one with the id is never dropped. */
export function dropEarlierEnded(clock: Clock, rows: readonly KeyRow[], chosen?: string): readonly KeyRow[] {
  const ended = rows.filter((key) => !isActive(clock, key));
  const latest = new Set(ended.slice(-ENDED_SHOWN));
  return rows.filter((key) => key.id === chosen || isActive(clock, key) || latest.has(key));
}
