// What a plugin is given: requests, answers, polling, faults, a log and a clock, for one upstream.
import Joi from 'joi';
import { createAnswer, refusalOf } from './answer.ts';
import type { FaultWords } from './fault-contract.ts';
import type { Host, HostClock, HostLog, JsonReply } from './host-contract.ts';
import { createHostFault } from './host-fault.ts';
import { KeyRing } from './keys.ts';
import { poll } from './poll.ts';
import { createPerRoute } from './route-settings.ts';
import { createTokenAuth } from './tokens.ts';
import { createUpstream, type UpstreamOptions } from './upstream.ts';
import { createHostVideo } from './video-jobs.ts';

export interface HostOptions extends UpstreamOptions {
  /** The name of the upstream in the catalog. */
  readonly upstream: string;
  readonly log: HostLog;
  /** Keys that take turns. */
  readonly keys?: readonly string[];
  /** Of the settings. */
  readonly schema?: Joi.ObjectSchema;
  /** The plugin's own. */
  readonly faultWords?: FaultWords | undefined;
  /** The real one by default. */
  readonly clock?: HostClock;
}

/** A host with connections of its own: closed after the last call of its provider. */
export interface ClosableHost extends Host {
  close(): Promise<void>;
}

export function createHost(options: HostOptions): ClosableHost {
  const { upstream, keys = [], schema = Joi.object(), faultWords, clock = CLOCK } = options;
  const secrets = [...(options.secrets ?? [])];
  const ring = new KeyRing(keys);
  const { request, close } = createUpstream({ ...options, secrets }, ring);
  const fault = createHostFault({ secrets, words: faultWords });
  const log: HostLog = { warn: (message, fields) => options.log.warn(message, { ...fields, upstream }) };

  async function json(...[url, init, limitBytes]: Parameters<Host['json']>): Promise<JsonReply> {
    const { body, ...reply } = await request(url, init);
    if (reply.status < 200 || reply.status > 299) throw await refusalOf({ ...reply, body }, fault);
    return { ...reply, value: await body.json(limitBytes) };
  }

  return {
    upstream,
    request,
    json,
    answer: (url, init, reader) => createAnswer({ request, fault, url, init, reader }),
    poll: (polling) => poll(polling, { sleep: clock.sleep, random: Math.random }),
    tokens: (source) => createTokenAuth({ source, now: clock.now, secrets }),
    perRoute: createPerRoute({ schema, log }),
    async authorize(auth, keyId) {
      const key = ring.take(keyId);
      return key ? auth(key.value, NEVER) : {};
    },
    video: createHostVideo({ request, json, fault }),
    fault,
    log,
    clock,
    close,
  };
}

/** No call's. */
const NEVER = new AbortController().signal;

const CLOCK: HostClock = {
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
