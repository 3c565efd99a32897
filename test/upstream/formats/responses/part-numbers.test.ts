// Parts of texts and of reasoning, as servers number them: from 0 in each item, on from the item before, anew with every
// fragment, or not at all; and items that servers name anew, or number like others.
import { expect } from 'chai';
import type { JsonObject, ProviderPart } from '../../../../lib/upstream/contract/provider.ts';
import { ResponsesReply } from '../../../../lib/upstream/formats/responses/reply.ts';
import { createFinishReason } from '../../../../lib/upstream/host/finish-words.ts';
import { createHostFault } from '../../../../lib/upstream/host/host-fault.ts';
import { Writer } from '../../../../lib/upstream/host/writer.ts';

const fault = createHostFault({ secrets: [] });

/** The text of each kind of block; those of calls are apart. */
function read(events: readonly JsonObject[]): Readonly<Record<string, string>> {
  const parts: ProviderPart[] = [];
  const out = new Writer();
  out.into(parts);
  const reply = new ResponsesReply({ fault, finishReason: createFinishReason(fault) });
  for (const event of events) reply.take(event, out);
  const kinds: string[] = [];
  const texts: Record<string, string> = {};
  for (const part of parts) {
    if (part.type === 'block-start')
      kinds[part.index] = part.block.type === 'tool' ? `call ${part.block.id}` : part.block.type;
    const kind = part.type === 'block-delta' ? kinds[part.index] : undefined;
    if (part.type === 'block-delta' && kind !== undefined) texts[kind] = `${texts[kind] ?? ''}${part.text}`;
  }
  return texts;
}

/** Numbers the parts of an item by the fragments of its text before. */
type Numbering = (item: number, fragment: number) => number | undefined;

interface Names {
  readonly part: string;
  readonly text: string;
  readonly index?: string;
}

/** One item with one part: its fragments, and then all that they add up to. */
function tell(at: number, item: JsonObject, fragments: readonly string[], names: Names, number: Numbering) {
  const { part, text: name, index = 'content_index' } = names;
  const text = fragments.join('');
  const type = name.replace('reasoning_summary', 'summary');
  const event = (suffix: string, fragment: number, more: object) => {
    return { type: `response.${suffix}`, item_id: item.id, output_index: at, [index]: number(at, fragment), ...more };
  };
  return [
    { type: 'response.output_item.added', output_index: at, item: { ...item, content: [], summary: [] } },
    event(`${part}.added`, 0, { part: { type, text: '' } }),
    ...fragments.map((delta, fragment) => event(`${name}.delta`, fragment, { delta })),
    event(`${name}.done`, fragments.length, { text }),
    event(`${part}.done`, fragments.length, { part: { type, text } }),
    { type: 'response.output_item.done', output_index: at, item },
  ];
}

const TEXT: Names = { part: 'content_part', text: 'output_text' };
const MESSAGE = { type: 'message', id: 'm', content: [{ type: 'output_text', text: 'Hello there' }] };
const THOUGHT = { type: 'reasoning', id: 'rs', summary: [], content: [{ type: 'reasoning_text', text: 'One two' }] };
const SUMMED = { type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: 'One two' }] };

const NUMBERINGS: readonly (readonly [how: string, number: Numbering])[] = [
  ['from 0 in each item', () => 0],
  ['on from the item before', (item) => item],
  ['anew with every fragment', (item, fragment) => item + fragment],
  ['not at all', () => undefined],
];

const THOUGHTS: readonly (readonly [what: string, item: JsonObject, names: Names])[] = [
  ['parts of content', THOUGHT, { part: 'content_part', text: 'reasoning_text' }],
  ['parts of reasoning', THOUGHT, { part: 'reasoning_part', text: 'reasoning_text' }],
  [
    'parts of a summary',
    SUMMED,
    { part: 'reasoning_summary_part', text: 'reasoning_summary_text', index: 'summary_index' },
  ],
];

