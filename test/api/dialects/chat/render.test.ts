import { expect } from 'chai';
import type { CallEcho } from '../../../../lib/api/dialects/chat/call-shape.ts';
import { chatReply, createChatRenderer } from '../../../../lib/api/dialects/chat/render.ts';
import { fault } from '../../../../lib/base/faults.ts';
import type { FinishReason, StreamPart } from '../../../../lib/stream/part.ts';
import { BILLING, BILLING_BLOCK, COLLECTED, SMART } from '../replies.ts';

const START: StreamPart = { type: 'start', id: '1', model: 'm "1"' };
const TEXT: StreamPart = { type: 'block-start', index: 0, block: { type: 'text' } };
const TOOL: StreamPart = { type: 'block-start', index: 1, block: { type: 'tool', id: 'call_a', name: 'look' } };
const delta = (index: number, text: string): StreamPart => ({ type: 'block-delta', index, text });
const end = (index: number): StreamPart => ({ type: 'block-end', index });

/** The chunks, of which each is one line of JSON; the last line says that it was the last. */
function chunksOf(...parts: readonly StreamPart[]) {
  return chunksIn(undefined, parts);
}

/** In the shape of a request that had this echo. */
function chunksIn(echo: CallEcho | undefined, parts: readonly StreamPart[]) {
  const renderer = createChatRenderer({ echo });
  const events = parts.flatMap((part) => renderer.push([part])).join('');
  return events
    .split('\n\n')
    .filter((line) => line !== '')
    .map((line) => (line === 'data: [DONE]' ? line : JSON.parse(line.replace(/^data: /, ''))));
}
const deltasOf = (...parts: readonly StreamPart[]) =>
  chunksOf(...parts).flatMap((chunk) => chunk.choices?.map((choice: { delta: object }) => choice.delta) ?? []);
const started = { role: 'assistant', content: '' };

