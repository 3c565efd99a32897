import { expect } from 'chai';
import type { JsonObject, MessageQuirks, ProviderPart } from '../../../../lib/upstream/contract/provider.ts';
import { MessageReply } from '../../../../lib/upstream/formats/message/reply.ts';
import { createFinishReason } from '../../../../lib/upstream/host/finish-words.ts';
import { createHostFault } from '../../../../lib/upstream/host/host-fault.ts';
import { Writer } from '../../../../lib/upstream/host/writer.ts';

const fault = createHostFault({ secrets: [] });

function read(events: readonly JsonObject[], quirks: MessageQuirks = {}): readonly ProviderPart[] {
  const parts: ProviderPart[] = [];
  const out = new Writer();
  out.into(parts);
  const reply = new MessageReply({ fault, finishReason: createFinishReason(fault) }, quirks);
  for (const event of events) if (!out.isDone) reply.take(event, out);
  return parts;
}

/** The text of every block, a call of a tool with its id and name. */
function blocksOf(parts: readonly ProviderPart[]): readonly string[] {
  const blocks: string[] = [];
  for (const part of parts) {
    if (part.type === 'block-start')
      blocks.push(part.block.type === 'tool' ? `${part.block.id} ${part.block.name} ` : '');
    if (part.type === 'block-delta') blocks[part.index] += part.text;
  }
  return blocks;
}

const of = (parts: readonly ProviderPart[], type: ProviderPart['type']) => parts.filter((part) => part.type === type);
const start = (block: unknown, index = 0) => ({ type: 'content_block_start', index, content_block: block });
const delta = (said: unknown, index = 0) => ({ type: 'content_block_delta', index, delta: said });
const STOP = { type: 'message_stop' };
const TOOL = { type: 'tool_use', id: 'a', name: 'look' };

