// The responses of openai, today's client and an older one, as a customer uses them: replies, streams, helpers, usage,
// billing.
import { expect } from 'chai';
import type OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import type { TestAccount } from '../../testkit/gateway.ts';
import { chatAnswer, chatChunk, SSE } from '../../testkit/upstream.ts';
import { catchRejection, MODEL, OPENAI_SDKS, openStage, SANDBOX_MODEL, type Stage } from './stage.ts';

type Response = OpenAI.Responses.Response;

const WORDS = 'Привет, мир! 👋 Hello\u2028there, "friend".';
// 7 input at 1000 and 400 output at 5000 RUB per million.
const CHARGED = 2_007_000n;

/** The old client adds `output_text` to whole answers only. */
function textOf({ output }: Response): string {
  const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []));
  return parts.map((part) => (part.type === 'output_text' ? part.text : '')).join('');
}

const ask = (input: string, more: object = {}) => ({ model: MODEL, max_output_tokens: 1000, input, ...more });

for (const sdk of OPENAI_SDKS) {
  describe(`responses with ${sdk.name}`, () => {
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

    it('are whole', async () => {
      const more = { instructions: 'Be brief.', metadata: { run: '7' }, store: true };
      const { data, response, request_id: requestId } = await client.responses.create(ask('hi', more)).withResponse();
      expect(data.id).to.match(/^resp_/);
      expect(data.output_text).to.equal(WORDS);
      expect(data.usage).to.deep.include({ input_tokens: 7, output_tokens: 400, total_tokens: 407 });
      expect(data).to.deep.include({ model: MODEL, status: 'completed', metadata: { run: '7' }, store: false });
      expect(data).to.have.nested.property('billing.charged_rub', 2.007);
      expect(requestId).to.match(/^req_/).and.equal(response.headers.get('x-request-id'));
      expect(await stage.charged(account)).to.equal(CHARGED);
      expect((await stage.gateway.store.ledger.charge(String(requestId)))?.charged).to.equal(CHARGED);
    });

    it('iterate to the bill, in the order of the format', async () => {
      const events: OpenAI.Responses.ResponseStreamEvent[] = [];
      for await (const event of await client.responses.create({ ...ask('hi'), stream: true })) events.push(event);
      expect(events.map((event) => event.sequence_number)).to.deep.equal(events.map((_, at) => at));
      const others = events.map(({ type }) => type).filter((type) => type !== 'response.output_text.delta');
      expect(others).to.deep.equal([
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.content_part.added',
        'response.output_text.done',
        'response.content_part.done',
        'response.output_item.done',
        'response.completed',
      ]);
      const deltas = events.flatMap((event) => (event.type === 'response.output_text.delta' ? event.delta : []));
      expect(deltas.length).to.be.above(1);
      expect(deltas.join('')).to.equal(WORDS);
      expect(events.at(-1)).to.have.nested.property('response.usage.output_tokens', 400);
      expect(events.at(-1)).to.have.nested.property('response.billing.balance_rub', 997.993);
      expect(await stage.charged(account)).to.equal(CHARGED);
    });

    it('stream through the helper, which checks the order of events', async () => {
      const stream = client.responses.stream(ask('hi'));
      let said = '';
      stream.on('response.output_text.delta', ({ delta }) => {
        said += delta;
      });
      const response = await stream.finalResponse();
      expect(said).to.equal(WORDS);
      expect(textOf(response)).to.equal(WORDS);
      expect(response).to.have.nested.property('billing.charged_rub', 2.007);
      expect(await stage.charged(account)).to.equal(CHARGED);
    });

    it('pass system prompt, history and limit on', async () => {
      await client.responses.create({
        model: MODEL,
        max_output_tokens: 900,
        temperature: 0.5,
        tools: [],
        instructions: 'be kind',
        input: [
          { role: 'developer', content: [{ type: 'input_text', text: 'be brief' }] },
          { role: 'user', content: 'one' },
          { role: 'assistant', content: 'two' },
          { role: 'user', content: [{ type: 'input_text', text: 'three' }] },
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

    it('continue with the items of the answer before', async () => {
      const first = await client.responses.create(ask('hi'));
      const input = [{ role: 'user', content: 'hi' }, ...first.output, { role: 'user', content: 'And?' }];
      await client.responses.create({ model: MODEL, input: input as OpenAI.Responses.ResponseInput });
      const { messages } = stage.upstream.calls.at(-1)?.body ?? {};
      expect((messages as object[]).map((message) => Object.values(message))).to.deep.equal([
        ['user', 'hi'],
        ['assistant', WORDS],
        ['user', 'And?'],
      ]);
    });

    it('say that an answer was cut at max_output_tokens', async () => {
      const cut = ask('[[words:50]]', { model: SANDBOX_MODEL, max_output_tokens: 10 });
      const response = await client.responses.create(cut);
      expect(response).to.deep.include({
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
      });
      expect(response.usage).to.include({ input_tokens: 1, output_tokens: 10, total_tokens: 11 });
      const streamed = await client.responses.stream(cut).finalResponse();
      expect(textOf(streamed)).to.equal(textOf(response));
      // The older helper takes the facts of a response from `response.completed` only.
      if (!sdk.current) return;
      expect(streamed.incomplete_details).to.deep.equal(response.incomplete_details);
      expect(streamed.usage).to.deep.equal(response.usage);
    });

    it('stream many words and count them', async () => {
      const stream = client.responses.stream(ask('[[words:300]]', { model: SANDBOX_MODEL }));
      const response = await stream.finalResponse();
      expect(textOf(response).trim().split(/\s+/)).to.have.length(300);
      expect(response.usage?.output_tokens).to.equal(300);
      // 1 input and 300 output.
      expect(await stage.charged(account)).to.equal(1_501_000n);
    });

    it('are charged once for a call that is repeated under its idempotency key', async () => {
      const headers = { 'Idempotency-Key': 'order-17' };
      const first = await client.responses.create(ask('hi'), { headers });
      const { data, response } = await client.responses.create(ask('hi'), { headers }).withResponse();
      expect(data).to.deep.equal(first);
      expect(response.headers.get('idempotent-replayed')).to.equal('true');
      expect(await stage.charged(account)).to.equal(CHARGED);
    });

    it('parse an answer that keeps to a schema, whole and streamed', async () => {
      stage.upstream.behave(chatAnswer('{"city": "Perm", "people": 1034000}'));
      const format = zodTextFormat(z.object({ city: z.string(), people: z.number() }), 'place');
      const body = ask('Where?', { text: { format } });
      const place = { city: 'Perm', people: 1_034_000 };
      const whole = await client.responses.parse(body);
      expect(whole.output_parsed).to.deep.equal(place);
      const streamed = await client.responses.stream(body).finalResponse();
      const [message] = streamed.output;
      expect(message).to.have.deep.nested.property('content[0].parsed', place);
    });

    it('throw what they failed of, also from the helper', async () => {
      stage.upstream.behave(async ({ response }) => {
        response.writeHead(200, SSE);
        response.write(chatChunk('Hello '));
        await new Promise((resolve) => setTimeout(resolve, 30));
        response.destroy();
      });
      const failed = await catchRejection(client.responses.stream(ask('hi')).finalResponse());
      expect(failed).to.be.instanceOf(sdk.Client.APIError);
      expect(failed).to.include({ code: 'upstream_error', type: 'api_error' });
    });

    it('have no memory, and say what to send instead', async () => {
      const refused = await catchRejection(client.responses.create(ask('hi', { previous_response_id: 'resp_1' })));
      expect(refused).to.be.instanceOf(sdk.Client.BadRequestError);
      expect(refused).to.include({ status: 400, code: 'previous_response_not_found' });
      expect(refused.message).to.contain('send the items of the conversation in `input` instead');
      const stored = await catchRejection(client.responses.retrieve('resp_1'));
      expect(stored).to.include({ status: 404, code: 'not_found' });
      expect(await stage.charged(account)).to.equal(0n);
    });
  });
}
