// Paid text through both dialects, streaming and not: shapes, order of events, headers and money.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  ask,
  CHAT,
  DIALECTS,
  findBilling,
  findFailure,
  joinText,
  MESSAGES,
  parseEvents,
  RESPONSES,
  send,
  until,
} from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';
import {
  answerStatus,
  chatAnswer,
  chatChunk,
  chatEnd,
  SSE,
  startUpstream,
  type TestUpstream,
} from '../../testkit/upstream.ts';
import { PNG } from '../media/sample-images.ts';

describe('text', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;

  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({ catalog: chatCatalog(upstream.url) });
  });
  beforeEach(() => upstream.behave(chatAnswer('Hello there friend.', { input: 7, output: 400 })));
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  // 7 input at 1000 and 400 output at 5000 RUB per million.
  const CHARGED = 2.007;
  // 'hi' is one token, plus 4 for the message; 1000 output.
  const RESERVED = 5.005;

  it('answers a message in the frozen shape, without billing', async () => {
    const account = await gateway.account();
    const reply = await send(gateway.url + MESSAGES, { key: account.key, body: ask('hi') });
    expect(reply.status).to.equal(200);
    const { id, ...rest } = reply.json;
    expect(id).to.match(/^msg_/);
    expect(rest).to.deep.equal({
      type: 'message',
      role: 'assistant',
      model: 'model-a',
      content: [{ type: 'text', text: 'Hello there friend.' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 7, output_tokens: 400 },
    });
    const wallet = await gateway.wallet(account);
    expect(wallet.avail).to.equal(1_000_000_000n - 2_007_000n);
  });

  it('answers a chat completion with billing that the wallet confirms', async () => {
    const account = await gateway.account();
    const reply = await send(gateway.url + CHAT, { key: account.key, body: ask('hi') });
    const { id, created, ...rest } = reply.json;
    expect(id).to.match(/^chatcmpl_/);
    expect(created).to.be.closeTo(Date.now() / 1000, 5);
    expect(rest).to.deep.equal({
      object: 'chat.completion',
      model: 'model-a',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello there friend.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 7, completion_tokens: 400, total_tokens: 407 },
      billing: billing(),
    });
  });

  const billing = () => ({
    charged_rub: CHARGED,
    reserved_rub: RESERVED,
    balance_rub: 1000 - CHARGED,
    unit: '1M_tokens',
    rub_per_mtok_in: 1000,
    rub_per_mtok_out: 5000,
    rub_per_mtok: 1000,
  });

  it('streams a message: events in order, billing last', async () => {
    upstream.behave(async ({ response }) => {
      response.writeHead(200, SSE);
      response.write(chatChunk('Hello '));
      await new Promise((resolve) => setTimeout(resolve, 30));
      response.end(chatChunk('there friend.') + chatEnd({ input: 7, output: 400 }));
    });
    const account = await gateway.account();
    const reply = await send(gateway.url + MESSAGES, { key: account.key, body: ask('hi', { stream: true }) });
    expect(reply.status).to.equal(200);
    expect(reply.headers).to.include({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    expect(reply.headers['content-encoding']).to.equal(undefined);
    const events = parseEvents(reply.text);
    const names = events.map(({ event }) => event);
    expect(names.filter((name) => name !== 'content_block_delta')).to.deep.equal([
      'message_start',
      'content_block_start',
      'content_block_stop',
      'message_delta',
      'message_stop',
      'billing',
    ]);
    for (const { event, data } of events.slice(0, -1)) expect(data.type).to.equal(event);
    const message = events[0]?.data.message;
    expect(message.id).to.match(/^msg_/);
    // The usage comes after the first fragment: the estimate stands.
    expect({ ...message, id: '' }).to.deep.equal({
      id: '',
      type: 'message',
      role: 'assistant',
      model: 'model-a',
      content: [],
      stop_reason: null,
      usage: { input_tokens: 5, output_tokens: 0 },
    });
    expect(events.find(({ event }) => event === 'content_block_start')?.data).to.deep.equal({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'text', text: '' },
    });
    expect(events.find(({ event }) => event === 'message_delta')?.data).to.deep.equal({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { input_tokens: 7, output_tokens: 400 },
    });
    expect(joinText(events)).to.equal('Hello there friend.');
    expect(findBilling(events)).to.deep.equal({ type: 'ping', ...billing() });
  });

  it('streams a chat completion: role, content, final chunk with usage and billing, [DONE]', async () => {
    const account = await gateway.account();
    const reply = await send(gateway.url + CHAT, { key: account.key, body: ask('hi', { stream: true }) });
    const events = parseEvents(reply.text);
    const [first] = events;
    const chunks = events.slice(0, -1).map(({ data }) => data);
    expect(events.at(-1)?.data).to.equal('[DONE]');
    for (const chunk of chunks) {
      expect(chunk).to.include({ id: first?.data.id, object: 'chat.completion.chunk', model: 'model-a' });
      expect(chunk.created).to.be.a('number');
    }
    expect(first?.data.choices).to.deep.equal([
      { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null },
    ]);
    for (const chunk of chunks.slice(0, -1))
      expect(chunk).to.have.all.keys('id', 'object', 'created', 'model', 'choices');
    const last = chunks.at(-1);
    expect(last.choices).to.deep.equal([{ index: 0, delta: {}, finish_reason: 'stop' }]);
    expect(last.usage).to.deep.equal({ prompt_tokens: 7, completion_tokens: 400, total_tokens: 407 });
    expect(last.billing).to.deep.equal(billing());
    expect(joinText(events)).to.equal('Hello there friend.');
  });

  for (const path of DIALECTS) {
    describe(path, () => {
      it('charges the minimum for a short answer', async () => {
        upstream.behave(chatAnswer('ok', { input: 1, output: 1 }));
        const account = await gateway.account();
        const reply = await send(gateway.url + path, { key: account.key, body: ask('hi', { stream: true }) });
        expect(findBilling(parseEvents(reply.text)).charged_rub).to.equal(0.5);
        expect((await gateway.wallet(account)).avail).to.equal(999_500_000n);
      });

      it('passes system prompt, history and max_tokens on, and nothing else', async () => {
        const account = await gateway.account();
        const messages = [
          { role: 'user', content: 'one' },
          { role: 'assistant', content: [{ type: 'text', text: 'two' }] },
          { role: 'user', content: 'three' },
        ];
        const system =
          path === MESSAGES
            ? { system: 'be kind', messages }
            : {
                messages: [{ role: 'system', content: 'be kind' }, ...messages],
              };
        const body = { model: 'a', max_tokens: 99_999, temperature: 'hot', top_p: 3, ...system };
        await send(gateway.url + path, { key: account.key, body });
        const sent = upstream.calls.at(-1)?.body ?? {};
        expect(sent).to.include({ model: 'up-model', max_tokens: 32_768, stream: true });
        expect(sent).not.to.have.any.keys('temperature', 'top_p');
        expect((sent.messages as object[]).map((message) => Object.values(message))).to.deep.equal([
          ['system', 'be kind'],
          ['user', 'one'],
          ['assistant', 'two'],
          ['user', 'three'],
        ]);
      });

      it('returns the hold and says so when the upstream fails before the first fragment', async () => {
        upstream.behave(answerStatus(500));
        const account = await gateway.account();
        const plain = await send(gateway.url + path, { key: account.key, body: ask('hi') });
        expect(plain.status).to.equal(502);
        expect(plain.json.error).to.include({
          type: 'api_error',
          message: 'The upstream provider failed. Charge refunded.',
        });
        const stream = await send(gateway.url + path, { key: account.key, body: ask('hi', { stream: true }) });
        expect(stream.status).to.equal(200);
        expect(stream.text).to.contain('The upstream provider failed. Charge refunded.');
        expect((await gateway.wallet(account)).avail).to.equal(1_000_000_000n);
      });

      it('keeps the charge when the upstream fails in mid-stream', async () => {
        upstream.behave(async ({ response }) => {
          response.writeHead(200, SSE);
          response.write(chatChunk('x'.repeat(4000)));
          await new Promise((resolve) => setTimeout(resolve, 50));
          response.destroy();
        });
        const account = await gateway.account();
        const stream = await send(gateway.url + path, { key: account.key, body: ask('hi', { stream: true }) });
        const events = parseEvents(stream.text);
        const failure = findFailure(events);
        expect(failure?.type).to.equal('api_error');
        expect(failure?.message).not.to.contain('refunded');
        if (path !== MESSAGES) expect(failure?.code).to.equal('upstream_error');
        const last = events.at(-1);
        if (path === CHAT) expect(last?.data).to.equal('[DONE]');
        else expect(last?.event).to.equal(path === MESSAGES ? 'error' : 'response.failed');
        // 1000 tokens of output and 5 of input, estimated.
        expect((await gateway.wallet(account)).charged).to.equal(5_005_000n);
      });

      it('fails a clean end without a terminal signal', async () => {
        upstream.behave(({ response }) => {
          response.writeHead(200, SSE);
          response.end(chatChunk('half an ans'));
        });
        const account = await gateway.account();
        const plain = await send(gateway.url + path, { key: account.key, body: ask('hi') });
        expect(plain.status).to.equal(502);
        expect(plain.json.error.message).to.contain('Charge refunded');
        const stream = await send(gateway.url + path, { key: account.key, body: ask('hi', { stream: true }) });
        expect(findFailure(parseEvents(stream.text))).to.include({ type: 'api_error' });
        expect((await gateway.wallet(account)).charged).to.equal(500_000n);
      });

      it('says when the answer was cut at max_tokens', async () => {
        upstream.behave(chatAnswer('a b c', { output: 3, reason: 'length' }));
        const account = await gateway.account();
        const { json } = await send(gateway.url + path, { key: account.key, body: ask('hi', { max_tokens: 3 }) });
        if (path === MESSAGES) expect(json.stop_reason).to.equal('max_tokens');
        else if (path === RESPONSES) expect(json.incomplete_details).to.deep.equal({ reason: 'max_output_tokens' });
        else expect(json.choices[0].finish_reason).to.equal('length');
      });

      it('never bills more output than max_tokens', async () => {
        upstream.behave(chatAnswer('y'.repeat(9000), { input: 5, output: 100_000 }));
        const account = await gateway.account();
        await send(gateway.url + path, { key: account.key, body: ask('hi', { max_tokens: 600 }) });
        expect((await gateway.wallet(account)).charged).to.equal(3_005_000n);
      });
    });
  }

  it('keeps an upstream refusal of our own key neutral for the client, and alerts the operator', async () => {
    for (const status of [401, 402, 403]) {
      upstream.behave(answerStatus(status, { error: { message: 'Incorrect API key up-secret-key-1' } }));
      const account = await gateway.account();
      const reply = await send(gateway.url + CHAT, { key: account.key, body: ask('hi') });
      expect(reply.status).to.equal(502);
      expect(reply.json.error.message).to.equal('The upstream provider failed. Charge refunded.');
      const id = String(reply.headers['x-request-id']);
      const lines = () => readFileSync(`${gateway.folder}/log`, 'utf8').split('\n');
      const alert = (line: string) => line.includes('"alert":"upstream"') && line.includes(id);
      await until(() => lines().some(alert));
      expect(lines().join('')).not.to.contain('up-secret-key-1');
    }
  });

  const alerts: readonly (readonly [status: number, body: unknown, words: string])[] = [
    [404, { error: { message: 'The model `up-1` does not exist' } }, 'an upstream does not know what a route asks for'],
    [404, 'a page', 'an upstream does not know what a route asks for'],
    [404, { error: { code: 'invalid_api_key' } }, 'an upstream does not know what a route asks for'],
    [500, {}, 'an upstream is failing on its side'],
    [503, {}, 'an upstream is failing on its side'],
    [429, { error: { code: 'insufficient_quota' } }, 'our account at an upstream is out of money or quota'],
  ];
  for (const [status, body, words] of alerts) {
    it(`alerts the operator to ${status} ${JSON.stringify(body)}: ${words}`, async () => {
      upstream.behave(answerStatus(status, body));
      const account = await gateway.account();
      const reply = await send(gateway.url + CHAT, { key: account.key, body: ask('hi') });
      expect([reply.status, reply.json.error.message, reply.headers['x-should-retry']]).to.deep.equal([
        502,
        'The upstream provider failed. Charge refunded.',
        undefined,
      ]);
      const id = String(reply.headers['x-request-id']);
      const lines = () => readFileSync(`${gateway.folder}/log`, 'utf8').split('\n');
      const isAlert = (line: string) =>
        line.includes('"alert":"upstream"') && line.includes(id) && line.includes(words);
      await until(() => lines().some(isAlert));
    });
  }

  const mendable: readonly (readonly [status: number, code: string, words: string])[] = [
    [400, 'context_length_exceeded', 'The prompt is too long for the model. Shorten it or lower `max_tokens`.'],
    [400, 'content_filter', "The upstream provider's content rules do not allow this request. Rephrase it."],
    [
      400,
      'invalid_image_format',
      'The upstream provider could not read an image in this request, or it is too large. Send another or a smaller file.',
    ],
  ];
  for (const [status, code, words] of mendable) {
    it(`tells the client what to fix at ${code}`, async () => {
      upstream.behave(answerStatus(status, { error: { message: 'their own words', code } }));
      const account = await gateway.account();
      const reply = await send(gateway.url + CHAT, { key: account.key, body: ask('hi') });
      expect([reply.status, reply.json.error.message, reply.headers['x-should-retry']]).to.deep.equal([
        502,
        `${words} Charge refunded.`,
        'false',
      ]);
    });
  }

  it('answers an image like a missing vision backend, and returns the hold', async () => {
    const account = await gateway.account();
    const source = { type: 'base64', media_type: 'image/png', data: PNG.toString('base64') };
    const content = [
      { type: 'image', source },
      { type: 'text', text: 'what is it?' },
    ];
    const reply = await send(gateway.url + MESSAGES, {
      key: account.key,
      body: ask('', { messages: [{ role: 'user', content }] }),
    });
    expect(reply.status).to.equal(502);
    expect(reply.json.error.message).to.equal('Vision backend unavailable. Charge refunded.');
    expect((await gateway.wallet(account)).avail).to.equal(1_000_000_000n);
  });
});
