// The responses clients of openai, new and a year old: whole answers, streams by their helpers, and loops of tools that
// are paid exactly.
import { expect } from 'chai';
import OpenAI from 'openai';
import OpenAIOld from 'openai-v4';
import type { TestAccount } from '../../testkit/gateway.ts';
import { chatAnswer, chatChunk, SSE } from '../../testkit/upstream.ts';
import { catchRejection, MODEL, openStage, SANDBOX_MODEL, type Stage } from './stage.ts';

type Response = OpenAI.Responses.Response;

const CLIENTS: Readonly<Record<string, typeof OpenAI>> = {
  'openai 7': OpenAI,
  'openai 4': OpenAIOld as unknown as typeof OpenAI,
};

const STEPS = 5;
const TASK = `Go up, and say where you are. [[tool:climb*${STEPS} {"floors":2}]]`;
const CLIMB = {
  type: 'function' as const,
  name: 'climb',
  description: 'Goes up.',
  parameters: { type: 'object', properties: { floors: { type: 'number' } }, required: ['floors'] },
  strict: false,
};

/** In micro-roubles: each call by its usage, and at least the minimum. */
function computeCost(responses: readonly Response[]): bigint {
  return responses.reduce((sum, { usage }) => {
    const cost = BigInt(usage?.input_tokens ?? 0) * 1000n + BigInt(usage?.output_tokens ?? 0) * 5000n;
    return sum + (cost > 500_000n ? cost : 500_000n);
  }, 0n);
}

/** The old client adds `output_text` to whole answers only. */
function textOf({ output }: Response): string {
  const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []));
  return parts.map((part) => (part.type === 'output_text' ? part.text : '')).join('');
}

for (const [name, Client] of Object.entries(CLIENTS)) {
  describe(`responses with ${name}`, () => {
    let stage: Stage;
    let account: TestAccount;
    let client: OpenAI;

    before(async () => {
      stage = await openStage();
    });
    beforeEach(async () => {
      account = await stage.gateway.account();
      client = new Client({ baseURL: `${stage.gateway.url}/api/v1`, apiKey: account.key, maxRetries: 0 });
    });
    afterEach(() => stage.gateway.checkMoney());
    after(() => stage.close());

    it('are whole', async () => {
      stage.upstream.behave(chatAnswer('Hello, мир 😀.', { input: 9, output: 4 }));
      const response = await client.responses.create({
        model: MODEL,
        instructions: 'Be brief.',
        input: 'hi',
        metadata: { run: '7' },
        store: true,
      });
      expect(response.output_text).to.equal('Hello, мир 😀.');
      expect(response.usage).to.deep.include({ input_tokens: 9, output_tokens: 4, total_tokens: 13 });
      expect(response).to.deep.include({ model: MODEL, status: 'completed', metadata: { run: '7' } });
      expect(await stage.charged(account)).to.equal(computeCost([response]));
    });

    it('stream through the helper, which checks the order of events', async () => {
      stage.upstream.behave(chatAnswer('One two three.', { input: 9, output: 400 }));
      const stream = client.responses.stream({ model: MODEL, input: 'hi' });
      let said = '';
      stream.on('response.output_text.delta', ({ delta }) => {
        said += delta;
      });
      const response = await stream.finalResponse();
      expect(said).to.equal('One two three.');
      expect(textOf(response)).to.equal('One two three.');
      expect(response).to.have.nested.property('billing.charged_rub', 2.009);
      expect(await stage.charged(account)).to.equal(computeCost([response]));
    });

    it('parse an answer that keeps to a schema', async () => {
      stage.upstream.behave(chatAnswer('{"city":"Perm"}'));
      const response = await client.responses.parse({
        model: MODEL,
        input: 'hi',
        text: { format: { type: 'json_schema', name: 'place', schema: { type: 'object' }, strict: true } },
      });
      expect(response.output_text).to.equal('{"city":"Perm"}');
    });

    for (const streams of [false, true]) {
      it(`call tools until the task is done, ${streams ? 'streaming' : 'not streaming'}`, async () => {
        const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: TASK }];
        const responses: Response[] = [];
        let floor = 0;
        while (responses.length <= STEPS) {
          const body = { model: SANDBOX_MODEL, max_output_tokens: 500, input, tools: [CLIMB], store: false };
          const response = streams
            ? await client.responses.stream(body).finalResponse()
            : await client.responses.create(body);
          responses.push(response);
          input.push(...(response.output as OpenAI.Responses.ResponseInput));
          const calls = response.output.filter((item) => item.type === 'function_call');
          if (calls.length === 0) break;
          for (const { call_id, arguments: json } of calls as OpenAI.Responses.ResponseFunctionToolCall[]) {
            floor += JSON.parse(json).floors;
            input.push({ type: 'function_call_output', call_id, output: `floor ${floor}` });
          }
        }
        expect(responses).to.have.length(STEPS + 1);
        expect(textOf(responses.at(-1) as Response)).to.contain(`floor ${2 * STEPS}`);
        expect(await stage.charged(account)).to.equal(computeCost(responses));
      });
    }

    it('fail with the words of the gateway, before the stream and within it', async () => {
      const refused = await catchRejection(
        client.responses.create({ model: MODEL, input: 'hi', previous_response_id: 'resp_1' }),
      );
      expect(refused).to.include({ status: 400, code: 'invalid_request' });
      expect(refused.message).to.contain('send the items of the conversation in `input` instead');
      const stored = await catchRejection(client.responses.retrieve('resp_1'));
      expect(stored).to.include({ status: 404, code: 'not_found' });
      stage.upstream.behave(({ response }) => {
        response.writeHead(200, SSE);
        response.write(chatChunk('Hello '));
        setTimeout(() => response.destroy(), 30);
      });
      const events: OpenAI.Responses.ResponseStreamEvent[] = [];
      for await (const event of await client.responses.create({ model: MODEL, input: 'hi', stream: true }))
        events.push(event);
      const last = events.at(-1);
      expect(last?.type).to.equal('response.failed');
      expect(last).to.have.nested.property('response.error.code', 'upstream_error');
    });
  });
}
