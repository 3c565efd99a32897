// Strings to stop at, on real sockets: what each dialect says, what the upstream sees, what it costs.
import { expect } from 'chai';
import {
  ask,
  CHAT,
  DIALECTS,
  findBilling,
  joinText,
  MESSAGES,
  parseEvents,
  RESPONSES,
  readResponseText,
  send,
} from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { chatChunk, chatEnd, SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

describe('stop strings', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;

  before(async () => {
    upstream = await startUpstream();
    // A stopped upstream that says no counts is left after its silence, and not only after five seconds.
    gateway = await startGateway({ catalog: chatCatalog(upstream.url), env: { IDLE_TIMEOUT_MS: '300' } });
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  /** Writes the fragments, each in a chunk of its own, and then nothing until it is left. */
  function speak(...fragments: readonly string[]): void {
    upstream.behave(async ({ response }) => {
      response.writeHead(200, SSE);
      for (const fragment of fragments) {
        response.write(chatChunk(fragment));
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
  }

  const stopField = (path: string, stops: readonly string[]) =>
    path === MESSAGES ? { stop_sequences: stops } : { stop: stops };

  for (const path of DIALECTS) {
    for (const stream of [false, true]) {
      it(`${path}${stream ? ', streamed' : ''}: ends before the first and closes the upstream at once`, async () => {
        speak('Hi \ud83d', '\udc4b, one', '\nEN', 'D two');
        const { key } = await gateway.account();
        const called = upstream.nextCall();
        const body = ask('hi', { stream, ...stopField(path, ['STOP', '\nEND']) });
        const reply = await send(gateway.url + path, { key, body });
        expect(reply.status, reply.text).to.equal(200);
        const { closed, body: asked } = await called;
        await closed;
        expect(asked.stop).to.deep.equal(['STOP', '\nEND']);
        const events = stream ? parseEvents(reply.text) : [];
        const text = stream
          ? joinText(events)
          : (reply.json.content?.[0].text ?? reply.json.choices?.[0].message.content ?? readResponseText(reply.json));
        expect(text).to.equal('Hi 👋, one');
        const finish = path === CHAT ? (events.at(-2)?.data ?? reply.json) : undefined;
        if (finish) expect(finish.choices[0].finish_reason).to.equal('stop');
        else if (path === RESPONSES) {
          expect((events.at(-1)?.data.response ?? reply.json).status).to.equal('completed');
        } else {
          const end = stream ? events.find(({ event }) => event === 'message_delta')?.data.delta : reply.json;
          expect([end.stop_reason, end.stop_sequence]).to.deep.equal(['stop_sequence', '\nEND']);
        }
        // 18 characters were produced: 5 tokens, and the least that a call costs.
        const billing = stream ? findBilling(events) : reply.json.billing;
        if (billing) expect(billing.charged_rub).to.equal(0.5);
      });
    }

    it(`${path}: delivers an answer whole that only begins like one`, async () => {
      upstream.behave(({ response }) => {
        response.writeHead(200, SSE);
        response.end(chatChunk('one EN') + chatEnd({ input: 7, output: 400 }));
      });
      const { key } = await gateway.account();
      const body = ask('hi', { stream: true, ...stopField(path, ['END']) });
      const events = parseEvents((await send(gateway.url + path, { key, body })).text);
      expect(joinText(events)).to.equal('one EN');
      expect(findBilling(events).charged_rub).to.equal(2.007);
    });

    it(`${path}: refuses anything but strings, and names the field`, async () => {
      const { key } = await gateway.account();
      const most = path === MESSAGES ? 16 : 4;
      const name = path === MESSAGES ? 'stop_sequences' : 'stop';
      const wrong = [5, '', [''], ['a', ''], [5], [['a']], {}, Array(most + 1).fill('a')];
      for (const value of path === MESSAGES ? [...wrong, 'a'] : wrong) {
        const reply = await send(gateway.url + path, { key, body: ask('hi', { [name]: value }) });
        expect(reply.status, JSON.stringify(value)).to.equal(400);
        expect(reply.json.error.message).to.match(new RegExp(`^Invalid \`${name}(?:.[01].)?\`: must be `));
      }
    });
  }

  describe('that the upstream applies itself', () => {
    const event = ({ type, ...fields }: { readonly type: string; readonly [name: string]: unknown }) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
    const message = (stop: unknown) => [
      event({ type: 'message_start', message: { id: 'm', content: [], usage: { input_tokens: 7, output_tokens: 1 } } }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'one ' } }),
      event({ type: 'content_block_stop', index: 0 }),
      event({
        type: 'message_delta',
        delta: { stop_reason: 'stop_sequence', stop_sequence: stop },
        usage: { output_tokens: 400 },
      }),
      event({ type: 'message_stop' }),
    ];
    const chat = (more: object) => [
      chatChunk('one '),
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop', ...more }] })}\n\n`,
      chatEnd({ output: 400 }).replace(/^.*\n\n/, ''),
    ];
    const rows: readonly (readonly [name: string, path: string, body: readonly string[], stop: string | null])[] = [
      ['a message', 'messages', message('two'), 'two'],
      ['a message that names a string of nobody', 'messages', message('other'), null],
      ['a message that names none', 'messages', message(null), null],
      ['a chat of vLLM', 'chat', chat({ stop_reason: 'two' }), 'two'],
      ['a chat of SGLang', 'chat', chat({ matched_stop: 'two' }), 'two'],
      ['a chat that ends with a token', 'chat', chat({ stop_reason: 128009, matched_stop: 128009 }), null],
      ['a chat', 'chat', chat({}), null],
    ];
    for (const [name, format, body, stop] of rows) {
      it(`is named by ${name}: ${stop}`, async () => {
        const settings = { baseUrl: `${upstream.url}${format === 'chat' ? '/v1' : ''}`, apiKey: 'up-secret-key-1' };
        const plugin = format === 'chat' ? 'openai-compatible' : 'anthropic';
        const named = await startGateway({
          catalog: chatCatalog(upstream.url, { upstreams: { up: { plugin, settings } } }),
        });
        try {
          upstream.behave(({ response }) => {
            response.writeHead(200, SSE);
            response.end(body.join(''));
          });
          const { key } = await named.account();
          for (const path of DIALECTS) {
            for (const stream of [false, true]) {
              const asked = ask('hi', { stream, ...stopField(path, ['STOP', 'two']) });
              const reply = await send(named.url + path, { key, body: asked });
              const events = stream ? parseEvents(reply.text) : [];
              if (path === MESSAGES) {
                const end = stream ? events.find((each) => each.event === 'message_delta')?.data.delta : reply.json;
                const reason = stop === null ? 'end_turn' : 'stop_sequence';
                expect([end.stop_reason, end.stop_sequence]).to.deep.equal([reason, stop]);
              } else if (path === CHAT) {
                const choice = (stream ? events.at(-2)!.data : reply.json).choices[0];
                expect(choice.finish_reason).to.equal('stop');
              } else expect((stream ? events.at(-1)!.data.response : reply.json).status).to.equal('completed');
              const billing = stream ? findBilling(events) : reply.json.billing;
              if (billing) expect(billing.charged_rub).to.equal(2.007);
            }
          }
          await named.checkMoney();
        } finally {
          await named.stop();
        }
      });
    }
  });

  it('takes one string, none, and as many as a dialect allows', async () => {
    const { key } = await gateway.account();
    const answers = async (path: string, more: object) => {
      upstream.behave(({ response }) => {
        response.writeHead(200, SSE);
        response.end(chatChunk('one two') + chatEnd({}));
      });
      const { json } = await send(gateway.url + path, { key, body: ask('hi', more) });
      return json.content?.[0].text ?? json.choices[0].message.content;
    };
    const many = (count: number) => Array.from({ length: count }, (_, at) => `none ${at}`);
    expect(await answers(CHAT, { stop: ' ' })).to.equal('one');
    expect(await answers(CHAT, { stop: null })).to.equal('one two');
    expect(await answers(CHAT, { stop: [] })).to.equal('one two');
    expect(await answers(CHAT, { stop: [...many(3), 'tw'] })).to.equal('one ');
    expect(await answers(MESSAGES, { stop_sequences: null })).to.equal('one two');
    expect(await answers(MESSAGES, { stop_sequences: [] })).to.equal('one two');
    expect(await answers(MESSAGES, { stop_sequences: [...many(15), 'tw'] })).to.equal('one ');
    // Each has a name of its own.
    expect(await answers(MESSAGES, { stop: 'tw' })).to.equal('one two');
    expect(await answers(CHAT, { stop_sequences: ['tw'] })).to.equal('one two');
  });
});
