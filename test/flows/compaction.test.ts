// Compactions on real sockets: a client asks for a summary in place of its conversation, by a path or by an item, and any
// model goes on with it.
import { expect } from 'chai';
import { COMPACT, parseEvents, RESPONSES, send } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { chatAnswer, chatChunk, chatEnd, SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
type Json = any;

const SUMMARY = 'Goal: “fix” a.ts — half is done.\nNext: run the tests.';
const TRIGGER = { type: 'compaction_trigger' };
const TOOL = { type: 'function', name: 'read', parameters: { type: 'object', properties: {} } };

describe('compactions', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream();
    const catalog = chatCatalog(upstream.url) as { models: { id: string }[] };
    const able = { tools: true, json: true };
    const models = catalog.models.map((model) => (model.id === 'model-a' ? { ...model, ...able } : model));
    const { upstreams } = catalog as unknown as { upstreams: object };
    const settings = { baseUrl: `${upstream.url}/v1`, apiKey: 'up-secret-key-2' };
    const phased = { ...models[0], id: 'phased', reasoning: true, aliases: [] };
    gateway = await startGateway({
      catalog: {
        ...catalog,
        upstreams: { ...upstreams, phases: { plugin: 'openai-responses', settings } },
        models: [...models, { ...phased, routes: [{ upstream: 'phases', model: 'up-model' }] }],
        smart: { lite: ['model-a'], standard: ['model-a'], heavy: ['model-a'] },
      },
      timings: { heartbeatMs: 20 },
    });
  });
  beforeEach(async () => {
    account = await gateway.account();
    upstream.behave(chatAnswer(SUMMARY, { input: 1000, output: 200 }));
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const post = (path: string, body: object) =>
    send(gateway.url + path, { key: account.key, body: { model: 'model-a', ...body } });
  const askedLast = (): Json => upstream.calls.at(-1)?.body;
  const user = (text: string) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
  const HISTORY = [
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
    user('Fix a.ts.'),
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I read it.' }] },
    { type: 'function_call', call_id: 'call_1', name: 'read', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'const a = 1;' },
    { id: 'msg_5', status: 'incomplete', role: 'user', content: 'Mind the types.' },
  ];

  it('keep the messages of the user beside a summary, and are billed like an answer', async () => {
    const reply = await post(COMPACT, {
      input: HISTORY,
      instructions: 'Work.',
      tools: [TOOL],
      stream: true,
    });
    expect(reply.status).to.equal(200);
    const { json } = reply;
    const { output, usage, billing } = json;
    expect(json).to.include({ object: 'response.compaction', model: 'model-a' });
    const ids = output.map(({ id }: Json) => id);
    expect(ids.slice(0, 2)).to.deep.equal([`msg_${ids[2].slice(4)}_0`, 'msg_5']);
    const kept = output.slice(0, 2).map(({ id: _id, ...item }: Json) => item);
    expect(kept).to.deep.equal([
      { ...HISTORY[1], status: 'completed' },
      { ...user('Mind the types.'), status: 'incomplete' },
    ]);
    expect(output.slice(2).map(({ type }: Json) => type)).to.deep.equal(['compaction']);
    expect(output[2].id).to.match(/^cmp_/);
    expect(usage).to.include({ input_tokens: 1000, output_tokens: 200 });
    expect(billing.charged_rub).to.equal(2);
    const { messages, tools, tool_choice } = askedLast();
    expect(messages[0].content).to.equal('Work.\n\nBe brief.');
    expect(messages.at(-2).content).to.equal('Mind the types.');
    expect(messages.at(-1).content).to.contain('takes its place');
    expect([tools.length, tool_choice]).to.deep.equal([1, 'none']);

    upstream.behave(chatAnswer('Done.'));
    const next = await post(RESPONSES, { input: [...output, user('Go on.')] });
    expect([next.status, next.json.output[0].content[0].text]).to.deep.equal([200, 'Done.']);
    expect(JSON.stringify(askedLast().messages)).to.contain(JSON.stringify(SUMMARY).slice(1, -1));
    const alone = await post(RESPONSES, { input: [output[2]] });
    expect(alone.status, 'a summary says what to do next').to.equal(200);
  });

  for (const stream of [true, false]) {
    it(`come as the only item of a response, if the conversation ends with a trigger (stream: ${stream})`, async () => {
      const text = { format: { type: 'json_object' } };
      const setting = { type: 'configuration_update', text: { format: { type: 'json_object' } } };
      const input = [...HISTORY, setting, TRIGGER];
      const reply = await post(RESPONSES, {
        input,
        tools: [TOOL],
        tool_choice: 'required',
        text,
        stop: ['half'],
        stream,
      });
      const events = stream ? parseEvents(reply.text).map(({ data }) => data) : [];
      const response = stream ? events.at(-1).response : reply.json;
      expect(response).to.include({ object: 'response', status: 'completed' });
      expect(response.output.map(({ type }: Json) => type)).to.deep.equal(['compaction']);
      expect(response.usage).to.include({ input_tokens: 1000, output_tokens: 200 });
      expect(askedLast()).to.include({ tool_choice: 'none' }).and.to.not.have.any.keys('response_format', 'stop');
      if (stream) {
        const types = 'created in_progress output_item.added output_item.done completed'.split(' ');
        expect(events.map(({ type }) => type)).to.deep.equal(types.map((type) => `response.${type}`));
        expect(events[3].item).to.deep.equal(response.output[0]);
      }
      await post(RESPONSES, { input: [user('Hi.'), response.output[0], user('Go on.')] });
      expect(JSON.stringify(askedLast().messages)).to.contain(JSON.stringify(SUMMARY).slice(1, -1));
    });
  }

  const REPLIES = [
    { path: RESPONSES, stream: true },
    { path: RESPONSES, stream: false },
    { path: COMPACT, stream: false },
  ];
  /** The same conversation in each way. */
  const compact = async ({ path, stream }: (typeof REPLIES)[number], more: object = {}, said = 'Fix a.ts.') => {
    const input = [user(said), ...(path === COMPACT ? [] : [TRIGGER])];
    const reply = await post(path, { input, stream, ...more });
    const events = stream ? parseEvents(reply.text).map(({ data }) => data) : [];
    const response = stream ? events.at(-1).response : reply.json;
    return { reply, events, response, error: response.error };
  };

  it('are one, whatever stands between the texts of an answer', async () => {
    const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
    const done = (index: number, item: object) =>
      event('response.output_item.done', { output_index: index, item: { id: `item_${index}`, ...item } });
    const say = (index: number, phase: string, text: string) =>
      done(index, { type: 'message', role: 'assistant', phase, content: [{ type: 'output_text', text }] });
    const usage = { input_tokens: 1000, output_tokens: 200 };
    upstream.behave(({ response }) => {
      response.writeHead(200, SSE);
      response.write(event('response.created', { response: { id: 'resp_1', model: 'up-model' } }));
      response.write(say(0, 'commentary', 'I sum up.'));
      response.write(done(1, { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] }));
      response.write(say(2, 'final_answer', SUMMARY));
      response.end(event('response.completed', { response: { status: 'completed', usage } }));
    });
    for (const way of REPLIES) {
      const { response } = await compact(way, { model: 'phased', reasoning: { summary: 'auto' } });
      const items = response.output.filter(({ role }: Json) => role !== 'user');
      expect(items.map(({ type }: Json) => type)).to.deep.equal(['compaction']);
      const [, text] = items[0].encrypted_content.split(':');
      expect(Buffer.from(text, 'base64url').toString()).to.equal(`I sum up.\n\n${SUMMARY}`);
    }
  });

  it('fail if the model writes none, as nothing could take the place of the conversation', async () => {
    const refusal = JSON.stringify({ choices: [{ index: 0, delta: { refusal: 'No.' } }] });
    for (const answer of [' \n', '', `data: ${refusal}\n\n`]) {
      const text = answer.startsWith('data') ? answer : answer && chatChunk(answer);
      upstream.behave(({ response }) => {
        response.writeHead(200, SSE).end(text + chatEnd({ input: 1000, output: 200 }));
      });
      for (const way of REPLIES) {
        const { reply, error, events } = await compact(way);
        const words = answer.startsWith('data') ? 'content rules do not allow' : 'The model wrote no summary';
        expect(error.message, JSON.stringify(answer)).to.contain(words).and.to.not.contain('refunded');
        if (way.stream) expect(events.map(({ type }) => type)).to.not.include('response.output_item.done');
        else expect([reply.status, reply.headers['x-should-retry']]).to.deep.equal([502, 'false']);
      }
    }
    // Written or not, the vendor has made the tokens.
    expect((await send(`${gateway.url}/api/v1/balance`, { key: account.key })).json.balance_rub).to.equal(1000 - 9 * 2);
  });

  it('come whole, or cost nothing, and a stream shows that it is alive meanwhile', async () => {
    upstream.behave(async ({ response }) => {
      response.writeHead(200, SSE).write(chatChunk('Half of '));
      await new Promise((resolve) => setTimeout(resolve, 100));
      response.destroy();
    });
    for (const way of REPLIES) {
      const { reply, events, error } = await compact(way);
      expect(error.message).to.contain('Charge refunded');
      expect(events.map(({ type }) => type)).to.not.include('response.output_item.done');
      if (way.stream) expect(reply.text).to.contain(': keep-alive\n');
    }
    expect((await send(`${gateway.url}/api/v1/balance`, { key: account.key })).json.balance_rub).to.equal(1000);
  });

  it('are written by the model that smart chooses for the conversation', async () => {
    for (const text of ['Hi', 'Prove step by step that there are infinitely many primes of the form 4n + 3.']) {
      const { smart_routing: wanted } = (await post(RESPONSES, { model: 'smart', input: [user(text)] })).json;
      for (const way of REPLIES) {
        const { response } = await compact(way, { model: 'smart' }, text);
        expect(response.smart_routing).to.deep.equal(wanted);
      }
    }
  });

  it('are refused if they are damaged: without them, a model would know nothing of the conversation', async () => {
    const { response } = await compact({ path: RESPONSES, stream: false });
    const [{ encrypted_content: whole }] = response.output;
    for (const damaged of [
      whole.slice(0, 21),
      whole.slice(0, -1),
      `${whole}=`,
      `${whole} `,
      'summary:',
      'summary:***',
    ]) {
      const { status, json } = await post(RESPONSES, {
        input: [user('Hi.'), { type: 'compaction', encrypted_content: damaged }],
      });
      expect([status, json.error.message], damaged).to.deep.equal([
        400,
        'Invalid `input[1].encrypted_content`: must be as it was given out.',
      ]);
    }
  });

  it('take long conversations, and a prompt alone', async () => {
    const long = 'word '.repeat(40_000);
    const { json } = await post(COMPACT, { input: [user(long), user(long), ...HISTORY] });
    expect(json.output.map(({ type }: Json) => type)).to.deep.equal(['message', 'message', 'message', 'compaction']);
    expect(json.output[0], 'one of the long ones is too much').to.deep.include(user(long));
    expect(askedLast().messages.filter(({ content }: Json) => content === long)).to.have.length(2);
    const short = await post(COMPACT, { input: 'Fix a.ts.' });
    expect(short.json.output[0]).to.deep.include(user('Fix a.ts.'));
    const nameless = await post(COMPACT, { input: [{ ...user('Fix a.ts.'), id: null, status: null }] });
    expect(nameless.json.output[0].id).to.be.a('string');
    expect(nameless.json.output[0].status).to.equal('completed');
  });

  it('are refused like responses, and cost nothing then', async () => {
    for (const wrong of [{}, { input: [] }, { input: [{ ...TOOL }] }, { input: 'Hi', model: 'nobody' }]) {
      const { status, json } = await post(COMPACT, wrong);
      expect([status, json.error.type], JSON.stringify(wrong)).to.deep.equal([400, 'invalid_request_error']);
    }
    upstream.behave(({ response }) => void response.writeHead(500).end());
    const failed = await post(COMPACT, { input: HISTORY });
    expect(failed.status).to.equal(502);
    expect((await send(`${gateway.url}/api/v1/balance`, { key: account.key })).json.balance_rub).to.equal(1000);
  });
});
