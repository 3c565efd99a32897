// What a responses upstream is asked besides plain text, and what is made of the items of its answers.
import { expect } from 'chai';
import type { ProviderPart, TextCall } from '../../lib/upstream/contract/provider.ts';
import { createHost } from '../../lib/upstream/host/host.ts';
import { LenientAnswer } from '../../lib/upstream/host/lenient-answer.ts';
import plugin from '../../providers/openai-responses/index.ts';
import { HELLO, useVendor } from '../../testkit/vendor.ts';

const ORIGIN = 'https://responses.example';
const CALL: TextCall = { ...HELLO, model: 'm' };
const DONE = { type: 'response.completed', response: { status: 'completed' } };
const schema = { type: 'object' };

const line = (event: object) => `data: ${JSON.stringify(event)}\n\n`;
const piece = (delta: string, output_index = 0, content_index = 0) =>
  line({ type: 'response.output_text.delta', output_index, content_index, delta });

/** What reasoning goes on from with the next request. */
const STATE = ['reasoning.encrypted_content'];

describe('openai-responses: items', () => {
  const vendor = useVendor(plugin, ORIGIN, { baseUrl: `${ORIGIN}/v1`, apiKey: 'k1' });

  const asked = async (call: Partial<TextCall>, options: object = {}) => {
    const { sent } = await vendor.tell(
      vendor.open(),
      { ...CALL, ...call, options: { ...options } },
      piece('Hi') + line(DONE),
    );
    expect(sent.headers).to.include({ accept: 'text/event-stream, application/json' });
    const { model: _, input, max_output_tokens: __, ...body } = sent.body;
    expect(body).to.include({ store: false, stream: true });
    const { store: ___, stream: ____, ...more } = body;
    return { input, more };
  };

  const read = async (...events: readonly object[]) => {
    const body = events.map(line).join('');
    return (await vendor.tell(vendor.open(), CALL, body)).parts;
  };
  const blocksOf = (parts: readonly ProviderPart[]) => {
    const blocks: string[] = [];
    for (const part of parts) {
      if (part.type === 'block-start')
        blocks.push(part.block.type === 'tool' ? `${part.block.id} ${part.block.name} ` : '');
      if (part.type === 'block-delta') blocks[part.index] += part.text;
    }
    return blocks;
  };

  const type = 'function';
  for (const [call, options, more] of [
    [{}, {}, {}],
    [{ format: { type: 'json' } }, {}, { text: { format: { type: 'json_object' } } }],
    [
      { format: { type: 'json-schema', name: 'place', schema } },
      {},
      { text: { format: { type: 'json_schema', name: 'place', schema, strict: false } } },
    ],
    [{ reasoning: { mode: 'on', effort: 'high' } }, {}, { reasoning: { effort: 'high' } }],
    [
      { mayReason: true, reasoning: { mode: 'on', effort: 'high' } },
      {},
      { reasoning: { effort: 'high' }, include: STATE },
    ],
    [{ mayReason: true, reasoning: { mode: 'off' } }, {}, { reasoning: { effort: 'none' } }],
    [{ mayReason: true, reasoning: { mode: 'off' } }, { off: 'low' }, { reasoning: { effort: 'low' } }],
    [{ reasoning: { mode: 'on', effort: 'minimal' } }, {}, { reasoning: { effort: 'minimal' } }],
    [{ reasoning: { mode: 'on', effort: 'minimal' } }, { off: 'low' }, { reasoning: { effort: 'low' } }],
    [{ reasoning: { mode: 'on', effort: 'high' } }, { off: 'low' }, { reasoning: { effort: 'high' } }],
    [{ mayReason: true, reasoning: { mode: 'auto' } }, {}, { include: STATE }],
    [
      { mayReason: true, reasoning: { mode: 'auto', display: 'summarized' } },
      {},
      { reasoning: { summary: 'auto' }, include: STATE },
    ],
    [{ reasoning: { mode: 'auto', isShown: true } }, {}, { reasoning: { summary: 'auto' } }],
    [
      { reasoning: { mode: 'on', effort: 'low', isShown: true } },
      {},
      { reasoning: { effort: 'low', summary: 'auto' } },
    ],
    [
      { reasoning: { mode: 'on', effort: 'low', display: 'summarized', isShown: true } },
      { summary: 'omit' },
      { reasoning: { effort: 'low' } },
    ],
    [{ reasoning: { mode: 'auto', display: 'omitted' } }, {}, {}],
    [{ mayReason: true }, {}, { include: STATE }],
    [{}, {}, {}],
    ...(
      [
        [undefined, {}],
        ['any', { tool_choice: 'required' }],
        ['none', { tool_choice: 'none' }],
        ['auto', { tool_choice: 'auto' }],
        [{ name: 'look' }, { tool_choice: { type, name: 'look' } }],
      ] as const
    ).map(([choice, chosen]) => [
      { tools: { list: [{ name: 'look', schema }], ...(choice !== undefined && { choice }) } },
      {},
      { tools: [{ type, name: 'look', parameters: schema, strict: false }], ...chosen },
    ]),
    ...(
      [
        [{}, { type: 'custom', name: 'look', format: { type: 'text' } }, { type: 'custom', name: 'look' }],
        [
          { customTools: 'function' },
          { type, name: 'look', parameters: schema, strict: false },
          { type, name: 'look' },
        ],
      ] as const
    ).map(([options, tool, chosen]) => [
      { tools: { list: [{ name: 'look', schema, custom: { format: { type: 'text' } } }], choice: { name: 'look' } } },
      options,
      { tools: [tool], tool_choice: chosen },
    ]),
    [
      { tools: { list: [{ name: 'look', description: 'Looks.', schema, strict: true }], single: true } },
      {},
      {
        tools: [{ type, name: 'look', description: 'Looks.', parameters: schema, strict: true }],
        parallel_tool_calls: false,
      },
    ],
  ] as readonly (readonly [Partial<TextCall>, object, object])[]) {
    it(`asks for ${JSON.stringify(more)} for ${JSON.stringify(call)} ${JSON.stringify(options)}`, async () => {
      expect((await asked(call, options)).more).to.deep.equal(more);
    });
  }

  it('asks again without a summary where the account may not have one, and no more for later answers', async () => {
    const provider = vendor.open();
    const call: TextCall = { ...CALL, reasoning: { mode: 'on', effort: 'low', isShown: true } };
    const message = 'Your organization must be verified to generate reasoning summaries.';
    const error = { message, type: 'invalid_request_error', param: 'reasoning.summary', code: 'unsupported_value' };
    vendor.answer({ error }, { status: 400 });
    const { parts, error: failure } = await vendor.tell(provider, call, piece('Hi') + line(DONE));
    expect(failure).to.equal(undefined);
    expect(blocksOf(parts)).to.deep.equal(['Hi']);
    await vendor.tell(provider, call, line(DONE));
    const plain = { effort: 'low' };
    expect(vendor.sent.map(({ body }) => body.reasoning)).to.deep.equal([{ ...plain, summary: 'auto' }, plain, plain]);
  });

  it('goes on asking for summaries after a refusal that quotes a tool of that name', async () => {
    const provider = vendor.open();
    const call: TextCall = { ...CALL, reasoning: { mode: 'on', effort: 'low', isShown: true } };
    const message = "Invalid schema for function 'reasoning_summary': unknown keyword.";
    const error = { message, type: 'invalid_request_error', param: 'tools[0].parameters' };
    vendor.answer({ error }, { status: 400 });
    const { error: failure } = await vendor.tell(provider, call, { error }, { status: 400 });
    expect(failure).to.include({ kind: 'request', status: 400 });
    await vendor.tell(provider, call, piece('Hi') + line(DONE));
    expect(vendor.sent.at(-1)?.body.reasoning).to.deep.equal({ effort: 'low', summary: 'auto' });
  });

  it('passes any other refusal of a request for a summary on', async () => {
    const call: TextCall = { ...CALL, reasoning: { mode: 'on', effort: 'low', isShown: true } };
    const error = { message: 'Invalid value: effort.', type: 'invalid_request_error', param: 'reasoning.effort' };
    const { error: failure } = await vendor.tell(vendor.open(), call, { error }, { status: 400 });
    expect(failure).to.include({ kind: 'request', status: 400 });
    expect(vendor.sent).to.have.length(1);
  });

  it('has calls behind the text of their message, and results before it', async () => {
    const result = (id: string, isError: boolean, ...texts: string[]) => ({
      ...({ type: 'tool-result', id, name: 'look', isError } as const),
      content: texts.map((text) => ({ type: 'text', text }) as const),
    });
    const { input } = await asked({
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'tool-call', id: 'a', name: 'look', json: '{}' },
            { type: 'text', text: 'Let me see.' },
          ],
        },
        { role: 'user', content: [{ type: 'text', text: 'And?' }, result('a', false), result('b', true, 'no')] },
      ],
    });
    const text = (said: string) => ({ type: 'input_text', text: said });
    expect(input).to.deep.equal([
      { role: 'assistant', content: [{ type: 'output_text', text: 'Let me see.' }] },
      { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: '' },
      { type: 'function_call_output', call_id: 'b', output: [text('Error:'), text('no')] },
      { role: 'user', content: [text('And?')] },
    ]);
  });

  for (const [options, call, result] of [
    [{}, { type: 'custom_tool_call', input: 'x' }, 'custom_tool_call_output'],
    [{ customTools: 'function' }, { type: 'function_call', arguments: '{"input":"x"}' }, 'function_call_output'],
  ] as const) {
    it(`writes calls that took text as ${call.type} for ${JSON.stringify(options)}`, async () => {
      const { input } = await asked(
        {
          messages: [
            {
              role: 'assistant',
              content: [{ type: 'tool-call', id: 'a', name: 'look', json: '{"input":"x"}', isCustom: true }],
            },
            { role: 'user', content: [{ type: 'tool-result', id: 'a', name: 'look', isError: false, content: [] }] },
          ],
        },
        options,
      );
      expect(input).to.deep.equal([
        { call_id: 'a', name: 'look', ...call },
        { type: result, call_id: 'a', output: '' },
      ]);
    });
  }

  it('keeps parts of a message apart', async () => {
    const delta = (content_index: number, said: string) => ({
      type: 'response.output_text.delta',
      output_index: 0,
      content_index,
      delta: said,
    });
    expect(blocksOf(await read(delta(0, 'a'), delta(0, 'b'), delta(1, 'c'), DONE))).to.deep.equal(['ab', 'c']);
  });

  it('takes a call from its item and the pieces behind it, or from the whole response, once', async () => {
    const item = { type: 'function_call', call_id: 'a', name: 'look' };
    const added = (json: string) => ({
      type: 'response.output_item.added',
      output_index: 1,
      item: { ...item, arguments: json },
    });
    const pieces = ['{"at"', ':1}'].map((delta) => ({
      type: 'response.function_call_arguments.delta',
      output_index: 1,
      delta,
    }));
    const whole = { status: 'completed', output: [{ type: 'reasoning' }, { ...item, arguments: '{"at":1}' }] };
    const end = { type: 'response.completed', response: whole };
    for (const events of [[added(''), ...pieces, end], [added('{"at":1}'), end], [end]]) {
      expect(blocksOf(await read(...events))).to.deep.equal(['a look {"at":1}']);
    }
  });

  it('says that it was refused, in pieces and as a whole, also where text follows', async () => {
    const refusal = { type: 'response.refusal.delta', output_index: 0, content_index: 0, delta: 'No.' };
    const text = { type: 'response.output_text.delta', output_index: 0, content_index: 1, delta: 'Sorry.' };
    const output = [{ type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] }];
    const whole = { type: 'response.completed', response: { status: 'completed', output } };
    for (const events of [[refusal, DONE], [refusal, text, DONE], [whole]]) {
      const parts = await read(...events);
      expect(blocksOf(parts)[0]).to.equal('No.');
      expect(parts.at(-1)).to.include({ type: 'finish', reason: 'filter' });
    }
  });

  it('is named when it begins, and ends for a reason that nobody knows as it may', async () => {
    const created = { type: 'response.created', response: { id: 'r1', model: 'm-1' } };
    const text = { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hi' };
    for (const [reason, finish] of [
      ['max_output_tokens', 'length'],
      ['content_filter', 'filter'],
      ['a_whim', 'other'],
      [7, 'other'],
      [undefined, 'other'],
    ] as const) {
      const response = { status: 'incomplete', ...(reason && { incomplete_details: { reason } }) };
      const parts = await read(created, text, { type: 'response.incomplete', response });
      expect(parts[0]).to.deep.equal({ type: 'start', id: 'r1', model: 'm-1' });
      expect(parts.at(-1)).to.deep.equal({ type: 'finish', reason: finish, raw: `${reason ?? 'incomplete'}` });
    }
  });

  it('is over with the event that ends it, and nothing more is waited for', () => {
    const host = createHost({ upstream: 'acme', allowedOrigins: [], log: { warn() {} } });
    for (const type of ['response.completed', 'response.incomplete']) {
      const frames = new LenientAnswer({ reader: host.responses.reader(), fault: host.fault });
      frames.push(Buffer.from(piece('Hi')), []);
      expect(frames.done).to.equal(false);
      frames.push(Buffer.from(line({ type, response: {} })), []);
      expect(frames.done, type).to.equal(true);
    }
  });

  it('has failed with an event that says so, whatever status its response still has', async () => {
    const failed = { type: 'response.failed', response: { status: 'completed', output: [] } };
    const { error } = await vendor.tell(vendor.open(), CALL, piece('Hi') + line(failed));
    expect(error).to.include({ name: 'UpstreamFault', kind: 'server' });
  });
});
