import { expect } from 'chai';
import type { JsonObject, ProviderPart } from '../../../../lib/upstream/contract/provider.ts';
import { readEvents } from './read-events.ts';

/** Type or name of every block, its text, and its state. */
function shapeOf(parts: readonly ProviderPart[]): readonly string[] {
  const shape: string[] = [];
  for (const part of parts) {
    if (part.type === 'block-start') shape.push(`${part.block.type === 'tool' ? part.block.name : part.block.type} `);
    if (part.type === 'block-delta') shape[part.index] += part.text;
    if (part.type === 'block-state') shape[part.index] += `[${part.state.format} ${part.state.value}]`;
  }
  return shape;
}

/** The phase and the text of every block. */
function phasesOf(parts: readonly ProviderPart[]): readonly (readonly [phase: string | undefined, text: string])[] {
  const phases: [string | undefined, string][] = [];
  for (const part of parts) {
    if (part.type === 'block-start') phases.push([part.block.type === 'text' ? part.block.phase : 'no text', '']);
    const last = phases.at(-1);
    if (part.type === 'block-delta' && last) last[1] += part.text;
  }
  return phases;
}

const event = (type: string, more: object = {}) => ({ type: `response.${type}`, ...more });
const at = (index: number, more: object = {}) => ({ output_index: index, ...more });
const done = (output: readonly object[] = [], more: object = {}) =>
  event('completed', { response: { id: 'r', status: 'completed', output, ...more } });

const CALL = { type: 'function_call', id: 'fc', call_id: 'c', name: 'look', arguments: '{"a":1}' };
const OTHER_CALL = { ...CALL, id: 'fd', call_id: 'd', arguments: '{"b":2}' };
const CUSTOM = { type: 'custom_tool_call', id: 'ctc', call_id: 'c', name: 'patch', input: 'a "b"\n😀' };
const CUSTOM_SHAPE = ['patch {"input":"a \\"b\\"\\n😀"}'];
const MESSAGE = { type: 'message', id: 'm', content: [{ type: 'output_text', text: 'Hello' }] };
const THOUGHT = {
  type: 'reasoning',
  id: 'rs',
  summary: [
    { type: 'summary_text', text: 'One' },
    { type: 'summary_text', text: 'Two' },
  ],
  encrypted_content: 'xyz',
};
/** As open models write it. */
const SHOWN = {
  type: 'reasoning',
  id: 'rs',
  summary: [],
  content: [{ type: 'reasoning_text', text: 'Hm' }],
  encrypted_content: null,
};
const STATE = `[responses ${JSON.stringify(THOUGHT)}]`;

const textDelta = (delta: string) => event('output_text.delta', at(0, { item_id: 'm', content_index: 0, delta }));
const textDone = event('output_text.done', at(0, { item_id: 'm', content_index: 0, text: 'Hello' }));
const partDone = event('content_part.done', at(0, { item_id: 'm', content_index: 0, part: MESSAGE.content[0] }));
const itemDone = (item: object, index = 0) =>
  event('output_item.done', at(index, { item: { ...item, status: 'completed' } }));
const added = (item: object, index = 0) => event('output_item.added', at(index, { item }));
const argsDelta = (delta: string) => event('function_call_arguments.delta', at(0, { item_id: 'fc', delta }));
const argsDone = event('function_call_arguments.done', at(0, { item_id: 'fc', arguments: CALL.arguments }));
const NAMELESS = { ...CALL, name: undefined, arguments: '' };
const argsOf = (step: string, field: string) =>
  event(`function_call_arguments.${step}`, at(0, { item_id: 'fc', name: CALL.name, [field]: CALL.arguments }));
const inputDelta = (delta: string) => event('custom_tool_call_input.delta', at(0, { item_id: 'ctc', delta }));
const inputDone = event('custom_tool_call_input.done', at(0, { item_id: 'ctc', input: CUSTOM.input }));
const inputDeltas = [inputDelta('a "b'), inputDelta('"\n'), inputDelta('😀')];
const thoughtDelta = (summary_index: number, delta: string) =>
  event('reasoning_summary_text.delta', at(0, { item_id: 'rs', summary_index, delta }));

