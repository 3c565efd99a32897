import { expect } from 'chai';
import { fault } from '../../../../lib/base/faults.ts';
import type { FinishReason, StreamPart } from '../../../../lib/stream/part.ts';
import { BILLING, BILLING_BLOCK, COLLECTED, SMART } from '../replies.ts';
import { delta, end, eventsOf, FINISH, type Json, replyOf, START, TEXT } from './stage.ts';

const OPENED = ['response.created', 'response.in_progress'];
const typesOf = (events: readonly Json[]) => events.map(({ type }) => type);
const tool = (index: number, name: string, id = 'call_a'): StreamPart => ({
  type: 'block-start',
  index,
  block: { type: 'tool', id, name },
});
const REASONING: StreamPart = { type: 'block-start', index: 0, block: { type: 'reasoning' } };

const CUSTOM = { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } };

describe('response events', () => {
  it('say the phase of a message, from its beginning on', () => {
    const text = (index: number, phase: string): StreamPart => ({
      type: 'block-start',
      index,
      block: { type: 'text', phase },
    });
    const blocks = [text(0, 'commentary'), delta(0, 'Hm.'), end(0), text(1, 'final_answer'), delta(1, 'Hi.'), end(1)];
    const events = eventsOf([START, ...blocks, FINISH, BILLING]);
    const items = events.filter(({ item }) => item).map(({ item }) => item.phase);
    expect(items).to.deep.equal(['commentary', 'commentary', 'final_answer', 'final_answer']);
    const output = events.at(-1).response.output.map(({ phase, content }: Json) => [phase, content[0].text]);
    expect(output).to.deep.equal([
      ['commentary', 'Hm.'],
      ['final_answer', 'Hi.'],
    ]);
    const reply = replyOf({ ...COLLECTED, blocks: [{ type: 'text', phase: 'commentary', text: 'Hm.' }] });
    expect(reply.output[0]).to.include({ phase: 'commentary' });
  });

  it('bracket an item and its part, and repeat the whole at the end', () => {
    const usage: StreamPart[] = [{ type: 'usage', input: 5, output: 7 }];
    const before = Math.floor(Date.now() / 1000);
    const body = { instructions: 'Be brief.', metadata: { a: 'b' }, max_output_tokens: 99, tools: [CUSTOM] };
    const events = eventsOf([START, TEXT, delta(0, 'H"i'), delta(0, '\n😀'), end(0), ...usage, FINISH, BILLING], body);
    const at = { item_id: 'msg_req_1_0', output_index: 0, content_index: 0 };
    const part = { type: 'output_text', annotations: [], logprobs: [], text: 'H"i\n😀' };
    const item = { id: 'msg_req_1_0', type: 'message', status: 'completed', role: 'assistant', content: [part] };
    const created = events[0].response.created_at;
    expect(created).to.be.within(before, before + 5);
    const response = {
      id: 'resp_req_1',
      object: 'response',
      created_at: created,
      completed_at: null,
      status: 'in_progress',
      error: null,
      incomplete_details: null,
      model: 'm "1"',
      output: [],
      usage: null,
      background: false,
      frequency_penalty: 0,
      presence_penalty: 0,
      instructions: 'Be brief.',
      max_output_tokens: 99,
      metadata: { a: 'b' },
      parallel_tool_calls: true,
      previous_response_id: null,
      reasoning: { effort: null, summary: null },
      store: false,
      temperature: null,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      top_p: null,
      truncation: 'disabled',
      tools: [CUSTOM],
    };
    const whole = {
      ...response,
      status: 'completed',
      completed_at: events.at(-1).response.completed_at,
      output: [item],
      usage: {
        input_tokens: 5,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 7,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 12,
      },
      billing: { payer: 'developer', ...BILLING_BLOCK },
    };
    const expected = [
      { type: 'response.created', response },
      { type: 'response.in_progress', response },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
      { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
      { type: 'response.output_text.delta', ...at, delta: 'H"i', logprobs: [] },
      { type: 'response.output_text.delta', ...at, delta: '\n😀', logprobs: [] },
      { type: 'response.output_text.done', ...at, text: part.text, logprobs: [] },
      { type: 'response.content_part.done', ...at, part },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: whole },
    ];
    expect(events).to.deep.equal(expected.map((event, number) => ({ ...event, sequence_number: number })));
  });

  it('carry each call in an item of its own, after the text', () => {
    const second: StreamPart = {
      type: 'block-start',
      index: 2,
      block: { type: 'tool', id: 'b', name: 'go', state: { format: 'contents', value: 'opaque' } },
    };
    const calls = [tool(1, 'look'), delta(1, '{"a":'), delta(1, '1}'), end(1), second, delta(2, '{}'), end(2)];
    const events = eventsOf([
      START,
      TEXT,
      delta(0, 'Hm'),
      end(0),
      ...calls,
      { type: 'finish', reason: 'tool' },
      BILLING,
    ]);
    const place = { item_id: 'fc_req_1_1', output_index: 1 };
    const item = { id: 'fc_req_1_1', type: 'function_call', call_id: 'call_a', name: 'look' };
    expect(events.slice(8, 13).map(({ sequence_number: _, ...event }) => event)).to.deep.equal([
      {
        type: 'response.output_item.added',
        output_index: 1,
        item: { ...item, status: 'in_progress', arguments: '' },
      },
      { type: 'response.function_call_arguments.delta', ...place, delta: '{"a":' },
      { type: 'response.function_call_arguments.delta', ...place, delta: '1}' },
      { type: 'response.function_call_arguments.done', ...place, name: 'look', arguments: '{"a":1}' },
      {
        type: 'response.output_item.done',
        output_index: 1,
        item: { ...item, status: 'completed', arguments: '{"a":1}' },
      },
    ]);
    const { response } = events.at(-1);
    expect(response.status).to.equal('completed');
    expect(response.output.map(({ type }: Json) => type)).to.deep.equal(['message', 'function_call', 'function_call']);
    expect(response.output[2].call_id).to.equal('b__state_Y29udGVudHM6b3BhcXVl');
  });

  it('summarise reasoning, and hand out what its upstream wants back', () => {
    const state: StreamPart = { type: 'block-state', index: 0, state: { format: 'messages', value: 'sig' } };
    const events = eventsOf([START, REASONING, delta(0, 'First '), delta(0, 'this.'), state, end(0), FINISH, BILLING]);
    const place = { item_id: 'rs_req_1_0', output_index: 0, summary_index: 0 };
    const item = { id: 'rs_req_1_0', type: 'reasoning', summary: [] };
    const part = { type: 'summary_text', text: 'First this.' };
    expect(events.slice(2, -1).map(({ sequence_number: _, ...event }) => event)).to.deep.equal([
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.reasoning_summary_part.added', ...place, part: { ...part, text: '' } },
      { type: 'response.reasoning_summary_text.delta', ...place, delta: 'First ' },
      { type: 'response.reasoning_summary_text.delta', ...place, delta: 'this.' },
      { type: 'response.reasoning_summary_text.done', ...place, text: 'First this.' },
      { type: 'response.reasoning_summary_part.done', ...place, part },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { ...item, summary: [part], encrypted_content: 'messages:sig' },
      },
    ]);
  });

  it('show an item without a summary for reasoning that has only a state', () => {
    const redacted: StreamPart = { type: 'block-start', index: 0, block: { type: 'reasoning', redacted: true } };
    const state: StreamPart = { type: 'block-state', index: 0, state: { format: 'responses', value: '{"id":"x"}' } };
    const events = eventsOf([START, redacted, state, end(0), FINISH, BILLING]);
    expect(typesOf(events.slice(2, -1))).to.deep.equal(['response.output_item.added', 'response.output_item.done']);
    expect(events[3].item).to.deep.include({ summary: [], encrypted_content: 'redacted:responses:{"id":"x"}' });
  });

  it('write the input of a custom tool as it arrives inside the arguments of a function', () => {
    const json = JSON.stringify({ input: '*** Begin\n"é" \\ 😀\u2028' });
    const cuts = [...json].map((character) => delta(0, character));
    const events = eventsOf([START, tool(0, 'patch'), ...cuts, end(0), FINISH, BILLING], { tools: [CUSTOM] });
    const deltas = events.filter(({ type }) => type === 'response.custom_tool_call_input.delta');
    expect(deltas.map((event) => event.delta).join('')).to.equal('*** Begin\n"é" \\ 😀\u2028');
    expect(deltas.length).to.be.above(15);
    expect(
      deltas.filter((event) => event.delta === ''),
      'of what is around the input',
    ).to.deep.equal([]);
    expect(deltas[0]).to.include({ item_id: 'ctc_req_1_0', output_index: 0 });
    expect(events.at(-3)).to.include({
      type: 'response.custom_tool_call_input.done',
      input: '*** Begin\n"é" \\ 😀\u2028',
    });
    const item = {
      id: 'ctc_req_1_0',
      type: 'custom_tool_call',
      status: 'completed',
      call_id: 'call_a',
      name: 'patch',
      input: '*** Begin\n"é" \\ 😀\u2028',
    };
    expect(events.at(-2).item).to.deep.equal(item);
  });

  it('call a tool of a namespace by its own name', () => {
    const tools = [{ type: 'namespace', name: 'files', tools: [{ type: 'function', name: 'read' }, CUSTOM] }];
    const parts = [
      tool(0, 'files__read'),
      delta(0, '{}'),
      end(0),
      tool(1, 'files__patch', 'b'),
      delta(1, '{}'),
      end(1),
    ];
    const { response } = eventsOf([START, ...parts, FINISH, BILLING], { tools }).at(-1);
    expect(response.output[0]).to.include({ type: 'function_call', namespace: 'files', name: 'read', arguments: '{}' });
    expect(response.output[1]).to.include({ type: 'custom_tool_call', namespace: 'files', name: 'patch', input: '' });
  });

  it('write a refusal as one', () => {
    const refusal: StreamPart = { type: 'block-start', index: 0, block: { type: 'text', refusal: true } };
    const events = eventsOf([START, refusal, delta(0, 'No.'), end(0), { type: 'finish', reason: 'filter' }, BILLING]);
    expect(typesOf(events)).to.deep.equal([
      ...OPENED,
      'response.output_item.added',
      'response.content_part.added',
      'response.refusal.delta',
      'response.refusal.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events[3].part).to.deep.equal({ type: 'refusal', refusal: '' });
    expect(events.at(-1).response.output[0].content).to.deep.equal([{ type: 'refusal', refusal: 'No.' }]);
  });

  it('say why an answer is incomplete, and of its last item that it is', () => {
    const reasons: Readonly<Record<FinishReason, string | undefined>> = {
      stop: undefined,
      length: 'max_output_tokens',
      filter: 'content_filter',
      tool: undefined,
      other: undefined,
    };
    for (const [reason, word] of Object.entries(reasons) as [FinishReason, string | undefined][]) {
      const parts = [
        tool(0, 'go'),
        delta(0, '{}'),
        end(0),
        { ...TEXT, index: 1 } as StreamPart,
        delta(1, 'Hi'),
        end(1),
      ];
      const last = eventsOf([START, ...parts, { type: 'finish', reason }, BILLING]).at(-1);
      const status = word === undefined ? 'completed' : 'incomplete';
      expect(last.type).to.equal(`response.${status}`);
      expect(last.response).to.deep.include({
        status,
        incomplete_details: word === undefined ? null : { reason: word },
        error: null,
        billing: { payer: 'developer', ...BILLING_BLOCK },
      });
      expect(last.response.output.map((item: Json) => item.status)).to.deep.equal(['completed', status]);
      const reply = replyOf({ ...COLLECTED, reason });
      expect(reply).to.deep.include({ status, incomplete_details: word === undefined ? null : { reason: word } });
      expect(reply.output[0].status).to.equal(status);
    }
  });

  it('begin before they fail, and keep the whole items of an answer that broke off', () => {
    const reason = fault('upstream_truncated', { refunded: true });
    const error = { code: 'upstream_error', type: 'api_error', message: reason.message };
    const early = eventsOf([{ type: 'error', fault: reason }]);
    expect(typesOf(early)).to.deep.equal([...OPENED, 'error', 'response.failed']);
    const flat = { code: error.code, message: error.message, param: null };
    expect(early[2]).to.deep.equal({ type: 'error', sequence_number: 2, ...flat, error: { ...error, param: null } });
    expect(early[3].response).to.deep.include({ id: 'resp_req_1', model: 'm', status: 'failed', error, output: [] });
    expect(early[3].response).not.to.have.property('billing');
    const late = eventsOf([START, TEXT, delta(0, 'Hi'), end(0), tool(1, 'go'), { type: 'error', fault: reason }]);
    expect(late.at(-1).response).to.deep.include({ status: 'failed', error, usage: null });
    expect(late.at(-1).response.output.map(({ type }: Json) => type)).to.deep.equal(['message']);
  });

  it('say how the smart model chose', () => {
    const events = eventsOf([
      { type: 'start', id: '1', model: 'm', smart: SMART },
      TEXT,
      delta(0, 'a'),
      end(0),
      FINISH,
      BILLING,
    ]);
    expect(events[0].response.smart_routing).to.deep.equal(SMART);
    expect(events.at(-1).response.smart_routing).to.deep.equal(SMART);
  });

  const long = 'x'.repeat(70_000);
  const named = { type: 'function', name: 'a', parameters: {} };
  const chosen = { type: 'allowed_tools', mode: 'auto', tools: [{ ...named, more: long }] };

  for (const [name, given, repeated] of [
    ['instructions', { instructions: long }, { instructions: null }],
    ['tools', { tools: [{ ...named, description: long }] }, { tools: [] }],
    ['a choice', { tools: [named], tool_choice: chosen }, { tools: [named], tool_choice: 'auto' }],
    ['a form', { text: { format: { type: 'text', more: long } } }, { text: { format: { type: 'text' } } }],
    [
      'what is beside a form',
      { text: { format: { type: 'json_object' }, more: long } },
      { text: { format: { type: 'json_object' } } },
    ],
    ['wishes for reasoning', { reasoning: { summary: long } }, { reasoning: { effort: null, summary: null } }],
  ] as const) {
    it(`do not repeat what is long: ${name}`, () => {
      const { response } = eventsOf([START], given)[0];
      expect(response).to.deep.include(repeated);
      expect(JSON.stringify(response).length).to.be.below(2000);
    });
  }
});

describe('response', () => {
  it('has its items, what was used and what it cost', () => {
    const reply = replyOf(
      {
        ...COLLECTED,
        smart: SMART,
        blocks: [
          { type: 'reasoning', text: 'Hm.' },
          { type: 'text', text: 'Hi' },
          { type: 'tool', id: 'c', name: 'patch', text: '{"input":"a\\nb"}' },
        ],
      },
      { tools: [CUSTOM], metadata: { run: '7' } },
    );
    expect(reply.output).to.deep.equal([
      {
        id: 'rs_1_0',
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'Hm.' }],
        encrypted_content: 'text:',
      },
      {
        id: 'msg_1_1',
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', annotations: [], logprobs: [], text: 'Hi' }],
      },
      { id: 'ctc_1_2', type: 'custom_tool_call', status: 'completed', call_id: 'c', name: 'patch', input: 'a\nb' },
    ]);
    expect(reply).to.deep.include({
      id: 'resp_1',
      object: 'response',
      model: 'm',
      status: 'completed',
      metadata: { run: '7' },
      billing: { payer: 'developer', ...BILLING_BLOCK },
      smart_routing: SMART,
    });
    expect(reply.usage).to.deep.include({ input_tokens: 5, output_tokens: 7, total_tokens: 12 });
  });
});
