// What the service knows about a request beyond hapi: its id, who calls, and the fields of its log line.
import { randomFillSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Request } from '@hapi/hapi';
import type { FaultCode } from '../base/faults.ts';
import { GONE } from '../calls/context.ts';
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
  /** Its call while it is running, including its money; set by `LiveCalls`. */
  call?: LiveCall | undefined;
  /** How long it has waited for the store, in ms: the total is bounded. */
  waitedMs: number;
  /** The client's network address; `clientAddressOf` finds it. */
  address?: string;
}

/** What becomes known about a request along the way; metrics count these fields too. */
export interface Notes {
  /** The id of a catalog model. */
  model?: string;
  /** Whether a stream was requested. */
  stream?: boolean;
  /** When the first fragment was passed on, in ms since the request arrived. */
  first_ms?: number;
  /** How an answer ended upstream; `gone` if its client left. */
  ending?: string;
  /** Why an upstream reported implausible usage; the call is billed by estimate. */
  doubt?: string;
  /** The fault sent to the client. */
  fault?: FaultCode;
  /** The path of the wrong field. */
  field?: string;
  /** The requested model, if there is none of that name, or none available. */
  asked?: string;
  /** Our own failure, or the cause of the fault sent to the client. */
  err?: unknown;
  [field: string]: unknown;
}

export function createRequestState(): RequestState {
  return { id: makeRequestId(Date.now()), notes: {}, startedAt: performance.now(), waitedMs: 0 };
}

const RANDOM_BYTES = 10;
/** Random bytes for many ids at once: a call for each would cost 1.5 % of a request. */
const random = Buffer.alloc(256 * RANDOM_BYTES);
let unused = 0;

/** Ids start with their time, so that rows are close together in an index and a commit writes fewer pages. */
function makeRequestId(atMs: number): string {
  if (unused === 0) unused = randomFillSync(random).length;
  unused -= RANDOM_BYTES;
  return `req_${atMs.toString(16).padStart(12, '0')}${random.toString('hex', unused, unused + RANDOM_BYTES)}`;
}

export function getRequestState(request: Request): RequestState {
  request.app.tollgate ??= createRequestState();
  return request.app.tollgate;
}

/** Adds up how long a request waits for the store. */
export async function measureStoreWait<T>(state: RequestState, answer: Promise<T>): Promise<T> {
  const from = performance.now();
  try {
    return await answer;
  } finally {
    state.waitedMs += performance.now() - from;
  }
}

/** The running calls, so that a shutdown can wait for them and end them. */
export interface LiveCalls {
  /** Tracks a call: aborts with `GONE` when the client leaves, or with a reason given to `endAll`. */
  open(request: Request): LiveCall;
  /** Resolves when none is left or the time is up, to how many are left. */
  drain(withinMs: number): Promise<number>;
  /** Aborts the running ones, and from now on each new one at once. */
  endAll(reason: unknown): void;
  count(): number;
  /** How many of them stream. */
  countStreams(): number;
}

export interface LiveCall {
  readonly signal: AbortSignal;
  /** Called once it is closed. */
  onClosed?: () => void;
  /** Set once it is known; false until then. */
  streams: boolean;
  /** The call is over, including its money. */
  close(): void;
}

export function createLiveCalls(): LiveCalls {
  const calls = new Set<OpenCall>();
  let onEmpty: (() => void) | undefined;
  let ended: { readonly reason: unknown } | undefined;
  const onClosed = (call: OpenCall) => {
    calls.delete(call);
    if (calls.size === 0) onEmpty?.();
  };

  return {
    open(request) {
      const call = new OpenCall(request, onClosed);
      calls.add(call);
      if (ended) call.end(ended.reason);
      return call;
    },
    drain(withinMs) {
      if (calls.size === 0) return Promise.resolve(0);
      return new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer);
          onEmpty = undefined;
          resolve(calls.size);
        };
        const timer = setTimeout(end, withinMs);
        onEmpty = end;
      });
    },
    endAll(reason) {
      ended = { reason };
      for (const call of calls) call.end(reason);
    },
    count: () => calls.size,
    countStreams: () => [...calls].filter(({ streams }) => streams).length,
  };
}

class OpenCall implements LiveCall {
  streams = false;
  onClosed?: () => void;
  readonly #controller = new AbortController();
  readonly #response: ServerResponse;
  readonly #state: RequestState;
  readonly #remove: (call: OpenCall) => void;

  constructor(request: Request, remove: (call: OpenCall) => void) {
    const { req, res } = request.raw;
    this.#response = res;
    this.#state = getRequestState(request);
    this.#state.call = this;
    this.#remove = remove;
    if (res.destroyed) this.end(GONE);
    // hapi's own `disconnect` does not fire for a POST whose body was read. The end of the client's data comes some
    // turns before the close of the connection, which it leads to.
    res.on('close', this.#onClose);
    req.socket.on('end', this.#onClose);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Only the first reason counts. */
  end(reason: unknown): void {
    this.#controller.abort(reason);
  }

  close(): void {
    this.#response.off('close', this.#onClose);
    this.#response.req.socket.off('end', this.#onClose);
    this.#state.call = undefined;
    this.onClosed?.();
    this.#remove(this);
  }

  readonly #onClose = (): void => {
    if (!this.#response.writableFinished) this.end(GONE);
  };
}
