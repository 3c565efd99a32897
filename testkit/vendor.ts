// A vendor behind nock: providers of the plugin under test, what they send, and what they make of the answers.
import type { Provider, ProviderPart, ProviderPlugin, TextCall } from '../lib/upstream/contract/provider.ts';
import { createProvider } from '../lib/upstream/host/settings.ts';
import { interceptRequests, nock } from './interception.ts';

export interface Sent {
  readonly method: string;
  readonly url: string;
  /** Includes its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed JSON body; empty for anything else. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The parts of a multipart form. */
  readonly form: FormData | undefined;
}

export interface Answer {
  /** POST by default. */
  readonly method?: 'GET' | 'POST';
  /** By default, that of the settings. */
  readonly origin?: string;
  readonly status?: number;
  readonly type?: string;
}

/** The request and the outcome of one text call. */
interface Told {
  readonly sent: Sent;
  readonly parts: readonly ProviderPart[];
  readonly error: unknown;
}

interface Vendor {
  /** The requests of this test. */
  readonly sent: Sent[];
  /** The warnings of this test, with their fields. */
  readonly warnings: { readonly message: string }[];
  /** How long its providers slept in this test, in milliseconds. */
  readonly slept: number[];
  /** A provider with more settings, closed after the test. */
  open(settings?: object): Provider;
  /** What the next request with this method is answered. */
  answer(body: string | object, answer?: Answer): void;
  /** One call of a text model, answered `body`. */
  tell(provider: Provider, call: TextCall, body: string | object, answer?: Answer): Promise<Told>;
}

export const HELLO: Omit<TextCall, 'model'> = {
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
  maxTokens: 64,
  options: {},
};

/** Call in a `describe`, with the settings that all its providers have. */
export function useVendor(plugin: ProviderPlugin, origin: string, settings: object): Vendor {
  const [sent, warnings, slept]: [Sent[], { message: string }[], number[]] = [[], [], []];
  const closers: (() => Promise<void>)[] = [];
  const never = new AbortController().signal;

  interceptRequests();
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
    nock.cleanAll();
    for (const list of [sent, warnings, slept]) list.length = 0;
  });

  const vendor: Vendor = {
    sent,
    warnings,
    slept,
    open(more = {}) {
      const { provider, close } = createProvider({
        plugin,
        upstream: 'main',
        settings: { ...settings, ...more },
        log: { warn: (message, fields) => warnings.push({ message, ...fields }) },
        clock: { now: Date.now, sleep: async (ms) => void slept.push(ms) },
      });
      closers.push(close);
      return provider;
    },
    answer(body, { method = 'POST', origin: from = origin, status = 200, type = 'application/json' } = {}) {
      nock(from)
        .intercept(/.*/, method)
        .reply(async (request: Request) => {
          sent.push(await readRequest(request));
          return [status, body, { 'content-type': type }];
        });
    },
    async tell(provider, call, body, answer) {
      vendor.answer(body, { type: 'text/event-stream', ...answer });
      const [at, parts]: [number, ProviderPart[]] = [sent.length, []];
      let error: unknown;
      try {
        for await (const some of provider.text?.(call, never) ?? []) parts.push(...some);
      } catch (thrown) {
        error = thrown;
      }
      return { sent: sent[at] as Sent, parts, error };
    },
  };
  return vendor;
}

async function readRequest(request: Request): Promise<Sent> {
  const { method, url } = request;
  const { pathname, search } = new URL(url);
  const headers = Object.fromEntries(request.headers);
  const isForm = headers['content-type']?.startsWith('multipart/') === true;
  const form = isForm ? await request.formData() : undefined;
  const text = form === undefined ? await request.text() : '';
  return { method, url, path: pathname + search, headers, body: text.startsWith('{') ? JSON.parse(text) : {}, form };
}