describe('chat chunks', () => {
  it('begin with the role and end with the reason, the usage and what it cost', () => {
    const before = Math.floor(Date.now() / 1000);
    const usage: StreamPart[] = [
      { type: 'usage', input: 5, output: 1 },
      { type: 'usage', input: 5, output: 7 },
    ];
    const chunks = chunksOf(
      START,
      TEXT,
      delta(0, 'Hi'),
      end(0),
      ...usage,
      { type: 'finish', reason: 'length' },
      BILLING,
    );
    const of = { id: 'chatcmpl_1', object: 'chat.completion.chunk', created: chunks[0].created, model: 'm "1"' };
    expect(of.created).to.be.within(before, Math.floor(Date.now() / 1000));
    const chunk = (given: object, reason: string | null = null) => ({
      ...of,
      choices: [{ index: 0, delta: given, finish_reason: reason }],
    });
    expect(chunks).to.deep.equal([
      chunk(started),
      chunk({ content: 'Hi' }),
      {
        ...chunk({}, 'length'),
        usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
        billing: BILLING_BLOCK,
      },
      'data: [DONE]',
    ]);
  });

  it('carry the arguments of each call in a place of its own, whatever they consist of', () => {
    const second: StreamPart = {
      type: 'block-start',
      index: 2,
      block: { type: 'tool', id: 'b', name: 'go', state: { format: 'contents', value: 'opaque' } },
    };
    const parts = [TOOL, delta(1, '{"a":'), delta(1, '"\\n é"}'), end(1), second, delta(2, '{}'), end(2)];
    const call = (index: number, id: string, name: string) => ({
      tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
    });
    const args = (index: number, text: string) => ({ tool_calls: [{ index, function: { arguments: text } }] });
    const calls = [
      call(0, 'call_a', 'look'),
      args(0, '{"a":'),
      args(0, '"\\n é"}'),
      call(1, 'b__state_Y29udGVudHM6b3BhcXVl', 'go'),
      args(1, '{}'),
    ];
    expect(deltasOf(START, ...parts)).to.deep.equal([started, ...calls]);
    const text = [TEXT, delta(0, 'A "quote"\n'), end(0)];
    expect(deltasOf(START, ...text, ...parts)).to.deep.equal([started, { content: 'A "quote"\n' }, ...calls]);
    expect(deltasOf(START, ...parts, ...text)).to.deep.equal([started, ...calls, { content: 'A "quote"\n' }]);
  });

  it('carry calls in the shape that the request had', () => {
    const answer = [START, TOOL, delta(1, '{"input":"a'), delta(1, '\\nb"}'), end(1)];
    const deltas = (echo: CallEcho) =>
      chunksIn(echo, [...answer, { type: 'finish', reason: 'tool' }, BILLING]).flatMap((chunk) => chunk.choices ?? []);
    const custom = (more: object) => ({ tool_calls: [{ index: 0, ...more }] });
    expect(deltas({ customNames: ['look'] }).map((choice) => choice.delta)).to.deep.equal([
      started,
      custom({ id: 'call_a', type: 'custom', custom: { name: 'look', input: '' } }),
      custom({ custom: { input: 'a' } }),
      custom({ custom: { input: '\nb' } }),
      {},
    ]);
    const old = deltas({ functions: true });
    expect(old.map((choice) => choice.delta)).to.deep.equal([
      started,
      { function_call: { name: 'look', arguments: '' } },
      { function_call: { arguments: '{"input":"a' } },
      { function_call: { arguments: '\\nb"}' } },
      {},
    ]);
    expect(old.at(-1)).to.include({ finish_reason: 'function_call' });
  });

  it('number what an upstream wants back of its reasoning', () => {
    const think = (index: number, value: string): StreamPart[] => [
      { type: 'block-start', index, block: { type: 'reasoning' } },
      delta(index, 'Hm'),
      { type: 'block-state', index, state: { format: 'messages', value } },
      end(index),
    ];
    const detail = (index: number, signature: string) => ({
      reasoning_details: [{ type: 'reasoning.text', text: 'Hm', signature, format: 'messages', index }],
    });
    const thought = { reasoning_content: 'Hm' };
    expect(deltasOf(START, ...think(0, 'a'), ...think(1, 'b'), ...think(2, 'c'))).to.deep.equal([
      ...[started, thought, detail(0, 'a'), thought, detail(1, 'b'), thought, detail(2, 'c')],
    ]);
  });

  it('say where a cited text is among the texts, whatever came before it', () => {
    const cited = (index: number, text: string): StreamPart[] => [
      { type: 'block-start', index, block: { type: 'text' } },
      delta(index, text),
      { type: 'block-citation', index, citation: { url: 'https://a.example', title: 'A' } },
      end(index),
    ];
    const think: StreamPart[] = [
      { type: 'block-start', index: 0, block: { type: 'reasoning' } },
      delta(0, 'Hmm'),
      end(0),
    ];
    const given = deltasOf(START, ...think, ...cited(1, 'Four'), TOOL, delta(1, '{}'), end(1), ...cited(2, ' more'));
    const places = given
      .flatMap(({ annotations = [] }) => annotations)
      .map(({ url_citation: { start_index, end_index } }) => [start_index, end_index]);
    expect(places).to.deep.equal([
      [0, 4],
      [4, 9],
    ]);
  });

  it('name every reason in their own words', () => {
    const reasons: Readonly<Record<FinishReason, string>> = {
      stop: 'stop',
      length: 'length',
      filter: 'content_filter',
      tool: 'tool_calls',
      other: 'stop',
    };
    for (const [reason, said] of Object.entries(reasons) as [FinishReason, string][]) {
      expect(chunksOf(START, { type: 'finish', reason }, BILLING)[1].choices[0].finish_reason).to.equal(said);
      expect(chatReply({ ...COLLECTED, reason })).to.have.nested.property('choices[0].finish_reason', said);
    }
    // An answer that ends without one.
    expect(chunksOf(START, BILLING)[1].choices[0].finish_reason).to.equal('stop');
    expect(chunksOf(START, BILLING)[1].usage).to.deep.equal({
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
    });
  });

  it('count cached tokens as part of the prompt, and reasoning as part of the answer', () => {
    const usageOf = (counts: object) => chunksOf(START, { type: 'usage', ...counts }, BILLING)[1].usage;
    expect(usageOf({ input: 5, cacheRead: 40, cacheWrite: 3, cacheWrite1h: 2, output: 7, reasoning: 6 })).to.deep.equal(
      {
        prompt_tokens: 50,
        completion_tokens: 7,
        total_tokens: 57,
        prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 5 },
        completion_tokens_details: {
          reasoning_tokens: 6,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      },
    );
    expect(usageOf({ input: 5, audio: 30, output: 7 })).to.deep.equal({
      prompt_tokens: 35,
      completion_tokens: 7,
      total_tokens: 42,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 30 },
    });
    expect(usageOf({ input: 5, cacheRead: 40, output: 7 })).to.deep.equal({
      prompt_tokens: 45,
      completion_tokens: 7,
      total_tokens: 52,
      prompt_tokens_details: { cached_tokens: 40 },
    });
  });

  it('say at the end how the smart model chose', () => {
    const chunks = chunksOf({ type: 'start', id: '1', model: 'm', smart: SMART }, BILLING);
    expect(chunks[0]).not.to.have.property('smart_routing');
    expect(chunks[1].smart_routing).to.deep.equal(SMART);
    expect(chunksOf(START, BILLING)[1]).not.to.have.property('smart_routing');
  });

  it('end with the fault of an answer that failed', () => {
    const chunks = chunksOf(START, { type: 'error', fault: fault('internal') });
    expect(chunks).to.have.length(3);
    expect(chunks[1]).to.have.nested.property('error.type');
    expect(chunks[2]).to.equal('data: [DONE]');
  });
});

