// A gateway with an upstream of each wire format, and requests to it: what a vendor gets of them, and what they cost.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { type Behaviour, SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
export type Json = any;

/** By the end of the path, how an upstream of each wire format says Hi. */
const ANSWERS: readonly (readonly [RegExp, readonly object[]])[] = [
  [
    /chat\/completions$/,
    [
      { id: 'c1', choices: [{ index: 0, delta: { content: 'Hi' } }] },
      {
        id: 'c1',
        choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
        usage: { prompt_tokens: 20, completion_tokens: 10 },
      },
    ],
  ],
  [
    /messages$/,
    [
      { type: 'message_start', message: { id: 'm1', usage: { input_tokens: 20, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 10 } },
      { type: 'message_stop' },
    ],
  ],
  [
    /streamGenerateContent/,
    [
      {
        candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 10 },
      },
    ],
  ],
  [
    /responses$/,
    [
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hi' },
      {
        type: 'response.completed',
        response: { status: 'completed', output: [], usage: { input_tokens: 20, output_tokens: 10 } },
      },
    ],
  ],
  [/generate$/, [{ text: 'Hi' }, { usage: { input: 20, output: 10 }, done: 'complete' }]],
];

export const sayHi: Behaviour = ({ request, response }) => {
  const [, events = []] = ANSWERS.find(([path]) => path.test(request.url ?? '')) ?? [];
  response.writeHead(200, SSE);
  response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
};

/** A plugin of somebody else's as contract 1 had it; its calls have states. */
const OLD_PLUGIN = `export default {
  contract: 1,
  name: 'old',
  settings: (_joi, account) => account('http://127.0.0.1:9'),
  create: (settings, host) => ({
    tools: true,
    async *text(call, signal) {
      const { model, system, messages, tools } = call;
      const body = JSON.stringify({ model, system, messages, tools });
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, auth: host.bearer, body, signal };
      await host.json(settings.baseUrl + '/generate', init).catch(() => undefined);
      yield [{ type: 'start', model }];
      yield [
        { type: 'block-start', index: 0, block: { type: 'tool', id: 'call_1', name: 'look', state: 'kept by us' } },
        { type: 'block-delta', index: 0, text: '{}' },
        { type: 'block-end', index: 0 },
      ];
      yield [{ type: 'usage', input: 20, output: 10 }, { type: 'finish', reason: 'tool' }];
    },
  }),
};`;

export const FORMATS = ['chat', 'message', 'contents', 'responses'] as const;

const buildCatalog = (url: string) => ({
  upstreams: {
    chat: { plugin: 'openai-compatible', settings: { baseUrl: `${url}/v1`, apiKey: 'up-secret-key-1' } },
    message: { plugin: 'anthropic', settings: { baseUrl: url, apiKey: 'up-secret-key-1' } },
    'message-bare': {
      plugin: 'anthropic',
      settings: { baseUrl: url, apiKey: 'up-secret-key-1', betas: [], systemMessages: 'prompt' },
    },
    contents: { plugin: 'gemini', settings: { baseUrl: `${url}/v1beta`, apiKey: 'up-secret-key-1' } },
    responses: { plugin: 'openai-responses', settings: { baseUrl: `${url}/v1`, apiKey: 'up-secret-key-1' } },
    'responses-bare': {
      plugin: 'openai-responses',
      settings: { baseUrl: `${url}/v1`, apiKey: 'up-secret-key-1', systemMessages: 'prompt' },
    },
    old: { plugin: 'old', settings: { baseUrl: url, apiKey: 'up-secret-key-1' } },
  },
  models: [
    ...[...FORMATS, 'old'].map((id) => model(id, { tools: true, reasoning: true })),
    ...['message-bare', 'responses-bare'].map((id) => model(id, { tools: true }, id)),
    ...FORMATS.map((id) => model(`${id}-files`, { documents: true, audio: true }, id)),
    ...FORMATS.map((id) => model(`${id}-sampling`, { sampling: true, reasoning: true }, id)),
    model('chat-caching', {}, 'chat', {
      cacheKey: 'send',
      stop: 'omit',
      systemMessages: 'in_place',
      verbosity: 'send',
    }),
    model('chat-thoughts', { tools: true, reasoning: true }, 'chat', { toolReasoning: 'blank' }),
    model('eyes', { vision: true }, 'chat'),
  ],
  vision: ['eyes'],
  smart: { lite: 'chat', standard: 'message', heavy: 'message' },
});

