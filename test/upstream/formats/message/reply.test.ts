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
  for (const event of events) reply.take(event, out);
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
      expect(of(parts, 'usage')).to.deep.equal([{ type: 'usage', input: 3, output: 0 }]);
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
      { type: 'usage', input: 113, output: 1 },
      { type: 'usage', input: 213, output: 7 },
    ]);
    expect(parts.at(-1)).to.deep.equal({ type: 'finish', reason: 'length', raw: 'max_tokens' });
    expect(
      read([
        { type: 'message_start', message: 'x' },
        { type: 'message_delta', delta: 'x' },
      ]),
    ).to.deep.equal([]);
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
