// An agent's loop of many calls over a long prefix: through the gateway, its vendor reads from its cache what it reads
// directly, the client is told, and pays for just that.
import { expect } from 'chai';
import { CHAT, MESSAGES, RESPONSES, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { type CachingVendor, type Counted, createChatVendor, createMessageVendor } from '../../testkit/prompt-cache.ts';
import { startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const CALLS = longer(12, 41);
/** After this call the user is away for longer than the cache keeps. */
const PAUSE_AFTER = longer(8, 30);
const SCRIPT = {
  calls: CALLS,
  tool: 'tool_7',
  arguments: (at: number) => JSON.stringify({ path: `/src/file-${at}.ts`, lines: at }),
};

const words = (count: number, seed: string) => Array.from({ length: count }, (_, at) => `${seed}${at % 97}`).join(' ');
/** At least so many tokens of the system prompt and the tools together. */
const PREFIX = longer(14_000, 60_000);
const SYSTEM = words(longer(6_000, 33_000), 'word');
const TOOLS = Array.from({ length: 20 }, (_, at) => ({
  name: `tool_${at}`,
  description: words(120, `use${at}-`),
  input_schema: { type: 'object', properties: { path: { type: 'string' }, lines: { type: 'integer' } } },
}));
const PROMPT = 'Mend the failing test.';
const result = (at: number) => words(150, `line${at}-`);
const MARKER = { cache_control: { type: 'ephemeral' } };

// biome-ignore lint/suspicious/noExplicitAny: a reply of any shape
type Json = any;

/** A client of one dialect: the body of its next request, and what it makes of a reply. */
interface Agent {
  readonly path: string;
  body(): object;
  /** Returns what the reply counts. */
  take(reply: Json): Counted;
}

/** It marks the ends of its tools, of its system prompt and of the last message, unless that is left to the gateway. */
function createMessageAgent({ marks = true } = {}): Agent {
  const mark = marks ? MARKER : {};
  const messages: Json[] = [{ role: 'user', content: [{ type: 'text', text: PROMPT }] }];
  return {
    path: MESSAGES,
    body: () => ({
      system: [{ type: 'text', text: SYSTEM, ...mark }],
      tools: TOOLS.with(-1, { ...(TOOLS.at(-1) as (typeof TOOLS)[number]), ...mark }),
      messages: messages.with(-1, { role: 'user', content: [{ ...messages.at(-1).content[0], ...mark }] }),
    }),
    take({ content, usage }) {
      messages.push({ role: 'assistant', content });
      const [{ id }] = content;
      const seen = [{ type: 'text', text: result(messages.length) }];
      messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: seen }] });
      const { input_tokens: input, output_tokens: output } = usage;
      const { cache_read_input_tokens: read = 0, cache_creation_input_tokens: written = 0 } = usage;
      return { input, read, written, output };
    },
  };
}

function createChatAgent({ marks = true } = {}): Agent {
  const mark = marks ? MARKER : {};
  const system = { role: 'system', content: [{ type: 'text', text: SYSTEM, ...mark }] };
  const tools = TOOLS.map(({ input_schema: parameters, ...tool }) => {
    return { type: 'function', function: { ...tool, parameters } };
  });
  const messages: Json[] = [{ role: 'user', content: [{ type: 'text', text: PROMPT }] }];
  return {
    path: CHAT,
    body: () => ({
      tools: tools.with(-1, { ...(tools.at(-1) as (typeof tools)[number]), ...mark }),
      messages: [
        system,
        ...messages.with(-1, { ...messages.at(-1), content: [{ ...messages.at(-1).content[0], ...mark }] }),
      ],
    }),
    take({ choices, usage }) {
      const [{ message }] = choices;
      messages.push(message);
      const [{ id }] = message.tool_calls ?? [{}];
      const content = [{ type: 'text', text: result(messages.length) }];
      messages.push({ role: 'tool', tool_call_id: id, content });
      const { cached_tokens: read = 0, cache_write_tokens: written = 0 } = usage.prompt_tokens_details ?? {};
      return { input: usage.prompt_tokens - read - written, read, written, output: usage.completion_tokens };
    },
  };
}

/** In micro-roubles for a token, and as the catalog has it. */
const RATES = { input: 300n, output: 1500n, read: 30n, written: 375n };
const PRICE = { input: '300', output: '1500', cacheRead: '30', cacheWrite: '375' };
const MINIMUM = 500_000n;

function computeCost({ input, output, read, written }: Counted): bigint {
  const cost =
    BigInt(input) * RATES.input +
    BigInt(output) * RATES.output +
    BigInt(read) * RATES.read +
    BigInt(written) * RATES.written;
  return cost < MINIMUM ? MINIMUM : cost;
}

