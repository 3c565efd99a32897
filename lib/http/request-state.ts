// The state of a request beyond hapi's: its id, its call, and the fields of its log line.
import { randomFillSync } from 'node:crypto';
import type { Request } from '@hapi/hapi';
import type { FaultCode } from '../base/faults.ts';
import type { KeyHolder } from '../store/ports/keys.ts';

declare module '@hapi/hapi' {
  interface RequestApplicationState {
    tollgate?: RequestState;
  }
  interface AuthCredentials {
    holder?: KeyHolder;
  }
}

export interface RequestState {
  /** Also the id of the charge, and in the log line. */
  readonly id: string;
  /** Fields of the log line. */
  readonly notes: Notes;
  readonly startedAt: number;
  /** Of the error that was sent to the client, if any. */
  message?: string;
  /** The running call, until its money is settled; set by `LiveCalls`. */
  call?: LiveCall | undefined;
  /** Total time spent waiting for the store; bounded per request. */
  waitedMs: number;
  /** The client's network address, cached by `findClientAddress`. */
  address?: string;
  /** Set by the access log. */
  line?: LogLine;
}

/** The log line of a request, once it is over. */
export interface LogLine {
  /** Notes what the line says of the request, and refers to it no longer: a stream may last for minutes. */
  releaseRequest(): void;
}

export interface LiveCall {
  readonly signal: AbortSignal;
  /** Called after `close`. */
  onClosed?: () => void;
  /** Whether the reply is a stream; false until that is known. */
  isStream: boolean;
  /** The call is over, including its money. */
  close(): void;
}

/** Fields collected for the log line; metrics count some of them. */
export interface Notes {
  /** The id of a catalog model. */
  model?: string;
  /** Whether a stream was requested. */
  stream?: boolean;
  /** Time from the request to the first fragment sent to the client. */
  first_ms?: number;
  /** How the upstream's answer ended; `gone` if the client disconnected. */
  ending?: string;
  /** What is implausible about the usage that the upstream reported; the call is billed by estimate. */
  doubt?: string;
  /** The fault sent to the client. */
  fault?: FaultCode;
  /** The path of the wrong field. */
  field?: string;
  /** The requested model name, if no such model is available. */
  asked?: string;
  /** A failure of the gateway itself, or the cause of the fault sent to the client. */
  err?: unknown;
  [field: string]: unknown;
}

export function createRequestState(): RequestState {
  return { id: makeRequestId(Date.now()), notes: {}, startedAt: performance.now(), waitedMs: 0 };
}

const RANDOM_BYTES = 10;
/** Random bytes for many ids at once: one system call per id would cost 1.5 % of a request. */
const random = Buffer.alloc(256 * RANDOM_BYTES);
let unused = 0;

/** Ids start with the time: neighbouring rows share index pages, so a commit writes fewer of them. */
function makeRequestId(atMs: number): string {
  if (unused === 0) unused = randomFillSync(random).length;
  unused -= RANDOM_BYTES;
  return `req_${atMs.toString(16).padStart(12, '0')}${random.toString('hex', unused, unused + RANDOM_BYTES)}`;
}

export function getRequestState(request: Request): RequestState {
  request.app.tollgate ??= createRequestState();
  return request.app.tollgate;
}

/** Adds the time until the promise settles to the request's total wait for the store. */
export async function measureStoreWait<T>(state: RequestState, answer: Promise<T>): Promise<T> {
  const from = performance.now();
  try {
    return await answer;
  } finally {
    state.waitedMs += performance.now() - from;
  }
}
