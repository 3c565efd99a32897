// What a plugin is given for one upstream: requests, answers, polling, faults, a log and a clock.
import Joi from 'joi';
import { readArguments } from '../../stream/arguments.ts';
import type { Content, TextMessage } from '../contract/content.ts';
import type { FaultStatuses, FaultTexts, FaultWords, HostFault } from '../contract/fault.ts';
import type { Host, HostClock, HostLog, JsonReply } from '../contract/host.ts';
import type { LimitHeaders } from '../contract/request.ts';
import { ChatReply } from '../formats/chat/reply.ts';
import { chatBody } from '../formats/chat/request.ts';
import { closeSchema } from '../formats/closed-schema.ts';
import { createContentsEmbeddings } from '../formats/contents/embeddings.ts';
import { ContentsReply, readImages } from '../formats/contents/reply.ts';
import { contentsBody } from '../formats/contents/request.ts';
import { fitEffort } from '../formats/efforts.ts';
import { createEmbeddingsFormat } from '../formats/embeddings/format.ts';
import { MessageReply } from '../formats/message/reply.ts';
import { messageBody } from '../formats/message/request.ts';
import { messageThinking } from '../formats/message/thinking.ts';
import { ResponsesReply } from '../formats/responses/reply.ts';
import { responsesBody } from '../formats/responses/request.ts';
import { joinTurns } from '../formats/turns.ts';
import { readAnswer } from './answer.ts';
import { createAsking } from './ask.ts';
import { findNearestAspect } from './aspects.ts';
import { createDataUrl, readMediaSources } from './data-url.ts';
import { createEmbed } from './embed.ts';
import { dropInlineBytes } from './fault.ts';
import { readFields } from './fields.ts';
import { createFinishReason } from './finish-words.ts';
import { addFormerNames, renameCauses } from './former-names.ts';
import { createHostFault } from './host-fault.ts';
import { createImageJobs } from './image-jobs.ts';
import { bearer } from './jobs.ts';
import { type KeyHealth, type KeyRest, KeyRing } from './key-ring.ts';
import { readExhaustedMs } from './limit-headers.ts';
import { refuseLostSubmits } from './lost-submits.ts';
import { askAsPoll } from './plugin-run.ts';
import { poll as pollWith } from './poll.ts';
import { createPerRoute } from './route-settings.ts';
import { scrub } from './secret.ts';
import { fillForImage } from './template.ts';
import { createTokenAuth } from './tokens.ts';
import { createUpstream, type UpstreamOptions } from './upstream.ts';
import { createModelLister } from './vendor-models.ts';
import { createHostVideo } from './video-jobs.ts';

export interface HostOptions extends UpstreamOptions {
  /** The name of the upstream in the catalog. */
  readonly upstream: string;
  readonly log: UpstreamLog;
  /** Keys used in rotation. */
  readonly keys?: readonly string[];
  /** Of the settings. */
  readonly schema?: Joi.ObjectSchema;
  /** The plugin; by default it says nothing of its vendor. */
  readonly vendor?: VendorSigns;
  /** The real one by default. */
  readonly clock?: HostClock;
}

/** By what the vendor of a plugin shows what went wrong, and what is left. */
export interface VendorSigns {
  readonly faultWords?: FaultWords;
  readonly faultTexts?: FaultTexts;
  readonly faultStatuses?: FaultStatuses;
  readonly faultHeader?: string;
  readonly limitHeaders?: readonly LimitHeaders[];
}

/** What the operator is told about an upstream; an error is an alert. */
export interface UpstreamLog extends HostLog {
  error?(message: string, fields: object): void;
  /** May quote a prompt. */
  debug?(message: string, fields: object): void;
}

/** A host with its own connections, closed after the last call of its provider. */
export interface ClosableHost extends Host {
  readonly keyHealth: () => KeyHealth;
  close(): Promise<void>;
}

