// How an upstream of each wire format says the parts of an answer: words of one token each, and true counts.

/** What an upstream writes, in order. */
export interface FormatWriter {
  /** The plugin that reads the format, and the end of its `baseUrl`. */
  readonly plugin: string;
  readonly base: string;
  begin(): string;
  text(words: number): string;
  reasoning(words: number): string;
  /** A whole call; its arguments have as many words. */
  call(words: number): string;
  /** Counts so far, in the middle of an answer; '' for a format that only counts at its end. */
  counts(output: unknown): string;
  /** The reason to end, with the counts if there are any. */
  end(reason: 'stop' | 'length' | 'filter' | 'tool', output?: unknown): string;
  error(): string;
}

export const INPUT = 40;
export const WORD = 'word ';

const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const words = (count: number) => WORD.repeat(count);
const json = (count: number) => JSON.stringify({ say: words(count) });

function chat(): FormatWriter {
  const chunk = (delta: object, more: object = {}) => data({ choices: [{ index: 0, delta, ...more }] });
  const usage = (output: unknown) => ({ usage: { prompt_tokens: INPUT, completion_tokens: output } });
  const reasons = { stop: 'stop', length: 'length', filter: 'content_filter', tool: 'tool_calls' };
  return {
    plugin: 'openai-compatible',
    base: '/v1',
    begin: () => chunk({ role: 'assistant', content: '' }),
    text: (count) => chunk({ content: words(count) }),
    reasoning: (count) => chunk({ reasoning_content: words(count) }),
    call: (count) => {
      const called = { name: 'say', arguments: json(count) };
      return chunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: called }] });
    },
    counts: (output) => data({ choices: [], ...usage(output) }),
    end: (reason, output) => {
      const counted = output === undefined ? '' : data({ choices: [], ...usage(output) });
      return `${chunk({}, { finish_reason: reasons[reason] })}${counted}data: [DONE]\n\n`;
    },
    error: () => data({ error: { message: 'overloaded', code: 503 } }),
  };
}

function messages(): FormatWriter {
  const event = (type: string, fields: object) => `event: ${type}\n${data({ type, ...fields })}`;
  let index = 0;
  const block = (content: object, delta: object) => {
    const at = index;
    index += 1;
    return [
      event('content_block_start', { index: at, content_block: content }),
      event('content_block_delta', { index: at, delta }),
      event('content_block_stop', { index: at }),
    ].join('');
  };
  const reasons = { stop: 'end_turn', length: 'max_tokens', filter: 'refusal', tool: 'tool_use' };
  return {
    plugin: 'anthropic',
    base: '',
    begin: () => {
      index = 0;
      const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] };
      return event('message_start', { message: { ...message, usage: { input_tokens: INPUT, output_tokens: 1 } } });
    },
    text: (count) => block({ type: 'text', text: '' }, { type: 'text_delta', text: words(count) }),
    reasoning: (count) => block({ type: 'thinking', thinking: '' }, { type: 'thinking_delta', thinking: words(count) }),
    call: (count) => {
      const content = { type: 'tool_use', id: 'toolu_1', name: 'say', input: {} };
      return block(content, { type: 'input_json_delta', partial_json: json(count) });
    },
    counts: (output) => event('message_delta', { delta: {}, usage: { output_tokens: output } }),
    end: (reason, output) => {
      const usage = output === undefined ? {} : { usage: { output_tokens: output } };
      return `${event('message_delta', { delta: { stop_reason: reasons[reason] }, ...usage })}${event('message_stop', {})}`;
    },
    error: () => event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } }),
  };
}

function contents(): FormatWriter {
  const part = (content: object) => data({ candidates: [{ content: { parts: [content], role: 'model' } }] });
  const usage = (output: unknown) => ({ usageMetadata: { promptTokenCount: INPUT, candidatesTokenCount: output } });
  const reasons = { stop: 'STOP', length: 'MAX_TOKENS', filter: 'SAFETY', tool: 'STOP' };
  return {
    plugin: 'gemini',
    base: '/v1beta',
    begin: () => '',
    text: (count) => part({ text: words(count) }),
    reasoning: (count) => part({ text: words(count), thought: true }),
    call: (count) => part({ functionCall: { name: 'say', args: { say: words(count) } } }),
    counts: (output) => data({ candidates: [], ...usage(output) }),
    end: (reason, output) => {
      const counted = output === undefined ? {} : usage(output);
      return data({ candidates: [{ finishReason: reasons[reason] }], ...counted });
    },
    error: () => data({ error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } }),
  };
}

function responses(): FormatWriter {
  const event = (type: string, fields: object) => `event: ${type}\n${data({ type, ...fields })}`;
  return {
    plugin: 'openai-responses',
    base: '/v1',
    begin: () => event('response.created', { response: { id: 'resp_1', model: 'm' } }),
    text: (count) => event('response.output_text.delta', { output_index: 9, content_index: 0, delta: words(count) }),
    reasoning: (count) => {
      return event('response.reasoning_summary_text.delta', { output_index: 0, summary_index: 0, delta: words(count) });
    },
    call: (count) => {
      const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'say', arguments: '' };
      return [
        event('response.output_item.added', { output_index: 1, item }),
        event('response.function_call_arguments.delta', { output_index: 1, delta: json(count) }),
        event('response.output_item.done', { output_index: 1, item: { ...item, arguments: json(count) } }),
      ].join('');
    },
    counts: () => '',
    end: (reason, output) => {
      const isWhole = reason === 'stop' || reason === 'tool';
      const why = reason === 'length' ? 'max_output_tokens' : 'content_filter';
      const usage = output === undefined ? {} : { usage: { input_tokens: INPUT, output_tokens: output } };
      const status = isWhole ? 'completed' : 'incomplete';
      const details = isWhole ? {} : { incomplete_details: { reason: why } };
      return event(`response.${status}`, { response: { id: 'resp_1', status, output: [], ...details, ...usage } });
    },
    error: () => event('error', { error: { code: 'server_is_overloaded', message: 'Overloaded' } }),
  };
}

export const FORMATS: Readonly<Record<string, () => FormatWriter>> = { chat, messages, contents, responses };
