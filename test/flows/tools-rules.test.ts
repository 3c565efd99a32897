// Which models get a call's tools, what is refused before any hold, and what calls of tools are held and billed for.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { CHAT, MESSAGES, parseEvents, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import {
  type Behaviour,
  chatAnswer,
  chatChunk,
  SSE,
  startUpstream,
  type TestUpstream,
} from '../../testkit/upstream.ts';
import { PNG } from '../media/sample-images.ts';

const model = (id: string, more: object = {}) => ({
  id,
  type: 'text',
  provider: 'Test',
  price: { input: '1000', output: '5000' },
  routes: [{ upstream: 'up', model: `up-${id}` }],
  ...more,
});
const buildCatalog = (url: string) => ({
  upstreams: {
    up: { plugin: 'openai-compatible', settings: { baseUrl: `${url}/v1`, apiKey: 'up-secret-key-1' } },
    other: { plugin: 'handless' },
  },
  models: [
    model('plain'),
    model('handy', { tools: true }),
    model('big', { price: { input: '2000', output: '9000' } }),
    model('handless', { tools: true, routes: [{ upstream: 'other', model: 'up-handless' }] }),
    model('free', { tools: true, demands: false }),
    model('certain', { tools: true, demands: 'named' }),
    model('eyes', { vision: true }),
    model('hands-and-eyes', { vision: true, tools: true }),
  ],
  smart: { lite: ['plain', 'handy'], standard: 'plain', heavy: 'big' },
  vision: ['eyes', 'hands-and-eyes'],
});

/** A plugin without tools. */
const HANDLESS =
  "export default { contract: 2, name: 'handless', settings: (joi) => joi.object(), create: () => ({ async *text() {} }) };";

const TOOL = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } };
const TOOLS = { tools: [TOOL] };
const HISTORY = [
  { role: 'user', content: 'look' },
  {
    role: 'assistant',
    content: 'Let me see.',
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"sky"}' } }],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'blue' },
];

/** A stream that calls a tool, and says what it used, if that is known. */
const calling =
  (pieces: readonly string[], usage?: object, name = 'look'): Behaviour =>
  ({ response }) => {
    const chunk = (value: object) => response.write(`data: ${JSON.stringify(value)}\n\n`);
    const delta = (piece: object) =>
      chunk({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...piece }] } }] });
    response.writeHead(200, SSE);
    delta({ id: 'call_1', type: 'function', function: { name, arguments: '' } });
    for (const piece of pieces) delta({ function: { arguments: piece } });
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] });
    if (usage) chunk({ choices: [], usage });
    response.end('data: [DONE]\n\n');
  };