/** It has no markers: what is cached is named by a key, or marked by the gateway. */
function createResponsesAgent(): Agent {
  const tools = TOOLS.map(({ input_schema: parameters, ...tool }) => ({ type: 'function', ...tool, parameters }));
  const input: Json[] = [{ role: 'user', content: [{ type: 'input_text', text: PROMPT }] }];
  return {
    path: RESPONSES,
    body: () => ({ instructions: SYSTEM, tools, input, prompt_cache_key: 'loop', store: false }),
    take({ output: items, usage }) {
      input.push(...items);
      const [{ call_id: id }] = items;
      input.push({ type: 'function_call_output', call_id: id, output: result(2 * Math.floor(input.length / 2)) });
      const { input_tokens: prompt, output_tokens: output } = usage;
      const { cached_tokens: read, cache_write_tokens: written } = usage.input_tokens_details;
      return { input: prompt - read - written, read, written, output };
    },
  };
}

const sum = (counted: readonly Counted[]): Counted => ({
  input: counted.reduce((total, { input }) => total + input, 0),
  read: counted.reduce((total, { read }) => total + read, 0),
  written: counted.reduce((total, { written }) => total + written, 0),
  output: counted.reduce((total, { output }) => total + output, 0),
});

describe(`${CALLS} calls over a long prefix`, () => {
  let upstreams: Readonly<Record<'message' | 'chat', TestUpstream>>;
  let gateway: TestGateway;
  let account: TestAccount;
  const direct: Partial<Record<'message' | 'chat', Counted>> = {};

  before(async () => {
    upstreams = { message: await startUpstream(), chat: await startUpstream() };
    const model = { type: 'text', provider: 'Test', tools: true };
    gateway = await startGateway({
      catalog: {
        upstreams: {
          message: { plugin: 'anthropic', settings: { baseUrl: upstreams.message.url, apiKey: 'key' } },
          chat: { plugin: 'openai-compatible', settings: { baseUrl: `${upstreams.chat.url}/v1`, apiKey: 'key' } },
        },
        models: [
          { ...model, id: 'message', price: PRICE, routes: [{ upstream: 'message', model: 'm' }] },
          { ...model, id: 'message-auto', price: PRICE, cache: 'auto', routes: [{ upstream: 'message', model: 'm' }] },
          { ...model, id: 'chat', price: PRICE, routes: [{ upstream: 'chat', model: 'm' }] },
        ],
      },
    });
    account = await gateway.account('100000');
    for (const kind of ['message', 'chat'] as const) {
      const agent = kind === 'message' ? createMessageAgent() : createChatAgent();
      const { counted } = await loop(kind, agent, (body) => send(upstreams[kind].url, { body }));
      direct[kind] = sum(counted);
    }
  });
  after(async () => {
    await gateway.checkMoney();
    await gateway.stop();
    for (const upstream of Object.values(upstreams)) await upstream.close();
  });

  /** Runs all calls at a vendor with an empty cache. */
  async function loop(kind: 'message' | 'chat', agent: Agent, ask: (body: object) => Promise<{ json: Json }>) {
    const vendor: CachingVendor = kind === 'message' ? createMessageVendor(SCRIPT) : createChatVendor(SCRIPT);
    upstreams[kind].behave(vendor.behaviour);
    const told: Counted[] = [];
    for (let call = 1; call <= CALLS; call += 1) {
      const { json } = await ask({ ...agent.body(), model: 'm', max_tokens: 1000 });
      if (!json?.usage) throw new Error(JSON.stringify(json));
      told.push(agent.take(json));
      vendor.wait(call === PAUSE_AFTER ? 6 * 60_000 : 20_000);
    }
    return { counted: vendor.counted, told };
  }

  it('are read from the cache by the vendors themselves', () => {
    expect(direct.message?.read).to.be.above((CALLS - 3) * PREFIX);
    expect(direct.chat?.read).to.be.above((CALLS - 3) * PREFIX);
    expect(direct.message?.written).to.be.within(2 * PREFIX, 3 * PREFIX);
  });

  const combinations: readonly (readonly [client: string, model: string, kind: 'message' | 'chat', agent: Agent])[] = [
    ['a message', 'message', 'message', createMessageAgent()],
    ['a chat', 'message', 'message', createChatAgent()],
    ['a message without markers', 'message-auto', 'message', createMessageAgent({ marks: false })],
    ['a chat without markers', 'message-auto', 'message', createChatAgent({ marks: false })],
    ['a response', 'message-auto', 'message', createResponsesAgent()],
    ['a message', 'chat', 'chat', createMessageAgent()],
    ['a response', 'chat', 'chat', createResponsesAgent()],
    ['a chat', 'chat', 'chat', createChatAgent()],
  ];
  for (const [client, model, kind, agent] of combinations) {
    it(`count as directly, and are told and billed: ${client} to ${model}`, async () => {
      const { path } = agent;
      const before = await gateway.wallet(account);
      const { counted, told } = await loop(kind, agent, (body) =>
        send(gateway.url + path, { key: account.key, body: { ...body, model } }),
      );
      expect(told).to.deep.equal(counted);
      const { charged } = await gateway.wallet(account);
      expect(charged - before.charged).to.equal(counted.map(computeCost).reduce((total, cost) => total + cost));
      const all = sum(counted);
      for (const name of ['input', 'read', 'written', 'output'] as const) {
        const expected = direct[kind]?.[name] ?? 0;
        expect(all[name], name).to.be.within(Math.floor(expected * 0.99), Math.ceil(expected * 1.01));
      }
    });
  }
});