describe('chat reply', () => {
  const text = { type: 'text', text: 'Hi' } as const;
  const call = { type: 'tool', id: 'a', name: 'look', text: '{"x":1}' } as const;
  const messageOf = (...blocks: (typeof text | typeof call)[]) =>
    (chatReply({ ...COLLECTED, blocks }) as { choices: { message: object }[] }).choices[0]?.message;

  it('has the text, the calls, or both', () => {
    const calls = [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{"x":1}' } }];
    expect(messageOf(text, text)).to.deep.equal({ role: 'assistant', content: 'HiHi' });
    expect(messageOf(call)).to.deep.equal({ role: 'assistant', content: null, tool_calls: calls });
    expect(messageOf(text, call)).to.deep.equal({ role: 'assistant', content: 'Hi', tool_calls: calls });
  });

  it('has calls in the shape that the request had', () => {
    const reply = (echo: CallEcho, text: string) =>
      chatReply({ ...COLLECTED, reason: 'tool', blocks: [{ ...call, text }] }, { echo }) as { choices: object[] };
    expect(reply({ functions: true }, '{"x":1}').choices[0]).to.deep.include({
      message: { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{"x":1}' } },
      finish_reason: 'function_call',
    });
    const custom = { id: 'a', type: 'custom', custom: { name: 'look', input: 'a\nb' } };
    expect(reply({ customNames: ['look'] }, '{"input":"a\\nb"}').choices[0]).to.deep.include({
      message: { role: 'assistant', content: null, tool_calls: [custom] },
      finish_reason: 'tool_calls',
    });
  });

  it('has what was used and what it cost', () => {
    const reply = chatReply(COLLECTED) as { created: number };
    expect(reply).to.deep.equal({
      id: 'chatcmpl_1',
      object: 'chat.completion',
      created: reply.created,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
      billing: BILLING_BLOCK,
    });
    const usage = { input: 5, cacheWrite: 40, output: 7, reasoning: 6 };
    expect(chatReply({ ...COLLECTED, usage })).to.deep.include({
      usage: {
        prompt_tokens: 45,
        completion_tokens: 7,
        total_tokens: 52,
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 40 },
        completion_tokens_details: {
          reasoning_tokens: 6,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      },
    });
    expect(chatReply({ ...COLLECTED, smart: SMART })).to.deep.include({ smart_routing: SMART });
  });
});