describe('phases in the responses format', () => {
  const commentary = { ...MESSAGE, phase: 'commentary' };
  const last = { ...MESSAGE, id: 'm2', phase: 'final_answer' };
  const begun = { ...commentary, content: [] };
  const rows: readonly (readonly [what: string, events: readonly JsonObject[]])[] = [
    [
      'of streamed messages',
      [added(begun), textDelta('Hel'), textDelta('lo'), itemDone(commentary), done([commentary, last])],
    ],
    ['of messages that are done', [itemDone(commentary), itemDone(last, 1), done()]],
    ['of a whole response', [done([commentary, last])]],
  ];
  for (const [what, events] of rows) {
    it(`are those ${what}`, () => {
      expect(phasesOf(readEvents(events))).to.deep.equal([
        ['commentary', 'Hello'],
        ['final_answer', 'Hello'],
      ]);
    });
  }

  it('are kept by a citation that comes late', () => {
    const cited = event('output_text.annotation.added', {
      ...at(0, { item_id: 'm', content_index: 0, annotation_index: 0 }),
      annotation: { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 5 },
    });
    const parts = readEvents([
      added(begun),
      textDelta('Hello'),
      event('completed', { response: { status: 'incomplete' } }),
      cited,
    ]);
    expect(phasesOf(parts)).to.deep.equal([['commentary', 'Hello']]);
  });

  it('are none where the word is of another shape', () => {
    for (const phase of [null, 5, '', 'Two words', 'x'.repeat(33)]) {
      expect(phasesOf(readEvents([done([{ ...MESSAGE, phase }])]))).to.deep.equal([[undefined, 'Hello']]);
    }
  });
});

