// Answers in the shapes that upstreams were seen to send, through the whole gateway: text, calls, ending, usage, charge.
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { countPrompt } from '../../lib/money/price.ts';
import { readTokens } from '../../lib/money/token-usage.ts';
import { CHAT, MESSAGES, parseEvents, type StreamEvent, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';

interface Shape {
  readonly name: string;
  /** That the upstream speaks. */
  readonly format: keyof typeof UPSTREAMS;
  /** Its events come so slowly that only their content keeps the call alive. */
  readonly isSlow?: boolean;
  readonly text?: string;
  /** Name and arguments of each. */
  readonly calls?: readonly string[];
  /** The answer fails behind its text. */
  readonly fails?: boolean;
  /** Default: 20 and 10. */
  readonly usage?: readonly [prompt: number, completion: number];
  readonly events: readonly { readonly type?: string }[];
}

const UPSTREAMS = {
  chat: { plugin: 'openai-compatible', path: '/v1' },
  messages: { plugin: 'anthropic', path: '' },
  responses: { plugin: 'openai-responses', path: '/v1' },
  contents: { plugin: 'gemini', path: '/v1beta' },
} as const;

const SHAPES: readonly Shape[] = JSON.parse(
  readFileSync(new URL('fixtures/answer-shapes.json', import.meta.url), 'utf8'),
);

const PRICE = { input: 20_000, output: 100_000 };
const EVENT_MS = 150;
const SILENCE_MS = 900;

const schema = { type: 'object', properties: { city: { type: 'string' } } };
const NAMES = ['get_weather', 'get_time'];
const TOOLS = {
  [CHAT]: NAMES.map((name) => ({ type: 'function', function: { name, parameters: schema } })),
  [MESSAGES]: NAMES.map((name) => ({ name, input_schema: schema })),
};

const WAYS = [
  [CHAT, true],
  [MESSAGES, true],
  [CHAT, false],
  [MESSAGES, false],
] as const;

interface Seen {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly said: string }[];
  readonly finish: string | undefined;
}

describe('answers in the shapes of upstreams', () => {
  let upstream: Server;
  let gateway: TestGateway;
  let account: TestAccount;
  let playing: Shape | undefined;

  before(async () => {
    upstream = createServer(async (request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of playing?.events ?? []) {
        response.write(`${event.type ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`);
        if (playing?.isSlow) await sleep(EVENT_MS);
      }
      response.end(playing?.format === 'chat' ? 'data: [DONE]\n\n' : '');
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const { port } = upstream.address() as AddressInfo;
    gateway = await startGateway({
      catalog: buildCatalog(`http://127.0.0.1:${port}`),
      env: { FIRST_TOKEN_TIMEOUT_MS: `${SILENCE_MS}`, IDLE_TIMEOUT_MS: `${SILENCE_MS}` },
    });
    account = await gateway.account('100000');
  });
  after(async () => {
    await gateway.checkMoney();
    await gateway.stop();
    upstream.close();
  });

  for (const [at, shape] of SHAPES.entries()) {
    for (const [way, [path, stream]] of WAYS.entries()) {
      // In `npm test` each goes one of its four ways.
      if (longer(at % WAYS.length !== way, false)) continue;
      it(`${shape.format}: ${shape.name}: ${path === CHAT ? 'chat' : 'message'}${stream ? ', streaming' : ''}`, async () => {
        playing = shape;
        const body = {
          model: `m-${shape.format}`,
          max_tokens: 512,
          stream,
          messages: [{ role: 'user', content: 'Hello there' }],
          ...(shape.calls && { tools: TOOLS[path] }),
        };
        const reply = await send(gateway.url + path, { key: account.key, body });
        if (shape.fails) {
          if (!stream) expect(reply.status, reply.text).to.equal(502);
          else expect(reply.text).to.contain('"error"').and.to.contain(shape.text);
          return;
        }
        expect(reply.status, reply.text).to.equal(200);
        check(shape, stream ? readStream(path, parseEvents(reply.text)) : readWhole(path, reply.text), path);
        const charge = await gateway.store.ledger.charge(String(reply.headers['x-request-id']));
        const [input, output] = shape.usage ?? [20, 10];
        const billed = readTokens(JSON.parse(charge?.usage ?? '{}')) ?? expect.fail('it has no counts');
        expect([countPrompt(billed), billed.output]).to.deep.equal([input, output]);
        // Micro-roubles, of prices for a million tokens.
        expect(charge?.charged).to.equal(BigInt(input * PRICE.input + output * PRICE.output));
      });
    }
  }
});

function buildCatalog(origin: string): object {
  const formats = Object.entries(UPSTREAMS);
  return {
    upstreams: Object.fromEntries(
      formats.map(([format, { plugin, path }]) => [
        format,
        { plugin, settings: { baseUrl: origin + path, apiKey: 'key' } },
      ]),
    ),
    models: formats.map(([format]) => ({
      id: `m-${format}`,
      type: 'text',
      provider: 'Test',
      routes: [{ upstream: format, model: 'm' }],
      tools: true,
      price: { input: `${PRICE.input}`, output: `${PRICE.output}` },
    })),
  };
}

function check({ text = '', calls = [] }: Shape, seen: Seen, path: string): void {
  expect(seen.text).to.equal(text);
  expect(seen.calls.map(({ said }) => said)).to.deep.equal(calls);
  expect(new Set(seen.calls.map(({ id }) => id)).size, 'ids').to.equal(calls.length);
  const [stop, tool] = path === CHAT ? ['stop', 'tool_calls'] : ['end_turn', 'tool_use'];
  expect(seen.finish).to.equal(calls.length > 0 ? tool : stop);
}

/** The arguments of a call of a whole message as they are written, not as a number would have them. */
function argumentsIn(reply: string): readonly string[] {
  return [...reply.matchAll(/"input":(\{[^}]*\})/g)].map(([, json = '']) => json);
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
type Any = any;

function readWhole(path: string, said: string): Seen {
  const reply: Any = JSON.parse(said);
  if (path === CHAT) {
    const { message, finish_reason: finish } = reply.choices[0];
    const calls = (message.tool_calls ?? []).map((call: Any) => ({
      id: call.id,
      said: `${call.function.name} ${call.function.arguments}`,
    }));
    return { text: message.content ?? '', calls, finish };
  }
  const ofType = (type: string) => reply.content.filter((block: Any) => block.type === type);
  const args = argumentsIn(said);
  const calls = ofType('tool_use').map((block: Any, at: number) => ({
    id: block.id,
    said: `${block.name} ${args[at]}`,
  }));
  const text = ofType('text').map((block: Any) => block.text);
  return { text: text.join(''), calls, finish: reply.stop_reason };
}

function readStream(path: string, events: readonly StreamEvent[]): Seen {
  let text = '';
  let finish: string | undefined;
  const calls: { id: string; said: string }[] = [];
  for (const { data } of events) {
    const choice = path === CHAT ? data.choices?.[0] : data;
    const delta = choice?.delta ?? {};
    text += delta.content ?? delta.text ?? '';
    finish = choice?.finish_reason ?? delta.stop_reason ?? finish;
    for (const piece of delta.tool_calls ?? []) {
      if (piece.id) calls.push({ id: piece.id, said: `${piece.function.name} ` });
      const call = calls[piece.index];
      if (call) call.said += piece.function.arguments;
    }
    if (data.content_block?.type === 'tool_use') {
      calls.push({ id: data.content_block.id, said: `${data.content_block.name} ` });
    }
    const last = calls.at(-1);
    if (delta.partial_json && last) last.said += delta.partial_json;
  }
  return { text, calls, finish };
}