function model(id: string, more: object, upstream = id, options = {}): object {
  return {
    id,
    type: 'text',
    provider: 'Test',
    price: { input: '10000', output: '50000' },
    routes: [{ upstream, model: 'gemini-3-x', options }],
    ...more,
  };
}

export const user = (content: unknown = 'x') => ({ role: 'user', content });
export const makes = (...ids: readonly string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{"city":"A"}' } })),
});
export const gives = (id: string, content = 'r') => ({ role: 'tool', tool_call_id: id, content });
export const look = { name: 'look', input_schema: { type: 'object', properties: {} } };

/** The ids of calls and of results in what an upstream got. */
export function idsIn(format: (typeof FORMATS)[number], body: Json): { calls: string[]; results: string[] } {
  const text = JSON.stringify(body);
  const all = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, id]) => `${id}`);
  switch (format) {
    case 'chat':
      return { calls: all(/"id":"([^"]+)","type":"function"/g), results: all(/"tool_call_id":"([^"]+)"/g) };
    case 'message':
      return { calls: all(/"type":"tool_use","id":"([^"]+)"/g), results: all(/"tool_use_id":"([^"]+)"/g) };
    case 'contents':
      return {
        calls: all(/"functionCall":\{"id":"([^"]+)"/g),
        results: all(/"functionResponse":\{"id":"([^"]+)"/g),
      };
    case 'responses':
      return {
        calls: all(/"function_call","call_id":"([^"]+)"/g),
        results: all(/"function_call_output","call_id":"([^"]+)"/g),
      };
  }
}

export function text(said: string) {
  return { type: 'text', text: said };
}

export function result(id: string, content: unknown = 'r') {
  return { type: 'tool_result', tool_use_id: id, content };
}

/** 20 tokens at 10,000 and 10 at 50,000 roubles a million. */
export const COST = 0.7;

export interface RequestStage {
  readonly gateway: TestGateway;
  readonly upstream: TestUpstream;
  readonly account: TestAccount;
  /** Asks, checks what was charged, and returns what the upstream got. */
  ask(path: string, body: object, more?: { readonly cost?: number; readonly headers?: object }): Promise<Json>;
  /** Asks what is refused for nothing, and returns the message. */
  refused(path: string, body: object): Promise<string>;
  /** Also checks the money. */
  stop(): Promise<void>;
}

export async function startRequestStage(): Promise<RequestStage> {
  const upstream = await startUpstream(sayHi);
  const plugins = mkdtempSync(join(tmpdir(), 'plugins-'));
  mkdirSync(join(plugins, 'old'));
  writeFileSync(join(plugins, 'old', 'index.js'), OLD_PLUGIN);
  const gateway = await startGateway({ catalog: buildCatalog(upstream.url), env: { PROVIDERS_PATH: plugins } });
  const account = await gateway.account('10000');
  const charged = async () => Number((await gateway.wallet(account)).charged) / 1e6;

  return {
    gateway,
    upstream,
    account,
    async ask(path, body, { cost = COST, headers = {} } = {}) {
      const before = await charged();
      const sent = { key: account.key, headers: { ...headers }, body: { max_tokens: 50, ...body } };
      const reply = await send(gateway.url + path, sent);
      expect(reply.status, reply.text).to.equal(200);
      expect((await charged()) - before).to.be.closeTo(cost, 1e-6);
      return upstream.calls.at(-1)?.body;
    },
    async refused(path, body) {
      const asked = upstream.calls.length;
      const before = await charged();
      const reply = await send(gateway.url + path, { key: account.key, body: { max_tokens: 50, ...body } });
      expect(reply.status, reply.text).to.equal(400);
      expect(upstream.calls).to.have.length(asked);
      expect(await charged()).to.equal(before);
      return reply.json.error.message;
    },
    async stop() {
      await gateway.checkMoney();
      await gateway.stop();
      await upstream.close();
      rmSync(plugins, { recursive: true });
    },
  };
}