describe('replies in the messages format', () => {
  it('come whole from an endpoint that does not stream, as a list or as a text', () => {
    for (const [content, blocks] of [
      ['Hi', ['Hi']],
      [
        [{ type: 'text', text: 'Hi' }, { text: ' there' }],
        ['Hi', ' there'],
      ],
      [[{ type: 'thinking', text: 'Hm' }, { ...TOOL, input: { at: 1 } }, null], ['a look {"at":1}']],
      [undefined, []],
    ] as const) {
      const parts = read([
        { type: 'message', id: 'm1', model: 'm', content, stop_reason: 'end_turn', usage: { input_tokens: 3 } },
      ]);
      expect(blocksOf(parts), JSON.stringify(content)).to.deep.equal(blocks);
      expect(of(parts, 'start')).to.deep.equal([{ type: 'start', id: 'm1', model: 'm' }]);
      expect(of(parts, 'usage')).to.deep.equal([{ type: 'usage', input: 3 }]);
      expect(parts.at(-1)).to.deep.equal({ type: 'finish', reason: 'stop', raw: 'end_turn' });
    }
  });

  it('have the first words in the start of a block, and the others in deltas of text only', () => {
    const parts = read([
      start({ type: 'text', text: 'So ' }),
      delta({ type: 'text_delta', text: 'it ' }),
      delta({ text: 'is' }),
      delta({ type: 'thinking_delta', text: 'hm' }),
      delta({ type: 'text_delta', text: 7 }),
      delta({ type: 'input_json_delta', partial_json: '{}' }),
      delta(null),
      start(null, 1),
      start({ text: '.' }, 1),
      STOP,
    ]);
    expect(blocksOf(parts)).to.deep.equal(['So it is', '.']);
    expect(parts.at(-1)).to.deep.equal({ type: 'finish', reason: 'stop', raw: 'message_stop' });
  });

  it('have the arguments of a call in the start of its block or behind it', () => {
    for (const [input, blocks] of [
      [{}, ['a look {"at":2}']],
      [undefined, ['a look {"at":2}']],
      [{ at: 1 }, ['a look {"at":1}']],
      ['{"at":1}', ['a look {"at":1}']],
    ] as const) {
      const parts = read([
        start({ ...TOOL, input }),
        delta({ type: 'input_json_delta', partial_json: '{"at"' }),
        delta({ type: 'input_json_delta', partial_json: ':2}' }),
        { type: 'content_block_stop', index: 0 },
        delta({ type: 'input_json_delta', partial_json: 'late' }),
        STOP,
      ]);
      expect(blocksOf(parts), JSON.stringify(input)).to.deep.equal(blocks);
    }
  });

  it('end the block of a call where it stops, with or without all its arguments', () => {
    const parts = read([start(TOOL), delta({ partial_json: '{"at"' }), { type: 'content_block_stop', index: 0 }]);
    expect(of(parts, 'block-end')).to.have.length(1);
    expect(of(read([start(TOOL), delta({ partial_json: '{"at"' })]), 'block-end')).to.have.length(0);
  });

  it('count at the start, at the end, or in both, each count by its last value', () => {
    const begin = (usage: object) => ({ type: 'message_start', message: { usage } });
    const finish = (usage: object) => ({ type: 'message_delta', delta: { stop_reason: 'max_tokens' }, usage });
    const parts = read([
      begin({ input_tokens: 3, cache_creation_input_tokens: 10, cache_read_input_tokens: 100, output_tokens: 1 }),
      finish({ output_tokens: 7, cache_read_input_tokens: 200 }),
      finish({}),
      STOP,
    ]);
    expect(of(parts, 'usage')).to.deep.equal([
      { type: 'usage', input: 3, cacheRead: 100, cacheWrite: 10, output: 1 },
      { type: 'usage', cacheRead: 200, output: 7 },
    ]);
    const late = read([begin({ input_tokens: 3 }), finish({ output_tokens: 7, cache_read_input_tokens: 2 }), STOP]);
    expect(of(late, 'usage').at(-1)).to.deep.equal({ type: 'usage', cacheRead: 2, output: 7 });
    expect(parts.at(-1)).to.deep.equal({ type: 'finish', reason: 'length', raw: 'max_tokens' });
    expect(
      read([
        { type: 'message_start', message: 'x' },
        { type: 'message_delta', delta: 'x' },
      ]),
    ).to.deep.equal([]);
  });

  it('count within a delta too, beside it or in it', () => {
    for (const counted of [
      { ...delta({ type: 'text_delta', text: 'Hi' }), usage: { output_tokens: 3 } },
      delta({ type: 'text_delta', text: 'Hi', usage: { output_tokens: 3 } }),
    ])
      expect(of(read([start({ type: 'text', text: '' }), counted]), 'usage')).to.deep.equal([
        { type: 'usage', output: 3 },
      ]);
  });

  it('count in the last event where an upstream says so, unless the answer is counted already', () => {
    const counts = { at: ['facts', 'count'], names: { input: ['in'], output: ['out'] } };
    const last = { ...STOP, facts: { count: { in: 4, out: 5 } } };
    const ending = { type: 'message_delta', delta: {}, usage: { input_tokens: 1, output_tokens: 2 } };
    expect(of(read([last], { counts }), 'usage')).to.deep.equal([{ type: 'usage', input: 4, output: 5 }]);
    for (const before of [[ending], [ending, { type: 'message_delta', delta: {} }]]) {
      expect(of(read([...before, last], { counts }), 'usage')).to.deep.equal([{ type: 'usage', input: 1, output: 2 }]);
    }
    expect(of(read([last]), 'usage')).to.deep.equal([]);
  });

  it('refuse the content where a filter comes before the first block, whatever they count', () => {
    const ending = (stop_reason: string) => ({
      type: 'message_delta',
      delta: { stop_reason, stop_details: { type: 'refusal', category: 'cyber' } },
      usage: { input_tokens: 106, output_tokens: 1 },
    });
    const whole = { type: 'message', content: [], stop_reason: 'refusal', usage: { output_tokens: 2 } };
    for (const event of [ending('refusal'), ending('sensitive'), whole]) {
      expect(() => read([event]))
        .to.throw()
        .that.includes({ kind: 'request', about: 'content' });
    }
    const begun = read([start({ type: 'text', text: 'Hi' }), ending('refusal')]);
    expect(begun.at(-1)).to.deep.equal({ type: 'finish', reason: 'filter', raw: 'refusal' });
    expect(read([ending('end_turn')]).at(-1)).to.deep.equal({ type: 'finish', reason: 'stop', raw: 'end_turn' });
  });

  it('count in an older place, and take zeros for counts', () => {
    const begin = { type: 'message_start', message: { usage: { input_tokens: 2, cache_read_input_tokens: 5000 } } };
    const inside = { type: 'message_delta', delta: { stop_reason: 'end_turn', usage: { output_tokens: 10 } } };
    const back = {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: 5002, cache_read_input_tokens: 0, output_tokens: 10 },
    };
    expect(of(read([begin, inside]), 'usage').at(-1)).to.deep.equal({ type: 'usage', output: 10 });
    expect(of(read([begin, back]), 'usage').at(-1)).to.deep.equal({
      type: 'usage',
      input: 5002,
      cacheRead: 0,
      output: 10,
    });
  });

  const shapeOf = (parts: readonly ProviderPart[]) => {
    const shape: string[] = [];
    for (const part of parts) {
      if (part.type === 'block-start') {
        const { block } = part;
        shape.push(
          block.type === 'tool' ? `${block.name} ` : `${block.type}${'redacted' in block ? ' redacted' : ''} `,
        );
      }
      if (part.type === 'block-delta') shape[part.index] += part.text;
      if (part.type === 'block-state') shape[part.index] += `[${part.state.format} ${part.state.value}]`;
    }
    return shape;
  };
  const thinking = (more: object = {}) => ({ type: 'thinking', thinking: '', ...more });
  const json = (partial: string) => ({ type: 'input_json_delta', partial_json: partial });
  const stop = (index = 0) => ({ type: 'content_block_stop', index });
  const noIndex = ({ index: _, ...event }: { index: number }) => event;
  const END = { type: 'message_delta', delta: { stop_reason: 'end_turn' } };
  const other = { type: 'tool_use', id: 'b', name: 'walk' };
  const rows: readonly (readonly [what: string, events: readonly JsonObject[], shape: readonly string[]])[] = [
    [
      'thinking with its signature',
      [
        start(thinking()),
        delta({ type: 'thinking_delta', thinking: 'h' }),
        delta({ type: 'thinking_delta', thinking: 'm' }),
        delta({ type: 'signature_delta', signature: 'sig' }),
        stop(),
        start({ type: 'text', text: '' }, 1),
        delta({ type: 'text_delta', text: 'Hi' }, 1),
      ],
      ['reasoning hm[messages sig]', 'text Hi'],
    ],
    [
      'empty thinking with a signature',
      [
        start(thinking()),
        delta({ type: 'signature_delta', signature: 'sig' }),
        stop(),
        start({ type: 'text', text: 'Hi' }, 1),
      ],
      ['reasoning [messages sig]', 'text Hi'],
    ],
    ['empty thinking without one', [start(thinking()), stop(), start({ type: 'text', text: 'Hi' }, 1)], ['text Hi']],
    [
      'redacted thinking',
      [start({ type: 'redacted_thinking', data: 'xyz' }), stop(), start({ type: 'text', text: 'Hi' }, 1)],
      ['reasoning redacted [messages xyz]', 'text Hi'],
    ],
    [
      'thinking without a start',
      [delta({ type: 'thinking_delta', thinking: 'hm' }), delta({ type: 'text_delta', text: 'Hi' }, 1)],
      ['reasoning hm', 'text Hi'],
    ],
    [
      'two calls at once',
      [start(TOOL), start(other, 1), delta(json('{"a":1}')), delta(json('{"b":2}'), 1), stop(), stop(1)],
      ['look {"a":1}', 'walk {"b":2}'],
    ],
    [
      'two calls in turn',
      [
        start(TOOL),
        start(other, 1),
        delta(json('{"a"')),
        delta(json('{"b"'), 1),
        delta(json(':1}')),
        delta(json(':2}'), 1),
        stop(1),
        stop(),
      ],
      ['look {"a":1}', 'walk {"b":2}'],
    ],
    [
      'a text that ends within a call',
      [
        start({ type: 'text', text: 'note' }),
        start(TOOL, 1),
        delta(json('{"a"'), 1),
        stop(),
        delta(json(':1}'), 1),
        stop(1),
      ],
      ['text note', 'look {"a":1}'],
    ],
    [
      'a tool of the server within a call',
      [
        start(TOOL),
        delta(json('{"a":1')),
        start({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }, 1),
        delta(json('{"query":"q"}'), 1),
        stop(1),
        start({ type: 'web_search_tool_result', tool_use_id: 's', content: [] }, 2),
        stop(2),
        delta(json('}')),
        stop(),
      ],
      ['look {"a":1}'],
    ],
    [
      'no index at all',
      [start(TOOL), delta(json('{"a":1}')), stop(), start(other), delta(json('{"b":2}')), stop()].map(noIndex),
      ['look {"a":1}', 'walk {"b":2}'],
    ],
    [
      'an index in starts only',
      [start(TOOL), noIndex(delta(json('{"a":1}'))), noIndex(stop()), start(other, 1), noIndex(delta(json('{"b":2}')))],
      ['look {"a":1}', 'walk {"b":2}'],
    ],
    [
      'one index for all blocks',
      [
        start({ type: 'text', text: 'So' }),
        stop(),
        start(TOOL),
        delta(json('{"a":1}')),
        start(other),
        delta(json('{"b":2}')),
      ],
      ['text So', 'look {"a":1}', 'walk {"b":2}'],
    ],
    [
      'arguments that come again',
      [start({ ...TOOL, input: { a: 1 } }), delta(json('{"a"')), delta(json('{"a":1}')), stop()],
      ['look {"a":1}'],
    ],
    [
      'everything so far with each piece',
      [start(TOOL), delta(json('{"a"')), delta(json('{"a":1')), delta(json('{"a":1}')), stop()],
      ['look {"a":1}'],
    ],
    ['a placeholder first', [start(TOOL), delta(json('{}')), delta(json('{"a":1}')), stop()], ['look {"a":1}']],
  ];
  for (const [what, events, shape] of rows) {
    it(`tell blocks apart: ${what}`, () => expect(shapeOf(read([...events, END, STOP]))).to.deep.equal(shape));
  }

  it('drop a second message, and fail where it begins within the first', () => {
    const begin = (id: string) => ({ type: 'message_start', message: { id } });
    const hi = [start({ type: 'text', text: 'Hi' }), stop()];
    const lo = [start({ type: 'text', text: 'Lo' }), stop(), END, STOP];
    const parts = read([begin('a'), ...hi, END, begin('b'), ...lo]);
    expect([shapeOf(parts), parts.at(-1)?.type]).to.deep.equal([['text Hi'], 'finish']);
    expect(() => read([begin('a'), ...hi, begin('b'), ...lo])).to.throw('another message');
    expect(shapeOf(read([begin('a'), begin('b'), ...hi, END, STOP]))).to.deep.equal(['text Hi']);
    expect(shapeOf(read([begin('a'), begin('a'), ...hi, begin('a'), END, STOP]))).to.deep.equal(['text Hi']);
  });

  it('are refused by an error of any shape, and by nothing else', () => {
    for (const event of [
      { type: 'error', error: { type: 'overloaded_error', message: 'busy' } },
      { type: 'ping', error: { message: 'busy' } },
      { type: 'content_block_delta', error: { message: 'busy' } },
      { type: 'error', message: 'busy' },
      { type: 'odd', success: false, message: 'busy' },
      { code: 7, message: 'busy' },
    ]) {
      expect(() => read([event]), JSON.stringify(event))
        .to.throw('busy')
        .with.property('name', 'UpstreamFault');
    }
    for (const event of [{ type: 'ping' }, { type: 'odd', message: 'busy' }, { type: 'odd', success: true }, {}]) {
      expect(read([event]), JSON.stringify(event)).to.deep.equal([]);
    }
  });
});
