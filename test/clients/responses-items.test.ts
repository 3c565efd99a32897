// Reasoning and calls with plain text over the responses format, as the official clients read them and send them back to
// an upstream of the same format.
import { expect } from 'chai';
import type OpenAI from 'openai';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { OPENAI_SDKS } from './stage.ts';

type Item = OpenAI.Responses.ResponseInputItem;

const MODEL = 'thinker';
const THOUGHT = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'A patch will do.' }],
  encrypted_content: 'Z0FBQUE=',
};
const PATCH = '*** Begin Patch\n*** Update File: "a"\n*** End Patch\n';
const CALL = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_1', name: 'apply_patch', input: PATCH };
const TEXT = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  phase: 'final_answer',
  content: [{ type: 'output_text', text: 'Mended.' }],
};
const USAGE = { input_tokens: 20, output_tokens: 30, total_tokens: 50 };

function writeEvents(...events: readonly (readonly [type: string, fields: object])[]): string {
  return events
    .map(([type, fields]) => `data: ${JSON.stringify({ type: `response.${type}`, ...fields })}\n\n`)
    .join('');
}

const CALLING = writeEvents(
  ['created', { response: { id: 'up_1', model: 'm' } }],
  ['output_item.added', { output_index: 0, item: { ...THOUGHT, summary: [] } }],
  ['reasoning_summary_text.delta', { output_index: 0, summary_index: 0, delta: 'A patch ' }],
  ['reasoning_summary_text.delta', { output_index: 0, summary_index: 0, delta: 'will do.' }],
  ['output_item.done', { output_index: 0, item: THOUGHT }],
  ['output_item.added', { output_index: 1, item: { ...CALL, input: '' } }],
  ['custom_tool_call_input.delta', { output_index: 1, delta: PATCH.slice(0, 9) }],
  ['custom_tool_call_input.delta', { output_index: 1, delta: PATCH.slice(9) }],
  ['output_item.done', { output_index: 1, item: CALL }],
  ['completed', { response: { id: 'up_1', status: 'completed', output: [THOUGHT, CALL], usage: USAGE } }],
);
const ENDING = writeEvents([
  'completed',
  { response: { id: 'up_2', status: 'completed', output: [TEXT], usage: USAGE } },
]);

for (const sdk of OPENAI_SDKS) {
  describe(`items of responses with ${sdk.name}`, () => {
    let upstream: TestUpstream;
    let gateway: TestGateway;
    let account: TestAccount;
    let client: OpenAI;

    before(async () => {
      upstream = await startUpstream();
      const settings = { baseUrl: `${upstream.url}/v1`, apiKey: 'secret' };
      const model = {
        id: MODEL,
        type: 'text',
        provider: 'Test',
        tools: true,
        reasoning: true,
        routes: [{ upstream: 'up', model: 'm' }],
        price: { input: '1000', output: '5000' },
      };
      gateway = await startGateway({
        catalog: { upstreams: { up: { plugin: 'openai-responses', settings } }, models: [model] },
      });
    });
    beforeEach(async () => {
      account = await gateway.account();
      client = sdk.open(gateway, account);
      upstream.calls.length = 0;
      upstream.behave(({ response, body }) => {
        const isAnswered = JSON.stringify(body).includes('custom_tool_call_output');
        response.writeHead(200, SSE).end(isAnswered ? ENDING : CALLING);
      });
    });
    afterEach(() => gateway.checkMoney());
    after(async () => {
      await gateway.stop();
      await upstream.close();
    });

    for (const streams of [false, true]) {
      it(`are thoughts and calls with text, which go back as they came, ${streams ? 'streaming' : 'not streaming'}`, async () => {
        const input: Item[] = [{ role: 'user', content: 'Mend it.' }];
        // The older client does not know such tools, but passes them on.
        const tools = [{ type: 'custom', name: 'apply_patch', description: 'Edits files.' }] as OpenAI.Responses.Tool[];
        const respond = () => {
          const body = { model: MODEL, input, tools, store: false, reasoning: { effort: 'high' as const } };
          return streams ? client.responses.stream(body).finalResponse() : client.responses.create(body);
        };
        const first = await respond();
        const [thought, call] = first.output as OpenAI.Responses.ResponseOutputItem[];
        expect(thought).to.deep.include({ type: 'reasoning', summary: THOUGHT.summary });
        expect(call).to.deep.include({ type: 'custom_tool_call', name: 'apply_patch', input: PATCH });
        const id = (call as OpenAI.Responses.ResponseCustomToolCall).call_id;
        input.push(...(first.output as Item[]), { type: 'custom_tool_call_output', call_id: id, output: 'Done.' });
        const second = await respond();
        expect(second.output.at(-1)).to.have.nested.property('content[0].text', 'Mended.');
        expect(second.output.at(-1)).to.include({ phase: 'final_answer' });

        const sent = upstream.calls.at(-1)?.body.input as object[];
        expect(sent[1]).to.deep.equal(THOUGHT);
        const { id: _, ...called } = CALL;
        expect(sent[2]).to.deep.equal(called);
        expect(sent[3]).to.deep.include({ type: 'custom_tool_call_output', call_id: CALL.call_id });
        // Twice 20 tokens of input and 30 of output, which is less than the minimum.
        expect((await gateway.wallet(account)).charged).to.equal(1_000_000n);
      });

      it(`of a vendor's own tools are calls and results, ${streams ? 'streaming' : 'not streaming'}`, async () => {
        upstream.behave(({ response }) => void response.writeHead(200, SSE).end(ENDING));
        const input = [
          { type: 'compaction', id: 'cmp_1', encrypted_content: 'Z0FBQUE=' },
          { role: 'user', content: 'What is here?' },
          { type: 'shell_call', call_id: 'call_1', action: { commands: ['ls'] }, status: 'completed' },
          { type: 'shell_call_output', call_id: 'call_1', output: [{ stdout: 'a', stderr: '' }] },
        ] as unknown as Item[];
        const body = { model: MODEL, input, store: false };
        const answer = await (streams ? client.responses.stream(body).finalResponse() : client.responses.create(body));
        // The older client adds up no text of a stream.
        expect(answer.output.at(-1)).to.have.nested.property('content[0].text', 'Mended.');
        expect(upstream.calls.at(-1)?.body.input).to.deep.equal([
          input[0],
          { role: 'user', content: [{ type: 'input_text', text: 'What is here?' }] },
          { type: 'function_call', call_id: 'call_1', name: 'shell', arguments: '{"commands":["ls"]}' },
          {
            type: 'function_call_output',
            call_id: 'call_1',
            output: [{ type: 'input_text', text: '[{"stdout":"a","stderr":""}]' }],
          },
        ]);
      });
    }
  });
}
