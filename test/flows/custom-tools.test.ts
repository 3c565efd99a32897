// Custom tools, whose input is plain text, over an upstream of each wire format: one that knows them gets them as they
// are, every other a function with one argument, and the client is answered alike.
import { expect } from 'chai';
import { CHAT, parseEvents, RESPONSES, send } from '../../testkit/client.ts';
import { SSE } from '../../testkit/upstream.ts';
import { FORMATS, type Json, type RequestStage, startRequestStage, user } from './request-stage.ts';

type Format = (typeof FORMATS)[number];

const INPUT = '*** Begin Patch\n*** Update File: "a"\n\\ж 😀\n*** End Patch\n';
const GRAMMAR = { type: 'grammar', syntax: 'lark', definition: 'start: "*** Begin Patch"' };
const PATCH = { type: 'custom', name: 'apply_patch', description: 'Edits files.', format: GRAMMAR };
const ARGUMENTS = JSON.stringify({ input: INPUT });
const USAGE = { input_tokens: 20, output_tokens: 10, total_tokens: 30 };

const HALVES = [INPUT.slice(0, 20), INPUT.slice(20)];
const ITEM = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_1', name: 'apply_patch', input: INPUT };
const place = { item_id: 'ctc_1', output_index: 0 };

/** By format, how an upstream calls the tool. */
const ANSWERS: Readonly<Record<Format, readonly object[]>> = {
  chat: [
    {
      choices: [
        {
          index: 0,
          delta: {
            tool_calls: [
              { index: 0, id: 'call_1', type: 'function', function: { name: 'apply_patch', arguments: ARGUMENTS } },
            ],
          },
        },
      ],
    },
    {
      choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }],
      usage: { prompt_tokens: 20, completion_tokens: 10 },
    },
  ],
  message: [
    { type: 'message_start', message: { id: 'm1', usage: { input_tokens: 20, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'call_1', name: 'apply_patch' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: ARGUMENTS } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 10 } },
    { type: 'message_stop' },
  ],
  contents: [
    {
      candidates: [
        {
          content: { parts: [{ functionCall: { id: 'call_1', name: 'apply_patch', args: { input: INPUT } } }] },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 10 },
    },
  ],
  responses: [
    { type: 'response.output_item.added', output_index: 0, item: { ...ITEM, input: '' } },
    ...HALVES.map((delta) => ({ type: 'response.custom_tool_call_input.delta', ...place, delta })),
    { type: 'response.custom_tool_call_input.done', ...place, input: INPUT },
    { type: 'response.output_item.done', output_index: 0, item: ITEM },
    { type: 'response.completed', response: { status: 'completed', output: [ITEM], usage: USAGE } },
  ],
};

describe('custom tools', () => {
  let stage: RequestStage;

  before(async () => {
    stage = await startRequestStage();
  });
  after(() => stage.stop());

  const answerWith = (format: Format) => {
    const answer = ANSWERS[format].map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    stage.upstream.behave(({ response }) => void response.writeHead(200, SSE).end(answer));
  };
  const call = async (path: string, body: object) => {
    const reply = await send(stage.gateway.url + path, { key: stage.account.key, body });
    expect(reply.status, reply.text).to.equal(200);
    return reply;
  };
  const asked = (): Json => stage.upstream.calls.at(-1)?.body;

  for (const format of FORMATS) {
    it(`are called with text over a ${format} upstream, and what they said goes back`, async () => {
      answerWith(format);
      const body = { model: format, tools: [PATCH], tool_choice: { type: 'custom', name: 'apply_patch' } };
      const { json } = await call(RESPONSES, { ...body, input: 'Fix it.' });
      expect(json.output).to.have.length(1);
      expect(json.output[0]).to.deep.include({ type: 'custom_tool_call', name: 'apply_patch', input: INPUT });
      const { text } = await call(RESPONSES, { ...body, input: 'Fix it.', stream: true });
      const events = parseEvents(text).map(({ data }) => data);
      const pieces = events.filter(({ type }) => type === 'response.custom_tool_call_input.delta');
      expect(pieces.map(({ delta }) => delta).join('')).to.equal(INPUT);
      expect(events.at(-1).response.output[0]).to.deep.include({ type: 'custom_tool_call', input: INPUT });

      const { call_id: id } = json.output[0];
      const result = { type: 'custom_tool_call_output', call_id: id, output: 'Done.' };
      await call(RESPONSES, { ...body, input: [user('Fix it.'), json.output[0], result, user('Go on.')] });
      const sent = JSON.stringify(asked());
      expect(sent).to.contain(JSON.stringify(GRAMMAR.definition).slice(1, -1)).and.to.contain('Done.');
      if (format !== 'responses') expect(sent).not.to.contain('custom');
    });
  }

  it('go to an upstream of the same format as they came', async () => {
    answerWith('responses');
    const result = { type: 'custom_tool_call_output', call_id: 'call_1', output: 'Done.' };
    await call(RESPONSES, {
      model: 'responses',
      tools: [
        { ...PATCH, format: { ...GRAMMAR, more: 'x' } },
        { ...PATCH, name: 'plain', format: { type: 'text', more: 'x' } },
        { ...PATCH, name: 'unlike', format: { type: 'grammar', syntax: 7 } },
      ],
      tool_choice: { type: 'custom', name: 'apply_patch' },
      input: [user('Fix it.'), ITEM, result],
    });
    const { tools, tool_choice: choice, input } = asked();
    expect(tools).to.deep.equal([
      PATCH,
      { ...PATCH, name: 'plain', format: { type: 'text' } },
      { type: 'custom', name: 'unlike', description: 'Edits files.' },
    ]);
    expect(choice).to.deep.equal({ type: 'custom', name: 'apply_patch' });
    const { id: _, ...sent } = ITEM;
    expect(input.slice(1)).to.deep.equal([sent, { ...result, output: [{ type: 'input_text', text: 'Done.' }] }]);
  });

  it('of a chat go there too', async () => {
    answerWith('responses');
    const grammar = { syntax: 'lark', definition: GRAMMAR.definition };
    const custom = { name: 'apply_patch', description: 'Edits files.', format: { type: 'grammar', grammar } };
    const made = { id: 'call_1', type: 'custom', custom: { name: 'apply_patch', input: INPUT } };
    const messages = [
      user('Fix it.'),
      { role: 'assistant', content: null, tool_calls: [made] },
      { role: 'tool', tool_call_id: 'call_1', content: 'Done.' },
    ];
    // Some clients mix in the shape of the responses dialect.
    for (const tool of [{ type: 'custom', custom }, PATCH]) {
      const { json } = await call(CHAT, { model: 'responses', tools: [tool], messages });
      expect(json.choices[0].message.tool_calls[0]).to.deep.include({
        type: 'custom',
        custom: { name: 'apply_patch', input: INPUT },
      });
      const { tools, input } = asked();
      expect(tools).to.deep.equal([PATCH]);
      expect(input[1]).to.include({ type: 'custom_tool_call', name: 'apply_patch', input: INPUT });
      expect(input[2]).to.include({ type: 'custom_tool_call_output' });
    }
  });
});
