import { expect } from 'chai';
import { createMessageRenderer, messageReply } from '../../../../lib/api/dialects/message/render.ts';
import { fault } from '../../../../lib/base/faults.ts';
import type { FinishReason, StreamPart } from '../../../../lib/stream/part.ts';
import { BILLING, BILLING_BLOCK, COLLECTED, SMART } from '../replies.ts';

const START: StreamPart = { type: 'start', id: '1', model: 'm' };
const FINISH: StreamPart = { type: 'finish', reason: 'stop' };
const delta = (index: number, text: string): StreamPart => ({ type: 'block-delta', index, text });

/** Of every event the data; its name is that of its type, except that a bill has none. */
function eventsOf(...parts: readonly StreamPart[]) {
  const renderer = createMessageRenderer();
  const events = parts.flatMap((part) => renderer.push([part])).join('');
  return [...events.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)].map(([, name, data = '']) => {
    const parsed = JSON.parse(data);
    expect(parsed.type === 'ping' ? 'billing' : parsed.type).to.equal(name);
    return parsed;
  });
}

const usagesOf = (...parts: readonly StreamPart[]) =>
  eventsOf(...parts).flatMap(({ usage, message }) => usage ?? message?.usage ?? []);

describe('message events', () => {
  it('begin with the input known by then and end with the output, both 0 if unknown', () => {
    expect(usagesOf(START, FINISH)).to.deep.equal([
      { input_tokens: 0, output_tokens: 0 },
      { input_tokens: 0, output_tokens: 0 },
    ]);
    const early: StreamPart = { type: 'usage', input: 5, output: 2 };
    const last: StreamPart = { type: 'usage', input: 6, output: 7 };
    expect(usagesOf(early, START, last, FINISH)).to.deep.equal([
      { input_tokens: 5, output_tokens: 0 },
      { input_tokens: 6, output_tokens: 7 },
    ]);
  });

  it('name cached tokens beside the input, in the head as far as they are known', () => {
    const early: StreamPart = { type: 'usage', input: 5, cacheRead: 40, output: 0 };
    const last: StreamPart = { type: 'usage', input: 5, cacheRead: 40, cacheWrite1h: 3, output: 7, reasoning: 6 };
    expect(usagesOf(early, START, last, FINISH)).to.deep.equal([
      { input_tokens: 5, cache_read_input_tokens: 40, output_tokens: 0 },
      {
        input_tokens: 5,
        cache_creation_input_tokens: 3,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 3 },
        cache_read_input_tokens: 40,
        output_tokens: 7,
      },
    ]);
    expect(usagesOf(early, START, { type: 'usage', input: 5, audio: 30, output: 7 }, FINISH)[1]).to.include({
      input_tokens: 35,
    });
    // The last counts replace all earlier ones, which clients would keep otherwise.
    expect(usagesOf(early, START, { type: 'usage', input: 45, output: 7 }, FINISH)[1]).to.deep.equal({
      input_tokens: 45,
      cache_read_input_tokens: 0,
      output_tokens: 7,
    });
    const written: StreamPart = { type: 'usage', input: 5, cacheWrite: 40, output: 0 };
    expect(usagesOf(written, START, { ...early, output: 7 }, FINISH)[1]).to.deep.equal({
      input_tokens: 5,
      cache_creation_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      cache_read_input_tokens: 40,
      output_tokens: 7,
    });
  });

  it('carry text and calls in blocks, whatever they consist of', () => {
    const parts: readonly StreamPart[] = [
      START,
      { type: 'block-start', index: 0, block: { type: 'text' } },
      delta(0, 'A "quote"\n'),
      { type: 'block-end', index: 0 },
      {
        type: 'block-start',
        index: 1,
        block: { type: 'tool', id: 'a', name: 'look', state: { format: 'contents', value: 'opaque' } },
      },
      delta(1, '{"x":'),
      delta(1, '"\\n é"}'),
      { type: 'block-end', index: 1 },
      { type: 'finish', reason: 'tool' },
      BILLING,
    ];
    const of = (index: number, given: object) => ({ type: 'content_block_delta', index, delta: given });
    const start = (index: number, block: object) => ({ type: 'content_block_start', index, content_block: block });
    const json = (text: string) => of(1, { type: 'input_json_delta', partial_json: text });
    expect(eventsOf(...parts)).to.deep.equal([
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: null,
          usage: { input_tokens: 0, output_tokens: 0 },
        },
      },
      start(0, { type: 'text', text: '' }),
      of(0, { type: 'text_delta', text: 'A "quote"\n' }),
      { type: 'content_block_stop', index: 0 },
      start(1, { type: 'tool_use', id: 'a__state_Y29udGVudHM6b3BhcXVl', name: 'look', input: {} }),
      json('{"x":'),
      json('"\\n é"}'),
      { type: 'content_block_stop', index: 1 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'tool_use', stop_sequence: null },
        usage: { input_tokens: 0, output_tokens: 0 },
      },
      { type: 'message_stop' },
      { type: 'ping', ...BILLING_BLOCK },
    ]);
  });

  it('name every reason in their own words, and the stop string before all', () => {
    const reasons: Readonly<Record<FinishReason, string>> = {
      stop: 'end_turn',
      length: 'max_tokens',
      filter: 'refusal',
      tool: 'tool_use',
      other: 'end_turn',
    };
    for (const [reason, said] of Object.entries(reasons) as [FinishReason, string][]) {
      const ended = { stop_reason: said, stop_sequence: null };
      expect(eventsOf({ type: 'finish', reason })[0].delta).to.deep.equal(ended);
      expect(messageReply({ ...COLLECTED, reason }, { vision: false })).to.include(ended);
    }
    const stopped = { stop_reason: 'stop_sequence', stop_sequence: 'END' };
    expect(eventsOf({ type: 'finish', reason: 'stop', sequence: 'END' })[0].delta).to.deep.equal(stopped);
    expect(messageReply({ ...COLLECTED, sequence: 'END' }, { vision: false })).to.include(stopped);
  });

  it('say at the start how the smart model chose', () => {
    const [{ message }] = eventsOf({ type: 'start', id: '1', model: 'm', smart: SMART });
    expect(message.smart_routing).to.deep.equal(SMART);
    expect(eventsOf(START)[0].message).not.to.have.property('smart_routing');
  });

  it('end with the fault of an answer that failed', () => {
    const [, failed] = eventsOf(START, { type: 'error', fault: fault('internal') });
    expect(failed).to.include({ type: 'error' });
    expect(failed).to.have.nested.property('error.type');
  });
});

