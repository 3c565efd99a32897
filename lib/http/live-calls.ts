// The running calls of this process: each aborts when its client leaves, and a shutdown waits for all of them.
import type { ServerResponse } from 'node:http';
import type { Request } from '@hapi/hapi';
import { GONE } from '../calls/context.ts';
import { getRequestState, type LiveCall, type RequestState } from './request-state.ts';

export interface LiveCalls {
  /** Tracks a call; its signal aborts with `GONE` when the client leaves, or with the reason given to `endAll`. */
  open(request: Request): LiveCall;
  /** Waits until all calls have ended, at most this long; resolves to how many are left. */
  drain(withinMs: number): Promise<number>;
  /** Aborts the running calls, and every new one at once. */
  endAll(reason: unknown): void;
  count(): number;
  /** Running calls that stream. */
  countStreams(): number;
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
    countStreams: () => [...calls].filter(({ isStream }) => isStream).length,
  };
}

class OpenCall implements LiveCall {
  isStream = false;
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
    // hapi's own `disconnect` does not fire for a POST whose body was read. The socket's `error` comes some ticks
    // before the `close` that follows it.
    res.on('close', this.#onClose);
    req.socket.on('error', this.#onClose);
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
    this.#response.req.socket.off('error', this.#onClose);
    this.#state.call = undefined;
    this.onClosed?.();
    this.#remove(this);
  }

  readonly #onClose = (): void => {
    if (!this.#response.writableFinished) this.end(GONE);
  };
}