describe('answers in the responses format', () => {
  const rows: readonly (readonly [what: string, events: readonly JsonObject[], shape: readonly string[]])[] = [
    ['a custom call that is done', [itemDone(CUSTOM), done()], CUSTOM_SHAPE],
    ['a custom call in the whole response', [done([CUSTOM])], CUSTOM_SHAPE],
    [
      'a custom call in pieces',
      [added({ ...CUSTOM, input: '' }), ...inputDeltas, itemDone(CUSTOM), done()],
      CUSTOM_SHAPE,
    ],
    [
      'all of a custom call',
      [added({ ...CUSTOM, input: '' }), ...inputDeltas, inputDone, itemDone(CUSTOM), done([CUSTOM])],
      CUSTOM_SHAPE,
    ],
    ['the input of a custom call at once', [added({ ...CUSTOM, input: '' }), inputDone, done([CUSTOM])], CUSTOM_SHAPE],
    [
      'the input of a custom call twice',
      [added({ ...CUSTOM, input: '' }), ...inputDeltas, itemDone(CUSTOM), inputDone, itemDone(CUSTOM), done([CUSTOM])],
      CUSTOM_SHAPE,
    ],
    ['a custom call without input', [itemDone({ ...CUSTOM, input: '' }), done()], ['patch {"input":""}']],
    ['deltas alone', [textDelta('Hel'), textDelta('lo'), done()], ['text Hello']],
    ['a text that is done', [textDone, done()], ['text Hello']],
    ['a part that is done', [partDone, done()], ['text Hello']],
    ['an item that is done', [itemDone(MESSAGE), done()], ['text Hello']],
    ['the whole response', [done([MESSAGE])], ['text Hello']],
    [
      'all of it',
      [textDelta('Hel'), textDelta('lo'), textDone, partDone, itemDone(MESSAGE), done([MESSAGE])],
      ['text Hello'],
    ],
    ['the last event of an older version', [event('done', { response: { output: [MESSAGE] } })], ['text Hello']],
    ['some deltas', [textDelta('Hel'), textDone, done([MESSAGE])], ['text Hello']],
    ['another text than that of its deltas', [textDelta('Hi'), textDone, done([MESSAGE])], ['text Hi']],
    [
      'a message that is named elsewise at the end',
      [textDelta('Hello'), done([{ ...MESSAGE, id: 'other' }])],
      ['text Hello'],
    ],
    [
      'two messages, one of them at the end',
      [textDelta('Hello'), done([MESSAGE, { ...MESSAGE, id: 'm2' }])],
      ['text Hello', 'text Hello'],
    ],
    [
      'arguments in deltas',
      [added({ ...CALL, arguments: '' }), argsDelta('{"a"'), argsDelta(':1}'), argsDone, itemDone(CALL), done([CALL])],
      ['look {"a":1}'],
    ],
    ['arguments that are done', [added({ ...CALL, arguments: '' }), argsDone, done()], ['look {"a":1}']],
    [
      'some of the arguments',
      [added({ ...CALL, arguments: '' }), argsDelta('{"a"'), argsDone, done([CALL])],
      ['look {"a":1}'],
    ],
    [
      'all but the end of the arguments',
      [added({ ...CALL, arguments: '' }), argsDelta('{"a"'), argsDelta(':1'), argsDone, done()],
      ['look {"a":1}'],
    ],
    [
      'all but the end of the arguments of an item that is done',
      [added({ ...CALL, arguments: '' }), argsDelta('{"a"'), argsDelta(':1'), itemDone(CALL), done()],
      ['look {"a":1}'],
    ],
    ['a name beside the arguments', [added(NAMELESS), argsOf('delta', 'delta'), done()], ['look {"a":1}']],
    ['a name beside the whole arguments', [added(NAMELESS), argsOf('done', 'arguments'), done()], ['look {"a":1}']],
    [
      'a placeholder for arguments',
      [added({ ...CALL, arguments: '{}' }), itemDone(CALL), done([CALL])],
      ['look {"a":1}'],
    ],
    ['arguments before their item', [argsDelta('{"a":1}'), itemDone(CALL), done([CALL])], ['look {"a":1}']],
    ['a call that is done', [itemDone(CALL), done([CALL])], ['look {"a":1}']],
    ['a call at the end', [textDelta('Hello'), done([MESSAGE, CALL])], ['text Hello', 'look {"a":1}']],
    [
      'two items on one index',
      [
        added({ ...CALL, arguments: '' }),
        argsDone,
        added({ ...CALL, id: 'fd', call_id: 'd', arguments: '' }),
        argsDelta('{"b":2}'),
        done(),
      ],
      ['look {"a":1}', 'look {"b":2}'],
    ],
    [
      'a call on the index of a text that was not announced',
      [textDelta('Hello'), added({ ...CALL, arguments: '' }), argsDelta('{"a":1}'), done([MESSAGE, CALL])],
      ['text Hello', 'look {"a":1}'],
    ],
    [
      'items whose names are null',
      [itemDone({ ...MESSAGE, id: null }), itemDone({ ...CALL, id: null }, 1), done()],
      ['text Hello', 'look {"a":1}'],
    ],
    [
      'calls without names or indexes',
      [CALL, OTHER_CALL].map(({ id: _, ...item }) => event('output_item.done', { item })).concat(done()),
      ['look {"a":1}', 'look {"b":2}'],
    ],
    [
      'calls that are done on one index',
      [itemDone(CALL), itemDone(OTHER_CALL), done()],
      ['look {"a":1}', 'look {"b":2}'],
    ],
    [
      'a message that every event names anew',
      [
        event('output_item.added', { item: { ...MESSAGE, id: 'm1', content: [] } }),
        event('output_text.delta', { item_id: 'm2', content_index: 0, delta: 'Hel' }),
        event('output_text.done', { item_id: 'm3', content_index: 0, text: 'Hello' }),
        event('output_item.done', { item: { ...MESSAGE, id: 'm4' } }),
        done([{ ...MESSAGE, id: 'm5' }]),
      ],
      ['text Hello'],
    ],
    [
      'calls without an index, whose arguments come in turns by the name of each',
      [
        event('output_item.added', { item: { ...CALL, arguments: '' } }),
        event('output_item.added', { item: { ...OTHER_CALL, arguments: '' } }),
        event('function_call_arguments.delta', { item_id: 'fc', delta: '{"a"' }),
        event('function_call_arguments.delta', { item_id: 'fd', delta: '{"b"' }),
        event('function_call_arguments.delta', { item_id: 'fc', delta: ':1}' }),
        event('function_call_arguments.delta', { item_id: 'fd', delta: ':2}' }),
        event('output_item.done', { item: CALL }),
        event('output_item.done', { item: OTHER_CALL }),
        done([CALL, OTHER_CALL]),
      ],
      ['look {"a":1}', 'look {"b":2}'],
    ],
    [
      'reasoning in deltas',
      [
        added({ type: 'reasoning', id: 'rs', summary: [] }),
        thoughtDelta(0, 'O'),
        thoughtDelta(0, 'ne'),
        thoughtDelta(1, 'Two'),
        itemDone(THOUGHT),
        done([THOUGHT]),
      ],
      [`reasoning One\n\nTwo[responses ${JSON.stringify(THOUGHT)}]`],
    ],
    [
      'reasoning that is done',
      [itemDone(THOUGHT), textDelta('Hi'), done([THOUGHT])],
      [`reasoning One\n\nTwo${STATE}`, 'text Hi'],
    ],
    ['reasoning at the end', [done([THOUGHT, MESSAGE])], [`reasoning One\n\nTwo${STATE}`, 'text Hello']],
    [
      'reasoning without a summary',
      [itemDone({ ...THOUGHT, summary: [] }), done()],
      [`reasoning [responses ${JSON.stringify({ ...THOUGHT, summary: [] })}]`],
    ],
    [
      'reasoning that is shown',
      [event('reasoning_text.delta', at(0, { item_id: 'rs', content_index: 0, delta: 'Hm' })), textDelta('Hi'), done()],
      ['reasoning Hm', 'text Hi'],
    ],
    [
      'reasoning that is shown and comes back as such',
      [
        event('reasoning_text.delta', at(0, { item_id: 'rs', content_index: 0, delta: 'Hm' })),
        itemDone(SHOWN),
        done([SHOWN]),
      ],
      [`reasoning Hm[responses ${JSON.stringify(SHOWN)}]`],
    ],
    [
      'reasoning of which nothing is told',
      [
        added({ type: 'reasoning', id: 'rs', summary: [] }),
        itemDone({ type: 'reasoning', id: 'rs', summary: [] }),
        done(),
      ],
      [],
    ],
    [
      'tools of the server',
      [
        added({ type: 'web_search_call', id: 'ws' }),
        event('web_search_call.searching', at(0)),
        itemDone({ type: 'web_search_call', id: 'ws' }),
        done(),
      ],
      [],
    ],
  ];
  for (const [what, events, shape] of rows) {
    it(`count once: ${what}`, () =>
      expect(shapeOf(readEvents([event('created', { response: { id: 'r' } }), ...events]))).to.deep.equal(shape));
  }

  it('are at work while a tool of the server is', () => {
    const parts = readEvents([added({ type: 'web_search_call', id: 'ws' }), event('web_search_call.searching', at(0))]);
    expect(parts.map(({ type }) => type)).to.deep.equal(['alive', 'alive']);
    expect(readEvents([event('in_progress', { response: {} })])).to.deep.equal([]);
  });

  it('take the id of its item for a call that has none of its own', () => {
    const idsOf = (items: readonly object[]) =>
      readEvents(items.map((item, at) => event('output_item.done', { item, output_index: at }))).flatMap((part) =>
        part.type === 'block-start' && part.block.type === 'tool' ? part.block.id : [],
      );
    expect(idsOf([CALL, { ...CUSTOM, call_id: 'd' }])).to.deep.equal(['c', 'd']);
    expect(idsOf([CALL, CUSTOM].map(({ call_id: _, ...item }) => item))).to.deep.equal(['fc', 'ctc']);
  });

  it('begin a call with its item, before its arguments or its input', () => {
    for (const item of [
      { ...CALL, arguments: '' },
      { ...CUSTOM, input: '' },
    ]) {
      expect(shapeOf(readEvents([added(item)])), item.type).to.deep.equal([`${item.name} `]);
    }
  });

  it('count what was cached, and reasoning', () => {
    const usage = {
      input_tokens: 50,
      input_tokens_details: { cached_tokens: 40 },
      output_tokens: 9,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: 59,
    };
    expect(readEvents([textDelta('Hi'), done([], { usage })])).to.deep.include({
      type: 'usage',
      input: 10,
      cacheRead: 40,
      output: 9,
      reasoning: 5,
    });
  });

  it('fail where another one begins within them', () => {
    const begin = (id: string) => event('created', { response: { id } });
    expect(() => readEvents([begin('a'), textDelta('Hi'), begin('b')])).to.throw('another response');
    for (const id of ['a', 'b']) {
      expect(shapeOf(readEvents([begin('a'), begin(id), textDelta('Hi'), done()]))).to.deep.equal(['text Hi']);
    }
    expect(shapeOf(readEvents([begin('a'), textDelta('Hi'), begin('a'), done()]))).to.deep.equal(['text Hi']);
    expect(
      shapeOf(readEvents([begin('a'), textDelta('Hi'), done(), begin('b'), textDelta('Lo'), done()])),
    ).to.deep.equal(['text Hi']);
  });

  it('fail by an error that is no event', () => {
    for (const odd of [
      { error: { message: 'no' } },
      { detail: 'no' },
      { code: 429, message: 'no' },
      { success: false, msg: 'no' },
    ]) {
      expect(() => readEvents([textDelta('Hi'), odd, done()]), JSON.stringify(odd)).to.throw('no');
    }
    expect(shapeOf(readEvents([textDelta('Hi'), {}, { type: 'ping', message: 'x' }, done()]))).to.deep.equal([
      'text Hi',
    ]);
  });

  it('fail by their state or their reason', () => {
    for (const [type, response] of [
      ['cancelled', {}],
      ['completed', { status: 'cancelled' }],
      ['failed', { error: { code: 'server_error', message: 'x' } }],
      ['incomplete', { status: 'incomplete', incomplete_details: { reason: 'upstream_error' } }],
    ] as const)
      expect(() => readEvents([textDelta('Hi'), event(type, { response })]), type)
        .to.throw()
        .with.property('name', 'UpstreamFault');
  });

  it('take time in proportion to their items, which only ids tell apart', () => {
    const ITEMS = 16_000;
    const items = Array.from({ length: ITEMS }, (_, number) => ({ ...MESSAGE, id: `m${number}` }));
    const steps = ['output_item.added', 'output_item.done'].flatMap((step) =>
      items.map((item) => event(step, { item })),
    );
    const begin = process.cpuUsage();
    expect(shapeOf(readEvents([...steps, done()]))).to.have.lengthOf(ITEMS);
    expect(process.cpuUsage(begin).user / 1000).to.be.below(1000);
  });
});
