// The message format: blocks, cache markers, signed thinking.
import type { PromptBlock } from '../../testkit/prompt-cache.ts';
import type { Schema } from './job.ts';
import { type Answer, type Json, makeState, readList, STATE, splitThought, type Turn, type Wire } from './turn.ts';

export const messages: Wire = {
  path: '/v1/messages',

  read(body): Turn {
    const blocks = [
      ...readList(body.tools),
      ...readContent(body.system),
      ...readList(body.messages).flatMap(({ role, content }) =>
        readContent(content).map((block) => ({ role, ...block })),
      ),
    ];
    const history = readList(body.messages).flatMap(({ content }) => readContent(content));
    return {
      prompt: blocks.map(describeBlock),
      tools: readList(body.tools).map(({ name, input_schema: schema }) => ({
        name: String(name),
        isCustom: false,
        schema: (schema ?? {}) as Schema,
      })),
      calls: history.filter(({ type }) => type === 'tool_use').length,
      thinks: ['enabled', 'adaptive'].includes(String((body.thinking as Json | undefined)?.type)),
      thoughtsBack: history.filter(({ type, signature }) => type === 'thinking' && STATE.test(String(signature)))
        .length,
      isStream: body.stream === true,
    };
  },

  write(answer): Json {
    const { id, model, call } = answer;
    const stop_reason = call ? 'tool_use' : 'end_turn';
    const reply = { id, type: 'message', role: 'assistant', model, stop_sequence: null };
    return { ...reply, content: listBlocks(answer), stop_reason, usage: describeUsage(answer) };
  },

  stream(answer) {
    const { id, model, call } = answer;
    const usage = describeUsage(answer);
    const message = {
      id,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
    };
    return [
      { type: 'message_start', message: { ...message, usage: { ...usage, output_tokens: 1 } } },
      ...listBlocks(answer).flatMap((block, index) => streamBlock(block, index)),
      { type: 'message_delta', delta: { stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null }, usage },
      { type: 'message_stop' },
    ];
  },
};

/** A vendor reads the text of a result as a block of text, and takes a marker within a result for one on it. */
function describeBlock({ cache_control: marker, ...block }: Json): PromptBlock {
  if (block.type !== 'tool_result') return { text: JSON.stringify(block), marked: Boolean(marker) };
  const parts = readContent(block.content);
  const content = parts.map(({ cache_control: _marker, ...part }) => part);
  const marked = Boolean(marker) || parts.some(({ cache_control: inner }) => inner);
  return { text: JSON.stringify({ ...block, content }), marked };
}

function readContent(content: unknown): readonly Json[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : readList(content);
}

function listBlocks({ id, thought, text, call }: Answer): readonly Json[] {
  return [
    ...(thought === undefined ? [] : [{ type: 'thinking', thinking: thought, signature: makeState(id) }]),
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...(call ? [{ type: 'tool_use', id: `toolu_${id}`, name: call.name, input: JSON.parse(call.input) }] : []),
  ];
}

function streamBlock(block: Json, index: number): readonly Json[] {
  const start = (content_block: Json) => ({ type: 'content_block_start', index, content_block });
  const delta = (change: Json) => ({ type: 'content_block_delta', index, delta: change });
  const stop = { type: 'content_block_stop', index };
  switch (block.type) {
    case 'thinking':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        ...splitThought(String(block.thinking)).map((thinking) => delta({ type: 'thinking_delta', thinking })),
        delta({ type: 'signature_delta', signature: block.signature }),
        stop,
      ];
    case 'tool_use':
      return [
        start({ ...block, input: {} }),
        delta({ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }),
        stop,
      ];
    default:
      return [start({ type: 'text', text: '' }), delta({ type: 'text_delta', text: block.text }), stop];
  }
}

function describeUsage({ counts, output }: Answer): Json {
  return {
    input_tokens: counts.input,
    cache_creation_input_tokens: counts.written,
    cache_read_input_tokens: counts.read,
    output_tokens: output,
  };
}
