// What a client and the operator see of upstream errors.
import { type Fault, type FaultCode, fault, isFault } from '../../base/faults.ts';
import type { RefusalCause, UpstreamFault, UpstreamFaultKind } from '../contract/fault.ts';
import { isUpstreamFault } from './fault.ts';

const CODES: Readonly<Record<UpstreamFaultKind, FaultCode>> = {
  request: 'upstream_refused',
  missing: 'upstream_failed',
  timeout: 'upstream_timeout',
  auth: 'upstream_failed',
  quota: 'upstream_failed',
  rate: 'upstream_failed',
  overloaded: 'upstream_failed',
  server: 'upstream_failed',
  network: 'upstream_failed',
  protocol: 'upstream_failed',
};

const REFUSAL_CODES: Readonly<Record<RefusalCause, FaultCode>> = {
  length: 'upstream_too_long',
  content: 'upstream_content',
  image: 'upstream_picture',
};

/** Turns what a provider threw into what a client sees; the original stays as the cause, for the log. */
export function toClientFault(error: unknown): Fault {
  if (isFault(error)) return error;
  return fault(isUpstreamFault(error) ? toFaultCode(error) : 'upstream_failed', {}, error);
}

function toFaultCode({ kind, about }: UpstreamFault): FaultCode {
  const isMendable = kind === 'request' && about !== undefined && Object.hasOwn(REFUSAL_CODES, about);
  return isMendable ? REFUSAL_CODES[about] : CODES[kind];
}

/** The operator's alert: for a fault that will not pass by itself, or that is the vendor's own; else undefined. */
export function findAlert({ kind, status }: UpstreamFault): string | undefined {
  if (kind === 'auth') return 'an upstream refuses our key';
  if (kind === 'quota') return 'our account at an upstream is out of money or quota';
  if (kind === 'missing') return 'an upstream does not know what a route asks for: its model, path or parameters';
  // Local servers refuse what is too long with a 500.
  if (kind === 'request') return undefined;
  return status !== undefined && status >= 500 ? 'an upstream is failing on its side' : undefined;
}