describe('tools and models', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;
  let plugins: string;

  before(async () => {
    upstream = await startUpstream();
    plugins = await mkdtemp(join(tmpdir(), 'plugins-'));
    await mkdir(join(plugins, 'handless'));
    await writeFile(join(plugins, 'handless', 'index.js'), HANDLESS);
    gateway = await startGateway({ catalog: buildCatalog(upstream.url), env: { PROVIDERS_PATH: plugins } });
  });
  beforeEach(async () => {
    account = await gateway.account();
    upstream.calls.length = 0;
    upstream.behave(chatAnswer('Hello there.'));
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
    await rm(plugins, { recursive: true });
  });

  const chat = (fields: object) =>
    send(`${gateway.url}${CHAT}`, {
      key: account.key,
      body: { max_tokens: 1000, messages: [{ role: 'user', content: 'hi' }], ...fields },
    });
  const asked = () => upstream.calls.at(-1)?.body ?? {};
  const untouched = async () => {
    const { avail, held, charged } = await gateway.wallet(account);
    expect([avail, held, charged]).to.deep.equal([1_000_000_000n, 0n, 0n]);
    expect(upstream.calls).to.have.length(0);
  };

  it('passes tools to a model that supports them', async () => {
    const { status } = await chat({ model: 'handy', ...TOOLS, tool_choice: 'required' });
    expect(status).to.equal(200);
    expect(asked()).to.deep.include({ ...TOOLS, tool_choice: 'required' });
  });

  it('numbers the id of a call that an earlier call had, and the vendor finds the same text in the next request', async () => {
    upstream.behave(calling(['{}'], { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 }));
    const talk: unknown[] = [...HISTORY];
    for (const id of ['call_1_2', 'call_1_3']) {
      const { json } = await chat({ model: 'handy', ...TOOLS, messages: talk });
      const [{ message }] = json.choices;
      expect(message.tool_calls[0].id).to.equal(id);
      talk.push(message, { role: 'tool', tool_call_id: id, content: 'blue' });
    }
    await chat({ model: 'handy', ...TOOLS, messages: talk });
    const ids = (asked().messages as { tool_calls?: { id: string }[] }[]).flatMap(
      ({ tool_calls: calls = [] }) => calls,
    );
    expect(ids.map(({ id }) => id)).to.deep.equal(['call_1', 'call_1_2', 'call_1_3']);
  });

  it('begins a name with a letter for the vendor, and returns it as the client knows it', async () => {
    upstream.behave((call) => {
      const [{ function: sent }] = call.body.tools as [typeof TOOL];
      void calling(['{}'], { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 }, sent.name)(call);
    });
    const tools = [{ ...TOOL, function: { ...TOOL.function, name: '1c_reload' } }];
    const { json } = await chat({ model: 'handy', tools });
    expect(asked())
      .to.have.nested.property('tools[0].function.name')
      .that.matches(/^f_1c_reload_[0-9a-f]{8}$/);
    expect(json).to.have.nested.property('choices[0].message.tool_calls[0].function.name', '1c_reload');
  });

  it('drops them for a model without tools, and keeps the conversation', async () => {
    for (const choice of ['auto', 'none', undefined]) {
      const { status } = await chat({ model: 'plain', ...TOOLS, tool_choice: choice, messages: HISTORY });
      expect(status).to.equal(200);
      expect(asked()).to.not.have.any.keys('tools', 'tool_choice');
      expect(asked().messages).to.deep.equal([
        { role: 'user', content: 'look' },
        { role: 'assistant', content: 'Let me see.' },
        { role: 'user', content: 'blue' },
      ]);
    }
  });

  it('drops the calls of a model that was offered none', async () => {
    upstream.behave(calling(['{}'], { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 }));
    const { json } = await chat({ model: 'handy' });
    expect(json.choices).to.deep.equal([
      { index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'stop' },
    ]);
  });

  it('refuses a choice that a model without them cannot honour, before any hold', async () => {
    const named = { type: 'function', function: { name: 'look' } };
    for (const name of ['plain', 'handless']) {
      for (const choice of ['required', named]) {
        const { status, json } = await chat({ model: name, ...TOOLS, tool_choice: choice });
        expect(status).to.equal(400);
        expect(json.error.message).to.equal(`Invalid \`tool_choice\`: \`${name}\` has no tools that it could call.`);
      }
    }
    for (const choice of [{ type: 'any' }, { type: 'tool', name: 'look' }]) {
      const tools = [{ name: 'look', input_schema: { type: 'object', properties: {} } }];
      const body = { model: 'plain', messages: [{ role: 'user', content: 'hi' }], tools, tool_choice: choice };
      const { status, json } = await send(`${gateway.url}${MESSAGES}`, { key: account.key, body });
      expect([status, json.error.type]).to.deep.equal([400, 'invalid_request_error']);
    }
    await untouched();
  });

  it('requires one of certain tools where only that can be required', async () => {
    const named = { type: 'function', function: { name: 'look' } };
    for (const choice of ['required', named]) {
      expect((await chat({ model: 'certain', ...TOOLS, tool_choice: choice })).status).to.equal(200);
      expect(asked()).to.deep.include({ ...TOOLS, tool_choice: choice });
    }
    const both = [TOOL, { ...TOOL, function: { ...TOOL.function, name: 'listen' } }];
    expect((await chat({ model: 'certain', tools: both, tool_choice: named })).status).to.equal(200);
    account = await gateway.account();
    upstream.calls.length = 0;
    const { status, json } = await chat({ model: 'certain', tools: both, tool_choice: 'required' });
    expect([status, json.error.message]).to.deep.equal([
      400,
      'Invalid `tool_choice`: `certain` can be required to call a certain tool, not any.',
    ]);
    await untouched();
  });

  it('refuses a required call for a model that decides by itself, and still offers it tools', async () => {
    expect((await chat({ model: 'free', ...TOOLS, tool_choice: 'auto' })).status).to.equal(200);
    expect(asked()).to.deep.include({ ...TOOLS, tool_choice: 'auto' });
    account = await gateway.account();
    upstream.calls.length = 0;
    for (const choice of ['required', { type: 'function', function: { name: 'look' } }]) {
      const { status, json } = await chat({ model: 'free', ...TOOLS, tool_choice: choice });
      expect([status, json.error.message]).to.deep.equal([
        400,
        'Invalid `tool_choice`: `free` calls tools only as it sees fit.',
      ]);
    }
    await untouched();
  });

  it('refuses a thread in both envelopes, before any hold', async () => {
    for (const path of [MESSAGES, CHAT]) {
      const body = { model: 'handy', messages: [{ role: 'user', content: 'hi' }], thread: { type: 'create' } };
      const { status, json, headers } = await send(`${gateway.url}${path}`, { key: account.key, body });
      expect(status).to.equal(400);
      expect(headers['x-should-retry']).to.equal('false');
      expect(json.error.details).to.deep.equal({ error_code: 'thread_unsupported_request' });
    }
    await untouched();
  });

  it('lets smart prefer a model of the tier with tools', async () => {
    const lite = { role: 'user', content: 'Translate into French: good morning' };
    const askModel = async (fields: object) => (await chat({ model: 'smart', messages: [lite], ...fields })).json;
    const plain = await askModel({});
    const handy = await askModel(TOOLS);
    expect([plain.model, handy.model]).to.deep.equal(['plain', 'handy']);
    expect(handy.smart_routing).to.deep.equal(plain.smart_routing);
    const later = await askModel({ messages: [lite, ...HISTORY.slice(1)] });
    expect([later.model, later.smart_routing.tier]).to.deep.equal(['handy', 'lite']);
    // No tier above has one.
    const heavy = { role: 'user', content: 'Prove that there are infinitely many primes, and write a sieve in Rust.' };
    const demanded = await askModel({ ...TOOLS, tool_choice: 'required', messages: [heavy] });
    expect([demanded.model, demanded.smart_routing.tier]).to.deep.equal(['handy', 'heavy']);
  });

  it('shows images in tool results to a vision model with tools', async () => {
    const image_url = { url: `data:image/png;base64,${PNG.toString('base64')}` };
    const shown = { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'image_url', image_url }] };
    const { status, json } = await chat({ model: 'handy', ...TOOLS, messages: [...HISTORY.slice(0, 2), shown] });
    expect(status, JSON.stringify(json)).to.equal(200);
    expect(json.model).to.equal('hands-and-eyes');
    expect((asked().messages as { role: string }[]).map(({ role }) => role)).to.deep.equal([
      ...['user', 'assistant', 'tool', 'user'],
    ]);
    const without = await chat({
      model: 'plain',
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url }] }],
    });
    expect(without.json.model).to.equal('eyes');
  });

  it('counts definitions, arguments and results in the hold as text', async () => {
    const long = 'word '.repeat(8000);
    const reserve = async (fields: object) => (await chat({ model: 'handy', ...fields })).json.billing.reserved_rub;
    const nothing = await reserve({ messages: HISTORY.slice(0, 1) });
    const definition = { ...TOOL, function: { ...TOOL.function, description: long } };
    const [, call, answer] = HISTORY as [object, { tool_calls: [object] }, object];
    const calls = [{ ...call.tool_calls[0], function: { name: 'look', arguments: JSON.stringify({ long }) } }];
    const added = [
      await reserve({ messages: HISTORY.slice(0, 1), tools: [definition] }),
      await reserve({ messages: [HISTORY[0], { ...call, tool_calls: calls }, answer] }),
      await reserve({ messages: [HISTORY[0], call, { ...answer, content: long }] }),
    ].map((rub) => rub - nothing);
    // 10,000 tokens at 1000 RUB per million.
    for (const rub of added) expect(rub).to.be.within(10, 10.1);
  });

  it("bills arguments by the upstream's count, or by an estimate without one", async () => {
    const pieces = ['{"text":"', ...Array(4).fill(' word'.repeat(250)), '"}'];
    upstream.behave(calling(pieces));
    const { json } = await chat({ model: 'handy', ...TOOLS, max_tokens: 30_000 });
    expect(json.usage.completion_tokens).to.be.within(1000, 1006);
    upstream.behave(calling(pieces, { prompt_tokens: 50, completion_tokens: 700, total_tokens: 750 }));
    const counted = await chat({ model: 'handy', ...TOOLS });
    expect(counted.json.usage).to.deep.equal({ prompt_tokens: 50, completion_tokens: 700, total_tokens: 750 });
    expect(counted.json.billing.charged_rub).to.equal(0.05 + 3.5);
  });

  it('charges for a call that breaks off after its first piece', async () => {
    upstream.behave(({ response }) => {
      response.writeHead(200, SSE);
      const piece = { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":' } };
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [piece] } }] })}\n\n`);
      response.end();
    });
    const { text } = await chat({ model: 'handy', ...TOOLS, stream: true });
    const events = parseEvents(text).map(({ data }) => data);
    expect(events.at(-2).error).to.include({ code: 'upstream_error' });
    expect(events.at(-2).error.message).to.not.contain('refunded');
    expect((await gateway.wallet(account)).charged).to.equal(500_000n);
  });

  it('writes the same bytes as before without tools', async () => {
    upstream.behave(({ response }) => {
      response.writeHead(200, SSE);
      response.end(
        `${chatChunk('Hi')}data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`,
      );
    });
    const { text } = await chat({ model: 'handy', stream: true });
    const [role, content] = text.split('\n\n');
    expect(role).to.match(
      /^data: \{"id":"chatcmpl_[^"]+","object":"chat.completion.chunk","created":\d+,"model":"handy","choices":\[\{"index":0,"delta":\{"role":"assistant","content":""\},"finish_reason":null\}\]\}$/,
    );
    expect(content?.slice(content.indexOf('"choices"'))).to.equal(
      '"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}',
    );
    expect(asked()).to.deep.equal({
      model: 'up-handy',
      messages: [{ role: 'user', content: 'hi' }],
      stream: true,
      max_tokens: 1000,
      stream_options: { include_usage: true },
    });
  });
});
