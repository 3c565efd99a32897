// Tells failures of a payment provider from those of the gateway.
import { StoreError } from '../store/store.ts';
import type { UpstreamFault } from '../upstream/contract/fault.ts';
import { isUpstreamFault, upstreamFault } from '../upstream/host/fault.ts';

/** The fault of a request that was made with this signal; a provider that takes too long has failed. */
export function findProviderFault(error: unknown, { aborted, reason }: AbortSignal): UpstreamFault | undefined {
  if (!aborted) return isUpstreamFault(error) ? error : undefined;
  const isLate = reason instanceof DOMException && reason.name === 'TimeoutError' && !(error instanceof StoreError);
  return isLate ? upstreamFault('timeout', 'no answer in time') : undefined;
}
