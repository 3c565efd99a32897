// The responses dialect on real sockets: what only this dialect has, and how its streams end.
import { expect } from 'chai';
import { ask, parseEvents, RESPONSES, send, until } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import {
  answerStatus,
  chatAnswer,
  chatChunk,
  chatEnd,
  SSE,
  startUpstream,
  type TestUpstream,
} from '../../testkit/upstream.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
type Json = any;

const chunk = (delta: object, reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'up', model: 'up', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
const calling = (index: number, name: string, json: string) =>
  chunk({ tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: json } }] });

const PATCH = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Edits files.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "*** Begin Patch"' },
};
const FILES = {
  type: 'namespace',
  name: 'mcp__files__',
  description: 'Files.',
  tools: [{ type: 'function', name: 'read', parameters: { type: 'object', properties: {} } }],
};

describe('responses', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream();
    const catalog = chatCatalog(upstream.url) as { models: { id: string }[] };
    const models = catalog.models.map((model) => (model.id === 'model-a' ? { ...model, tools: true } : model));
    gateway = await startGateway({ catalog: { ...catalog, models } });
  });
  beforeEach(async () => {
    account = await gateway.account();
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const post = (body: object) =>
    send(gateway.url + RESPONSES, { key: account.key, body: { model: 'model-a', max_output_tokens: 1000, ...body } });
  const stream = async (body: object): Promise<readonly Json[]> => {
    const { text } = await post({ ...body, stream: true });
    return parseEvents(text).map(({ data }, at) => {
      expect(data.sequence_number).to.equal(at);
      return data;
    });
  };
  const askedLast = (): Json => upstream.calls.at(-1)?.body;
  const speak = (...events: readonly string[]) =>
    upstream.behave(({ response }) => void response.writeHead(200, SSE).end(events.join('') + chatEnd({})));

  it('carry custom tools and namespaces to an upstream that knows functions only, and back', async () => {
    const patch = '*** Begin Patch\n*** Update File: "a"\n';
    speak(calling(0, 'mcp__files__read', '{"path":"a"}'), calling(1, 'apply_patch', JSON.stringify({ input: patch })));
    const tools = [PATCH, FILES, { type: 'web_search' }];
    const events = await stream({ input: 'Fix it.', tools });
    const asked = askedLast();
    expect(asked.tools.map((tool: Json) => tool.function.name)).to.deep.equal(['apply_patch', 'mcp__files__read']);
    const { output } = events.at(-1).response;
    expect(output[0]).to.deep.include({ type: 'function_call', namespace: 'mcp__files__', name: 'read' });
    expect(output[1]).to.deep.include({ type: 'custom_tool_call', name: 'apply_patch', input: patch });
    const results = [
      { type: 'function_call_output', call_id: output[0].call_id, output: 'old' },
      { type: 'custom_tool_call_output', call_id: output[1].call_id, output: 'Done.' },
    ];
    upstream.behave(chatAnswer('Fixed.'));
    const input = [{ role: 'user', content: 'Fix it.' }, ...output, ...results];
    expect((await post({ input, tools })).status).to.equal(200);
    const { messages } = askedLast();
    expect(messages[1].tool_calls.map((call: Json) => call.function)).to.deep.equal([
      { name: 'mcp__files__read', arguments: '{"path":"a"}' },
      { name: 'apply_patch', arguments: JSON.stringify({ input: patch }) },
    ]);
    expect(messages.slice(2).map(({ content }: Json) => content)).to.deep.equal(['old', 'Done.']);
  });

  it('serve calls that an upstream interleaves one after the other', async () => {
    const piece = (index: number, json: string) => chunk({ tool_calls: [{ index, function: { arguments: json } }] });
    speak(calling(0, 'a', ''), calling(1, 'b', ''), piece(1, '{"b":'), piece(0, '{"a":1}'), piece(1, '2}'));
    const tools = ['a', 'b'].map((name) => ({ type: 'function', name, parameters: { type: 'object' } }));
    const events = await stream({ input: 'hi', tools });
    const items = events.filter(({ type }) => /output_item/.test(type)).map(({ type, output_index: at }) => [type, at]);
    expect(items).to.deep.equal([
      ['response.output_item.added', 0],
      ['response.output_item.done', 0],
      ['response.output_item.added', 1],
      ['response.output_item.done', 1],
    ]);
    expect(events.at(-1).response.output.map((item: Json) => item.arguments)).to.deep.equal(['{"a":1}', '{"b":2}']);
  });

  it('are complete if the model declines, and say so in a part of its own', async () => {
    speak(chunk({ content: 'Hm. ' }), chunk({ refusal: 'I ' }), chunk({ refusal: 'cannot.' }));
    const events = await stream({ input: 'hi' });
    expect(events.filter(({ type }) => type === 'response.refusal.delta').map(({ delta }) => delta)).to.deep.equal([
      'I ',
      'cannot.',
    ]);
    const { type, response } = events.at(-1);
    expect(type).to.equal('response.completed');
    expect(response.output.map((item: Json) => item.content[0])).to.deep.equal([
      { type: 'output_text', annotations: [], logprobs: [], text: 'Hm. ' },
      { type: 'refusal', refusal: 'I cannot.' },
    ]);
  });

  it('fail with the code that agents know if they are too long for the model, and as an error if not streamed', async () => {
    const words = 'their own words';
    upstream.behave(answerStatus(400, { error: { message: words, code: 'context_length_exceeded' } }));
    const message = 'The prompt is too long for the model. Shorten it or lower `max_tokens`. Charge refunded.';
    const events = await stream({ input: 'hi' });
    const error = { code: 'context_length_exceeded', type: 'api_error', message };
    expect(events.at(-1).response.error).to.deep.equal(error);
    const { status, json } = await post({ input: 'hi' });
    expect(status).to.equal(502);
    expect(json).to.deep.equal({ error: { ...error, code: 'upstream_error' } });
    expect(await gateway.wallet(account)).to.include({ held: 0n, charged: 0n });
  });

  it('fail with a code by which agents do not try again what the upstream refuses', async () => {
    const complaint = { error: { message: 'flagged', code: 'content_policy_violation' } };
    for (const body of [complaint, { error: { message: 'no' } }]) {
      upstream.behave(answerStatus(400, body));
      expect((await stream({ input: 'hi' })).at(-1).response.error.code).to.equal('invalid_prompt');
      const { json, headers } = await post({ input: 'hi' });
      expect(json.error.code).to.equal('upstream_error');
      expect(headers['x-should-retry']).to.equal('false');
    }
    expect(await gateway.wallet(account)).to.include({ held: 0n, charged: 0n });
  });

  it('fail in the words of the gateway, before the first fragment and after it', async () => {
    upstream.behave(answerStatus(500));
    const early = await stream({ input: 'hi' });
    expect(early.map(({ type }) => type)).to.deep.equal([
      'response.created',
      'response.in_progress',
      'error',
      'response.failed',
    ]);
    expect(early[3].response).to.deep.include({
      status: 'failed',
      model: 'model-a',
      error: { code: 'upstream_error', type: 'api_error', message: 'The upstream provider failed. Charge refunded.' },
    });
    expect(await gateway.wallet(account)).to.include({ held: 0n, charged: 0n });
    upstream.behave(({ response }) => {
      response.writeHead(200, SSE).write(chatChunk('Hello '));
      setTimeout(() => response.destroy(), 50);
    });
    const late = await stream({ input: 'hi' });
    expect(late.at(-1).type).to.equal('response.failed');
    expect(late.at(-1).response.error.message).to.not.contain('refunded');
    expect(late.at(-1).response.output[0]).to.deep.include({ type: 'message', status: 'incomplete' });
    expect((await gateway.wallet(account)).charged).to.equal(500_000n);
    const { status, json } = await post({ input: 'hi', model: 'nobody', stream: true });
    expect([status, json.error.code]).to.deep.equal([400, 'invalid_request']);
  });

  it('keep the connection alive until the first fragment', async () => {
    const quick = await startGateway({ catalog: chatCatalog(upstream.url), timings: { heartbeatMs: 30 } });
    try {
      const { key } = await quick.account();
      upstream.behave(({ response }) => {
        response.writeHead(200, SSE);
        setTimeout(() => response.end(chatChunk('Hi') + chatEnd({})), 200);
      });
      const { text } = await send(quick.url + RESPONSES, { key, body: ask('hi', { stream: true }) });
      expect(text).to.match(/^(?:: keep-alive\n\n){2,}event: response\.created\n/);
      await quick.checkMoney();
    } finally {
      await quick.stop();
    }
  });

  it('refuse an earlier response by the code after which clients send the whole conversation', async () => {
    for (const stream of [false, true]) {
      const { status, json } = await post({ input: 'and then?', store: true, previous_response_id: 'resp_1', stream });
      expect([status, json.error.type, json.error.code]).to.deep.equal([
        400,
        'invalid_request_error',
        'previous_response_not_found',
      ]);
    }
    expect((await gateway.wallet(account)).held).to.equal(0n);
  });

  it('repeat what they are asked to, also of a body that is parsed on another thread', async () => {
    upstream.behave(chatAnswer('Hello.'));
    const more = {
      metadata: { run: '7' },
      instructions: 'Be brief.',
      tools: [PATCH],
      prompt_cache_key: 'k',
      store: true,
    };
    for (const input of ['hi', `${'word '.repeat(60_000)}hi`]) {
      speak(calling(0, 'apply_patch', '{"input":"x"}'));
      const { status, json, text } = await post({ input, ...more });
      expect(status, text).to.equal(200);
      expect(json).to.deep.include({ ...more, store: false, previous_response_id: null });
      expect(json.output[0]).to.deep.include({ type: 'custom_tool_call', input: 'x' });
    }
  });

  it('charge exactly what the last event says', async () => {
    upstream.behave(chatAnswer('Hello.', { input: 9, output: 400 }));
    const { billing, usage } = (await stream({ input: 'hi' })).at(-1).response;
    expect(billing.charged_rub).to.equal(2.009);
    expect(usage).to.deep.include({ input_tokens: 9, output_tokens: 400, total_tokens: 409 });
    await until(async () => (await gateway.wallet(account)).held === 0n);
    expect((await gateway.wallet(account)).charged).to.equal(2_009_000n);
  });
});