export function createHost(options: HostOptions): ClosableHost {
  const { upstream, keys = [], schema = Joi.object(), vendor = {}, clock = CLOCK } = options;
  const secrets = [...(options.secrets ?? [])];
  const ring = new KeyRing(keys, { now: clock.now, onRest: (rest) => reportKeyRest(options, rest) });
  const { request: send, close } = createUpstream({ ...options, secrets });
  const sendOnce = refuseLostSubmits(send, () =>
    options.log.warn('a plugin asks again for what may have been paid; nothing was sent', { upstream }),
  );
  const fault = createVendorFault(vendor, secrets);
  const { ask, request } = createAsking({
    request: sendOnce,
    keys: ring,
    fault,
    readExhaustedMs: (headers) => readExhaustedMs(headers, vendor.limitHeaders ?? [], clock.now()),
    onRefusal(status, body) {
      const fields = { upstream, status, body: dropInlineBytes(scrub(body, secrets)).slice(0, REFUSAL_CHARS_MAX) };
      options.log.debug?.('an upstream has refused a request', fields);
    },
  });
  const log: HostLog = { warn: (message, fields) => options.log.warn(message, { ...fields, upstream }) };

  const kit = { fault, finishReason: createFinishReason(fault) };
  const perRoute = createPerRoute({ schema, log });
  const poll: Host['poll'] = (polling) => {
    const ask: typeof polling.ask = (signal) => askAsPoll(() => polling.ask(signal));
    return pollWith({ ...polling, ask }, { sleep: clock.sleep, random: Math.random });
  };

  async function json(...[url, init, limitBytes]: Parameters<Host['json']>): Promise<JsonReply> {
    const { body, ...reply } = await ask(url, init);
    return { ...reply, value: await body.json(limitBytes) };
  }

  return addFormerNames({
    upstream,
    request,
    json,
    embed: createEmbed({ json }),
    models: createModelLister({ json }),
    answer: (url, init, reader) => readAnswer({ ask, keys: ring, fault, url, init, reader }),
    poll,
    tokens: (source) => createTokenAuth({ source, now: clock.now, secrets }),
    perRoute,
    urlBelow,
    bearer,
    fields: readFields,
    textOf: joinTextParts,
    async authorize(auth, keyId) {
      const key = ring.take({ id: keyId });
      return key ? auth(key.value, NEVER) : {};
    },
    argumentsOf: readArguments,
    ...createFormats(kit),
    image: {
      jobs: createImageJobs({ json, fault, perRoute, poll }),
      fill: fillForImage,
      sourcesOf: readMediaSources,
      aspectOf: findNearestAspect,
      dataUrl: createDataUrl,
    },
    video: createHostVideo({ ask, json, fault, perRoute }),
    ...kit,
    log,
    clock,
    keyHealth: () => ring.health(),
    close,
  });
}

function createVendorFault(vendor: VendorSigns, secrets: readonly string[]): HostFault {
  const { faultWords, faultTexts, faultStatuses: statuses, faultHeader: header } = vendor;
  const told = { words: renameCauses(faultWords), texts: renameCauses(faultTexts) };
  return createHostFault({ secrets, ...told, statuses, header });
}

/** What several formats have in common. */
const SHARED = { closeSchema, fitEffort, joinTurns: (messages: readonly TextMessage[]) => joinTurns(messages) };

/** The wire formats that many upstreams speak. */
function createFormats(
  kit: Pick<Host, 'fault' | 'finishReason'>,
): Pick<Host, 'chat' | 'contents' | 'message' | 'responses' | 'embeddings' | keyof typeof SHARED> {
  return {
    ...SHARED,
    chat: { body: chatBody, reader: (quirks = {}) => new ChatReply(kit, quirks) },
    contents: {
      body: contentsBody,
      reader: () => new ContentsReply(kit),
      readImages: (reply) => readImages(reply, kit),
      embeddings: createContentsEmbeddings(kit),
    },
    message: {
      body: messageBody,
      reader: (quirks = {}) => new MessageReply(kit, quirks),
      thinking: messageThinking,
    },
    responses: { body: responsesBody, reader: () => new ResponsesReply(kit) },
    embeddings: createEmbeddingsFormat(kit),
  };
}

function joinTextParts(content: readonly Content[]): string {
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
}

function urlBelow(baseUrl: string, path: string): string {
  const at = baseUrl.search(/\?|$/);
  return `${baseUrl.slice(0, at).replace(/\/+$/, '')}/${path}${baseUrl.slice(at)}`;
}

/** Calls continue with the other keys, so nothing else reports one that has to be fixed. */
function reportKeyRest({ upstream, log }: HostOptions, { place, keys, kind, status, forMs }: KeyRest): void {
  const fields = { upstream, key: `${place} of ${keys}`, kind, status, for_ms: forMs };
  if (kind === 'rate' || !log.error) log.warn('an upstream key is paused', fields);
  else log.error('an upstream refuses one of our keys; the key is paused', { alert: 'upstream', ...fields });
}

/** Of a refusal's body in the log. */
const REFUSAL_CHARS_MAX = 16 * 1024;

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
