// What the tests of real clients stand on: a gateway with a loopback upstream and the sandbox, and every SDK version.
import Anthropic, { type ClientOptions as AnthropicOptions } from '@anthropic-ai/sdk';
import AnthropicOld from 'anthropic-old';
import OpenAI, { type ClientOptions as OpenAIOptions } from 'openai';
import OpenAIOld from 'openai-v4';
import { until } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

export interface Stage {
  readonly gateway: TestGateway;
  readonly upstream: TestUpstream;
  /** Waits until nothing is held, and returns what the account was charged in micro-roubles. */
  charged(account: TestAccount): Promise<bigint>;
  close(): Promise<void>;
}

/** The model of the loopback upstream, and one that the sandbox answers; 1000 RUB in, 5000 RUB out per million. */
export const MODEL = 'model-a';
export const SANDBOX_MODEL = 'made-up';

/** `more` are further fields of the catalog. */
export async function openStage(env: Readonly<Record<string, string>> = {}, more: object = {}): Promise<Stage> {
  const upstream = await startUpstream();
  const base = chatCatalog(upstream.url) as { upstreams: object; models: object[] };
  const made = {
    id: SANDBOX_MODEL,
    type: 'text',
    provider: 'Test',
    tools: true,
    routes: [{ upstream: 'sandbox', model: 'standard' }],
    price: { input: '1000', output: '5000' },
  };
  const upstreams = { ...base.upstreams, sandbox: { plugin: 'sandbox' } };
  const models = [...base.models, made];
  const gateway = await startGateway({ catalog: { ...base, upstreams, models, ...more }, env });
  return {
    gateway,
    upstream,
    async charged(account) {
      await until(async () => (await gateway.wallet(account)).held === 0n);
      return (await gateway.wallet(account)).charged;
    },
    async close() {
      await gateway.stop();
      await upstream.close();
    },
  };
}

export interface MessageSdk {
  readonly name: string;
  /** True where exceptions carry the type and the classes of today. */
  readonly current: boolean;
  /** The module: its client, and its error classes as static members. */
  readonly Client: typeof Anthropic;
  /** A client of an account; nothing is retried unless asked for. */
  open(gateway: TestGateway, account: TestAccount, options?: AnthropicOptions): Anthropic;
}

/** For chats and responses. */
export interface OpenAiSdk {
  readonly name: string;
  readonly current: boolean;
  readonly Client: typeof OpenAI;
  open(gateway: TestGateway, account: TestAccount, options?: OpenAIOptions): OpenAI;
  /** The stream helper of chats, which has moved over time. */
  readonly streamOf: (client: OpenAI) => OpenAI['chat']['completions']['stream'];
}

const messageSdk = (name: string, Client: typeof Anthropic): MessageSdk => ({
  name,
  current: Client === Anthropic,
  Client,
  open: ({ url }, { key }, options) =>
    new Client({ baseURL: `${url}/api`, apiKey: key, authToken: null, maxRetries: 0, ...options }),
});

const openAiSdk = (name: string, Client: typeof OpenAI, streamOf: OpenAiSdk['streamOf']): OpenAiSdk => ({
  name,
  current: Client === OpenAI,
  Client,
  open: ({ url }, { key }, options) => new Client({ baseURL: `${url}/api/v1`, apiKey: key, maxRetries: 0, ...options }),
  streamOf,
});

/** The old clients are used through the types of the new ones: the calls made here are the same in both. */
export const messageSdks: readonly MessageSdk[] = [
  messageSdk('@anthropic-ai/sdk 1', Anthropic),
  messageSdk('@anthropic-ai/sdk 0.39', AnthropicOld as unknown as typeof Anthropic),
];

const openAiSdks: readonly OpenAiSdk[] = [
  openAiSdk('openai 7', OpenAI, ({ chat }) => chat.completions.stream.bind(chat.completions)),
  openAiSdk('openai 4', OpenAIOld as unknown as typeof OpenAI, (client) => {
    const { completions } = (client as unknown as OpenAIOld).beta.chat;
    return completions.stream.bind(completions) as unknown as OpenAI['chat']['completions']['stream'];
  }),
];

/** The current ones; in the slow tests the old ones too. */
export const MESSAGE_SDKS = longer(messageSdks.slice(0, 1), messageSdks);
export const OPENAI_SDKS = longer(openAiSdks.slice(0, 1), openAiSdks);

/** The fetch of a client that counts what it sends. */
export function countingFetch(onReply: (reply: Response) => Response = (reply) => reply) {
  const sent: Response[] = [];
  const counted = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const reply = await fetch(url, init);
    sent.push(reply);
    return onReply(reply);
  };
  return { sent, fetch: counted };
}

/** What a promise rejects with; fails when it does not. */
export async function catchRejection(promise: PromiseLike<unknown>): Promise<Error & Record<string, unknown>> {
  try {
    await promise;
  } catch (error) {
    return error as Error & Record<string, unknown>;
  }
  throw new Error('it did not reject');
}