describe('parts of a responses answer', () => {
  for (const [how, number] of NUMBERINGS) {
    for (const [what, item, names] of THOUGHTS) {
      it(`count once, numbered ${how}, with reasoning in ${what}`, () => {
        const events = [
          ...tell(0, item, ['One ', 'two'], names, number),
          ...tell(1, MESSAGE, ['Hello ', 'there'], TEXT, number),
          { type: 'response.completed', response: { id: 'r', status: 'completed', output: [item, MESSAGE] } },
        ];
        expect(read(events)).to.deep.equal({ reasoning: 'One two', text: 'Hello there' });
      });
    }
  }

  it('count once if there are two, numbered on from the item before', () => {
    const part = (text: string) => ({ type: 'output_text', text });
    const event = (name: string, index: number, more: object) => {
      return { type: `response.${name}`, item_id: 'm', output_index: 0, content_index: index, ...more };
    };
    const item = { type: 'message', id: 'm', content: [part('A'), part('B')] };
    const events = [
      { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
      ...['A', 'B'].flatMap((delta, at) => [
        event('content_part.added', at + 1, { part: part('') }),
        event('output_text.delta', at + 1, { delta }),
      ]),
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { id: 'r', status: 'completed', output: [item] } },
    ];
    expect(read(events)).to.deep.equal({ text: 'AB' });
  });

  it('are delivered if only the whole item has them', () => {
    const event = { item_id: 'm', output_index: 0, content_index: 0 };
    const content = [...MESSAGE.content, { type: 'output_text', text: 'And more' }];
    const events = [
      { type: 'response.output_item.added', output_index: 0, item: { ...MESSAGE, content: [] } },
      { type: 'response.content_part.added', ...event, part: { type: 'output_text', text: '' } },
      { type: 'response.output_text.delta', ...event, delta: 'Hello there' },
      { type: 'response.output_item.done', output_index: 0, item: { ...MESSAGE, content } },
    ];
    expect(read(events)).to.deep.equal({ text: 'Hello thereAnd more' });
  });
});

describe('items of a responses answer', () => {
  const call = (id: string, callId: string, city: string) => {
    return { type: 'function_call', id, call_id: callId, name: 'look', arguments: `{"city":"${city}"}` };
  };
  const event = (name: string, more: object) => ({ type: `response.${name}`, output_index: 0, ...more });
  const completed = (...output: readonly object[]) =>
    event('completed', { response: { id: 'r', status: 'completed', output } });
  const tellCall = (at: number, item: ReturnType<typeof call>) => [
    event('output_item.added', { output_index: at, item: { ...item, arguments: '' } }),
    event('function_call_arguments.delta', { output_index: at, item_id: item.id, delta: item.arguments }),
    event('output_item.done', { output_index: at, item }),
  ];

  it('count once if calls have other ids at the end', () => {
    const events = [...tellCall(0, call('a', 'c1', 'Riga')), ...tellCall(1, call('b', 'c2', 'Oslo'))];
    const last = completed(call('fc_1', 'd1', 'Riga'), call('fc_2', 'd2', 'Oslo'));
    expect(read([...events, last])).to.deep.equal({ 'call c1': '{"city":"Riga"}', 'call c2': '{"city":"Oslo"}' });
  });

  it('are found in their order at the end if one has had no name until then', () => {
    const unnamed = event('function_call_arguments.delta', { item_id: 'a', delta: '{"city":"Riga"}' });
    const last = completed(call('fc_1', 'd1', 'Riga'), call('fc_2', 'd2', 'Oslo'));
    expect(read([unnamed, ...tellCall(1, call('b', 'c2', 'Oslo')), last])).to.deep.equal({
      'call c2': '{"city":"Oslo"}',
      'call d1': '{"city":"Riga"}',
    });
  });

  it('are delivered if only the end has them, before one that has its id', () => {
    const last = completed(call('b', 'c2', 'Oslo'), call('a', 'c1', 'Riga'));
    expect(read([...tellCall(0, call('a', 'c1', 'Riga')), last])).to.deep.equal({
      'call c1': '{"city":"Riga"}',
      'call c2': '{"city":"Oslo"}',
    });
  });

  it('count once if reasoning has the number of a text that is announced before', () => {
    const place = { item_id: 'm', content_index: 0 };
    const events = [
      event('output_item.added', { item: { ...MESSAGE, content: [] } }),
      event('content_part.added', { ...place, part: { type: 'output_text', text: '' } }),
      event('reasoning_summary_text.delta', { item_id: 'rs_1', summary_index: 0, delta: 'One ' }),
      event('reasoning_summary_text.delta', { item_id: 'rs_2', summary_index: 0, delta: 'two' }),
      event('output_text.delta', { ...place, delta: 'Hello there' }),
      event('output_text.done', { ...place, text: 'Hello there' }),
      event('output_item.done', { item: MESSAGE }),
      completed({ ...SUMMED, id: 'rs_9' }, { ...MESSAGE, id: 'other' }),
    ];
    expect(read(events)).to.deep.equal({ reasoning: 'One two', text: 'Hello there' });
  });

  it('count once if a summary is called content at the end', () => {
    const delta = event('reasoning_summary_text.delta', { item_id: 'rs', summary_index: 0, delta: 'One two' });
    expect(read([delta, completed(THOUGHT)])).to.deep.equal({ reasoning: 'One two' });
  });
});
