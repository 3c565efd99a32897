// Which faults mean that an upstream did nothing: it has no cost, and another may be asked.
import type { UpstreamFaultKind } from '../upstream/contract/fault.ts';
import { isUpstreamFault } from '../upstream/host/fault.ts';

/** Kinds of fault that mean nothing was started. */
const REFUSALS: ReadonlySet<UpstreamFaultKind> = new Set(['request', 'missing', 'auth', 'quota', 'rate']);

/** Whether the upstream certainly did not start: nothing reached it, or it refused in so many words. */
export function isUpstreamRefusal(error: unknown): boolean {
  if (!isUpstreamFault(error)) return false;
  if (error.unsent) return true;
  // Whatever the body says, a 5xx broke off somewhere in the middle.
  return REFUSALS.has(error.kind) && (error.status ?? 400) < 500;
}
