// The chat-style SDK, today's and an older one, as a customer uses it: replies, streams, helpers, usage, billing.
import { expect } from 'chai';
import type OpenAI from 'openai';
import type { TestAccount } from '../../testkit/gateway.ts';
import { chatAnswer } from '../../testkit/upstream.ts';
import { catchRejection, MODEL, OPENAI_SDKS, openStage, SANDBOX_MODEL, type Stage } from './stage.ts';

const WORDS = 'Привет, мир! 👋 Hello\u2028there, "friend".';

for (const sdk of OPENAI_SDKS) {
  describe(`client ${sdk.name}`, () => {
    let stage: Stage;
    let account: TestAccount;
    let client: OpenAI;

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
    const USAGE = { prompt_tokens: 7, completion_tokens: 400, total_tokens: 407 };
    const ask = (content: string, more: object = {}) => ({
      model: MODEL,
      max_tokens: 1000,
      messages: [{ role: 'user' as const, content }],
      ...more,
    });

    it('answers', async () => {
      const answering = client.chat.completions.create(ask('hi')).withResponse();
      const { data, response, request_id: requestId } = await answering;
      expect(data).to.include({ object: 'chat.completion', model: MODEL });
      expect(data.id).to.match(/^chatcmpl_/);
      expect(data.choices).to.deep.equal([
        { index: 0, message: { role: 'assistant', content: WORDS }, finish_reason: 'stop' },
      ]);
      expect(data.usage).to.deep.equal(USAGE);
      expect(data).to.have.nested.property('billing.charged_rub', 2.007);
      expect(requestId).to.match(/^req_/).and.equal(response.headers.get('x-request-id'));
      expect(await stage.charged(account)).to.equal(CHARGED);
      const charge = await stage.gateway.store.ledger.charge(String(requestId));
      expect(charge?.charged).to.equal(CHARGED);
    });

    it('iterates a stream to the bill', async () => {
      const options = { stream: true, stream_options: { include_usage: true } } as const;
      const stream = await client.chat.completions.create({ ...ask('hi'), ...options });
      const chunks: OpenAI.ChatCompletionChunk[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      expect(chunks[0]?.choices[0]?.delta).to.deep.equal({ role: 'assistant', content: '' });
      expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).to.equal(WORDS);
      const last = chunks.at(-1);
      expect(last?.choices[0]?.finish_reason).to.equal('stop');
      expect(last?.usage).to.deep.equal(USAGE);
      expect(last).to.have.nested.property('billing.balance_rub', 997.993);
      expect(await stage.charged(account)).to.equal(CHARGED);
    });

    it('runs the stream helper', async () => {
      const texts: string[] = [];
      const stream = sdk
        .streamOf(client)(ask('hi'))
        .on('content', (text) => texts.push(text));
      const completion = await stream.finalChatCompletion();
      expect(texts.filter((text) => text !== '').length).to.be.above(1);
      expect(texts.join('')).to.equal(WORDS);
      expect(completion.choices[0]?.message).to.include({ role: 'assistant', content: WORDS });
      expect(completion.choices[0]?.finish_reason).to.equal('stop');
      expect(completion.usage).to.deep.equal(USAGE);
      expect(await stream.finalContent()).to.equal(WORDS);
      expect(await stage.charged(account)).to.equal(CHARGED);
    });

    it('passes system prompt, history and max_completion_tokens on', async () => {
      await client.chat.completions.create({
        model: MODEL,
        max_completion_tokens: 900,
        temperature: 0.5,
        tools: [],
        messages: [
          { role: 'system', content: 'be kind' },
          { role: 'developer', content: [{ type: 'text', text: 'be brief' }] },
          { role: 'user', content: 'one', name: 'me' },
          { role: 'assistant', content: 'two' },
          { role: 'user', content: [{ type: 'text', text: 'three' }] },
        ],
      });
      const { messages, max_tokens: maxTokens } = stage.upstream.calls.at(-1)?.body ?? {};
      expect((messages as object[]).map((message) => Object.values(message))).to.deep.equal([
        ['system', 'be kind\n\nbe brief'],
        ['user', 'one'],
        ['assistant', 'two'],
        ['user', 'three'],
      ]);
      expect(maxTokens).to.equal(900);
    });

    it('says that an answer was cut at max_tokens', async () => {
      const cut = ask('[[words:50]]', { model: SANDBOX_MODEL, max_tokens: 10 });
      const completion = await client.chat.completions.create(cut);
      expect(completion.choices[0]?.finish_reason).to.equal('length');
      expect(completion.usage).to.deep.equal({ prompt_tokens: 1, completion_tokens: 10, total_tokens: 11 });
      const streamed = await sdk.streamOf(client)(cut).finalChatCompletion();
      expect(streamed.choices[0]?.finish_reason).to.equal('length');
      expect(streamed.choices[0]?.message.content).to.equal(completion.choices[0]?.message.content);
      expect(streamed.usage).to.deep.equal(completion.usage);
    });

    it('streams many words and counts them', async () => {
      const stream = sdk.streamOf(client)(ask('[[words:300]]', { model: SANDBOX_MODEL }));
      const completion = await stream.finalChatCompletion();
      expect(completion.choices[0]?.message.content?.trim().split(/\s+/)).to.have.length(300);
      expect(completion.usage?.completion_tokens).to.equal(300);
      // 1 input and 300 output.
      expect(await stage.charged(account)).to.equal(1_501_000n);
    });

    it('is charged once for a call that is repeated under its idempotency key', async () => {
      const headers = { 'Idempotency-Key': 'order-17' };
      const messages = [{ role: 'user' as const, content: 'hi' }];
      const first = await client.chat.completions.create({ model: MODEL, messages }, { headers });
      const again = await client.chat.completions.create({ model: MODEL, messages }, { headers });
      expect(again).to.deep.equal(first);
      // 7 input at 1000 and 400 output at 5000 RUB per million.
      expect(await stage.charged(account)).to.equal(2_007_000n);
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
