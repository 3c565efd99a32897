// The message-style SDK, today's and an older one, as a customer uses it: both keys, replies, streams, helpers, usage.
import type Anthropic from '@anthropic-ai/sdk';
import { expect } from 'chai';
import type { TestAccount } from '../../testkit/gateway.ts';
import { chatAnswer } from '../../testkit/upstream.ts';
import { catchRejection, MESSAGE_SDKS, MODEL, messageSdks, openStage, SANDBOX_MODEL, type Stage } from './stage.ts';

const WORDS = 'Привет, мир! 👋 Hello\u2028there, "friend".';

for (const sdk of MESSAGE_SDKS) {
  describe(`client ${sdk.name}`, () => {
    let stage: Stage;
    let account: TestAccount;
    let client: Anthropic;

    before(async () => {
      stage = await openStage();
    });
    beforeEach(async () => {
      account = await stage.gateway.account();
      client = sdk.open(stage.gateway, account);
      stage.upstream.behave(chatAnswer(WORDS, { input: 7, output: 400 }));
    });
    afterEach(() => stage.gateway.checkMoney());
    after(() => stage.close());

    // 7 input at 1000 and 400 output at 5000 RUB per million.
    const CHARGED = 2_007_000n;
    const ask = (content: string, more: object = {}) => ({
      model: MODEL,
      max_tokens: 1000,
      messages: [{ role: 'user' as const, content }],
      ...more,
    });

    it('answers', async () => {
      const { data, response, request_id: requestId } = await client.messages.create(ask('hi')).withResponse();
      const { id, ...message } = data;
      expect(id).to.match(/^msg_/);
      expect(message).to.deep.equal({
        type: 'message',
        role: 'assistant',
        model: MODEL,
        content: [{ type: 'text', text: WORDS }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 7, output_tokens: 400 },
      });
      expect(requestId).to.match(/^req_/).and.equal(response.headers.get('x-request-id'));
      expect(await stage.charged(account)).to.equal(CHARGED);
      const charge = await stage.gateway.store.ledger.charge(String(requestId));
      expect(charge?.charged).to.equal(CHARGED);
    });

    it('takes the key as a token', async () => {
      const bearer = sdk.open(stage.gateway, account, { apiKey: null, authToken: account.key });
      const message = await bearer.messages.create(ask('hi'));
      expect(message.content).to.deep.equal([{ type: 'text', text: WORDS }]);
      expect(await stage.charged(account)).to.equal(CHARGED);
    });

    it('iterates a stream to the bill', async () => {
      const stream = await client.messages.create({ ...ask('hi'), stream: true });
      const events: Record<string, unknown>[] = [];
      for await (const event of stream) events.push({ ...event });
      const bill = events.at(-1)?.type === 'ping' ? events.pop() : undefined;
      expect(events[0]).to.have.nested.property('message.model', MODEL);
      expect(events.map(({ type }) => type).filter((type) => type !== 'content_block_delta')).to.deep.equal([
        'message_start',
        'content_block_start',
        'content_block_stop',
        'message_delta',
        'message_stop',
      ]);
      const deltas = events.flatMap(({ delta }) => (delta as { text?: string } | undefined)?.text ?? []);
      expect(deltas.join('')).to.equal(WORDS);
      expect(events.at(-2)).to.have.nested.property('usage.output_tokens', 400);
      // The older client drops events it does not know; today's hands them on.
      if (sdk.current) expect(bill).to.include({ charged_rub: 2.007, balance_rub: 997.993 });
      else expect(bill).to.equal(undefined);
      expect(await stage.charged(account)).to.equal(CHARGED);
    });

    it('runs the stream helper', async () => {
      const texts: string[] = [];
      const stream = client.messages.stream(ask('hi')).on('text', (text) => texts.push(text));
      const message = await stream.finalMessage();
      expect(texts.length).to.be.above(1);
      expect(texts.join('')).to.equal(WORDS);
      expect(message.content[0]).to.include({ type: 'text', text: WORDS });
      expect(message).to.include({ stop_reason: 'end_turn', stop_sequence: null, model: MODEL });
      expect(message.usage.output_tokens).to.equal(400);
      expect(await stream.finalText()).to.equal(WORDS);
      expect(await stage.charged(account)).to.equal(CHARGED);
    });

    it('passes system prompt and history on', async () => {
      const sampling = { temperature: 0.5, top_p: 0.9 };
      const params: Anthropic.MessageCreateParamsNonStreaming = {
        ...sampling,
        model: MODEL,
        max_tokens: 99_999,
        metadata: { user_id: 'u' },
        system: [{ type: 'text', text: 'be kind', cache_control: { type: 'ephemeral' } }],
        messages: [
          { role: 'user', content: 'one' },
          { role: 'assistant', content: [{ type: 'text', text: 'two' }] },
          { role: 'user', content: [{ type: 'text', text: 'three' }] },
        ],
      };
      // The client wants a stream for so many tokens.
      await client.messages.stream(params).finalMessage();
      const { messages, max_tokens: maxTokens } = stage.upstream.calls.at(-1)?.body ?? {};
      expect((messages as object[]).map((message) => Object.values(message))).to.deep.equal([
        ['system', 'be kind'],
        ['user', 'one'],
        ['assistant', 'two'],
        ['user', 'three'],
      ]);
      expect(maxTokens).to.equal(32_768);
    });

    it('says that an answer was cut at max_tokens', async () => {
      const cut = ask('[[words:50]]', { model: SANDBOX_MODEL, max_tokens: 10 });
      const message = await client.messages.create(cut);
      expect(message.stop_reason).to.equal('max_tokens');
      expect(message.usage).to.deep.equal({ input_tokens: 1, output_tokens: 10 });
      const streamed = await client.messages.stream(cut).finalMessage();
      expect(streamed.stop_reason).to.equal('max_tokens');
      expect(streamed.content).to.deep.equal(message.content);
      expect(streamed.usage).to.deep.equal(message.usage);
    });

    it('streams many words and counts them', async () => {
      const stream = client.messages.stream(ask('[[words:300]]', { model: SANDBOX_MODEL }));
      const message = await stream.finalMessage();
      const [block] = message.content;
      expect(block?.type === 'text' && block.text.trim().split(/\s+/)).to.have.length(300);
      expect(message.usage.output_tokens).to.equal(300);
      // 1 input and 300 output.
      expect(await stage.charged(account)).to.equal(1_501_000n);
    });

    it('is charged once for a call that is repeated under its idempotency key', async () => {
      const headers = { 'Idempotency-Key': 'order-17' };
      const first = await client.messages.create(ask('hi'), { headers });
      const { data, response } = await client.messages.create(ask('hi'), { headers }).withResponse();
      expect(data).to.deep.equal(first);
      expect(response.headers.get('idempotent-replayed')).to.equal('true');
      expect(await stage.charged(account)).to.equal(CHARGED);
    });

    it('is told which stop string ended an answer', async () => {
      const stopped = await client.messages.create(ask('hi', { stop_sequences: ['👋'] }));
      expect(stopped).to.include({ stop_reason: 'stop_sequence', stop_sequence: '👋' });
      expect(stopped.content).to.deep.equal([{ type: 'text', text: 'Привет, мир! ' }]);
      const streamed = await client.messages.stream(ask('hi', { stop_sequences: ['👋'] })).finalMessage();
      expect(streamed).to.include({ stop_reason: 'stop_sequence', stop_sequence: '👋' });
    });

    it('counts tokens before a call', async () => {
      const { model, messages } = ask('Hello, how are you?');
      const counted = await client.messages.countTokens({ model, messages, system: 'Be brief.' });
      expect(counted).to.deep.equal({ input_tokens: 11 });
      const blocks = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello, how are you?' }] }];
      const system = [{ type: 'text' as const, text: 'Be brief.' }];
      expect(await client.messages.countTokens({ model, messages: blocks, system })).to.deep.equal(counted);
      expect(await stage.charged(account)).to.equal(0n);
    });

    it('retrieves one model, and is told of an unknown one', async () => {
      expect(await client.models.retrieve('a')).to.include({ id: MODEL, type: 'text' });
      const error = await catchRejection(client.models.retrieve('model-b'));
      expect(error).to.be.instanceOf(sdk.Client.NotFoundError);
      expect(error.message).to.contain('model-a');
    });

    it('lists the models', async () => {
      const ids: string[] = [];
      for await (const model of client.models.list()) ids.push(model.id);
      expect(ids).to.deep.equal([MODEL, SANDBOX_MODEL]);
    });
  });
}

describe('the key as each client sends it', () => {
  it('is tried in both headers', async () => {
    const stage = await openStage();
    const account = await stage.gateway.account();
    const sent: string[] = [];
    for (const sdk of messageSdks) {
      const client = sdk.open(stage.gateway, account, {
        fetch: (url, init) => {
          const headers = new Headers(init?.headers);
          sent.push(headers.has('x-api-key') ? 'x-api-key' : String(headers.get('authorization')).slice(0, 6));
          return fetch(url as string, init as RequestInit);
        },
      });
      await client.models.list();
    }
    await stage.close();
    expect(new Set(sent)).to.deep.equal(new Set(['Bearer', 'x-api-key']));
  });
});
