// What a plugin is given: HTTP, readers of streams, faults, a log and a clock, for one upstream.
import assert from 'node:assert/strict';
import type { Decoder } from '../stream/bytes.ts';
import { createLineDecoder } from '../stream/lines.ts';
import { createSseDecoder } from '../stream/sse.ts';
import { createAnswer } from './answer.ts';
import { UpstreamBody } from './body.ts';
import type { Host, HostBody, HostClock, HostLog } from './contract.ts';
import { kindOfStatus, upstreamFault } from './fault.ts';
import { scrub } from './secret.ts';
import { createUpstream, type UpstreamOptions } from './upstream.ts';

export interface HostOptions extends UpstreamOptions {
  /** The name of the upstream in the catalog. */
  readonly upstream: string;
  readonly log: HostLog;
}

/** A host with connections of its own: closed after the last call of its provider. */
export interface ClosableHost extends Host {
  close(): Promise<void>;
}

export function createHost(options: HostOptions): ClosableHost {
  const { upstream, log, secrets = [] } = options;
  const { request, close } = createUpstream(options);
  const http = { request };
  const lines: Host['lines'] = (body, signal) => decode(body, createLineDecoder(), signal);
  return {
    upstream,
    http,
    answer: (url, init, reader) => createAnswer({ http, lines, url, request: init, reader }),
    events: (body, signal) => decode(body, createSseDecoder(), signal),
    lines,
    fault: {
      make: (kind, detail, status) => upstreamFault(kind, scrub(detail, secrets), status),
      kindOfStatus,
    },
    log: { warn: (message, fields) => log.warn(message, { ...fields, upstream }) },
    clock,
    close,
  };
}

function decode<T>(body: HostBody, decoder: Decoder<T>, signal: AbortSignal): AsyncIterable<readonly T[]> {
  assert(body instanceof UpstreamBody, 'only the body of a reply can be read as a stream');
  return body.stream(decoder, signal);
}

const clock: HostClock = {
  now: Date.now,
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const stop = () => {
        clearTimeout(timer);
        reject(signal.reason);
      };
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', stop);
        resolve();
      }, ms);
      signal.addEventListener('abort', stop, { once: true });
    });
  },
};