describe('message reply', () => {
  it('has text and calls as blocks, and what was used', () => {
    const called = (text: string) => ({ type: 'tool', id: 'a', name: 'look', text }) as const;
    const blocks = [...COLLECTED.blocks, called('{"x":1}'), called(''), called('{"x')];
    expect(messageReply({ ...COLLECTED, blocks }, { vision: false })).to.deep.equal({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'tool_use', id: 'a', name: 'look', input: { x: 1 } },
        { type: 'tool_use', id: 'a', name: 'look', input: {} },
        { type: 'tool_use', id: 'a', name: 'look', input: { INVALID_JSON: '{"x' } },
      ],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 5, output_tokens: 7 },
    });
  });

  it('counts cached tokens beside the input', () => {
    const usage = { input: 5, cacheRead: 40, cacheWrite: 3, output: 7 };
    expect(messageReply({ ...COLLECTED, usage }, { vision: false })).to.deep.include({
      usage: {
        input_tokens: 5,
        output_tokens: 7,
        cache_creation_input_tokens: 3,
        cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 0 },
        cache_read_input_tokens: 40,
      },
    });
  });

  it('has what it cost if it saw images, and how the smart model chose if it did', () => {
    expect(messageReply({ ...COLLECTED, smart: SMART }, { vision: true })).to.deep.include({
      billing: BILLING_BLOCK,
      smart_routing: SMART,
    });
  });
});
