// Asks an upstream with one of its keys, and with another one if the upstream refuses the first.

import type { HostFault } from '../contract/fault.ts';
import type { HostResponse } from '../contract/host.ts';
import type { HostRequest } from '../contract/request.ts';
import { classifyStatus, isUpstreamFault, upstreamFault } from './fault.ts';
import type { Key, KeyRing } from './key-ring.ts';
import { readPluginRun } from './plugin-run.ts';
import type { Reuse, Upstream, UpstreamResponse } from './upstream.ts';

interface AskOptions {
  readonly request: Upstream['request'];
  readonly keys: KeyRing;
  readonly fault: HostFault;
  /** For how long the key of a reply has nothing left, by its headers. */
  readonly readExhaustedMs: (headers: HostResponse['headers']) => number | undefined;
  /** Called with the body of each refusal that becomes a fault, as it came. */
  readonly onRefusal: (status: number, body: string) => void;
}

export interface Asking {
  /**
   * Resolves with a success; throws the fault of every other status. Unless `isRepeatable`, as polls and answers are,
   * the request must not be sent twice.
   */
  ask(url: string, init: HostRequest, isRepeatable?: boolean): Promise<UpstreamResponse>;
  /** Resolves with any status, for callers that interpret it themselves. */
  request(url: string, init: HostRequest): Promise<UpstreamResponse>;
}

/** The maximum read of a refusal's body. */
const REFUSAL_BYTES_MAX = 64 * 1024;

/** How long the rest of a refusal is waited for: until then no other key or route is asked. */
const REFUSAL_MS = 2_000;

/** Statuses that are about the key, whatever the body says. */
const KEY_STATUSES: ReadonlySet<number> = new Set([401, 402, 429]);

/** About the key's rights, or about content that breaks the upstream's rules: only the body tells. */
const FORBIDDEN = 403;

export function createAsking({ request, keys, fault, readExhaustedMs, onRefusal }: AskOptions): Asking {
  async function send(
    url: string,
    init: HostRequest,
    { key, reuse }: { readonly key: Key | undefined; readonly reuse: Reuse },
  ): Promise<UpstreamResponse> {
    const run = readPluginRun();
    run?.noteRequest(key);
    const response = await request(url, init, key, reuse);
    if (!isGet(init)) run?.noteReply(response.headers);
    return response;
  }

  function noteLimits(key: Key | undefined, response: HostResponse | undefined): void {
    if (!key || !response) return;
    const forMs = readExhaustedMs(response.headers);
    if (forMs !== undefined) keys.rest(key.id, forMs);
  }

  return {
    async ask(url, init, isRepeatable = isGet(init)) {
      const reuse: Reuse = isRepeatable ? 'repeat' : 'never';
      let tried: Set<string> | undefined;
      for (;;) {
        const key = init.auth && keys.take({ id: init.keyId, tried, conversation: init.conversation });
        let response: UpstreamResponse | undefined;
        try {
          response = await send(url, init, { key, reuse });
          if (response.status < 200 || response.status > 299) throw await readRefusal(response);
          noteLimits(key, response);
          return response;
        } catch (error) {
          tried ??= new Set();
          if (key) tried.add(key.id);
          const hasOther = keys.blame(key?.id, error, tried);
          noteLimits(key, response);
          // Anything bound to one account is not asked of another.
          if (!hasOther || init.keyId !== undefined || !hasDoneNothing(error)) throw error;
          readPluginRun()?.noteRefusal();
        }
      }
    },

    async request(url, init) {
      const key = init.auth && keys.take({ id: init.keyId, conversation: init.conversation });
      const response = await send(url, init, { key, reuse: isGet(init) ? 'repeat' : 'any' });
      const { status, retryAfterMs, headers, body } = response;
      if (key && KEY_STATUSES.has(status)) {
        const facts = { status, ...(retryAfterMs !== undefined && { retryAfterMs }) };
        keys.blame(key.id, upstreamFault(classifyStatus(status), '', facts));
      } else if (key && status === FORBIDDEN) {
        keys.blame(key.id, fault.ofReply(status, headers, await body.peek()));
      }
      noteLimits(key, response);
      return response;
    },
  };

  /** The fault of an unsuccessful reply. Its body may break off or have no end; the status is already known. */
  async function readRefusal({ status, headers, body }: UpstreamResponse): Promise<Error> {
    const text = await body.begin(REFUSAL_BYTES_MAX, REFUSAL_MS);
    onRefusal(status, text);
    return fault.ofReply(status, headers, text);
  }
}

const isGet = ({ method }: HostRequest) => method === 'GET';

/** After a 5xx, an image may have been made and would be paid for twice. */
function hasDoneNothing(error: unknown): boolean {
  return isUpstreamFault(error) && error.status !== undefined && error.status >= 400 && error.status < 500;
}
