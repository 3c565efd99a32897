// The responses format: items, custom tools, encrypted reasoning, a cache that needs no markers.
import type { Schema } from './job.ts';
import { type Answer, type Json, makeState, readList, STATE, splitThought, type Turn, type Wire } from './turn.ts';

export const responses: Wire = {
  path: '/v1/responses',

  read(body): Turn {
    const items = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : readList(body.input);
    const tools = readList(body.tools).flatMap((tool) => (tool.type === 'namespace' ? readList(tool.tools) : [tool]));
    return {
      prompt: [...readList(body.tools), { instructions: body.instructions }, ...items]
        .map((part) => JSON.stringify(part))
        .join('\n'),
      tools: tools.map(({ type, name, parameters }) => ({
        name: String(name ?? type),
        isCustom: type === 'custom',
        schema: (parameters ?? {}) as Schema,
      })),
      calls: items.filter(({ type }: Json) => type === 'function_call' || type === 'custom_tool_call').length,
      thinks: ((body.include as readonly unknown[] | undefined) ?? []).includes('reasoning.encrypted_content'),
      thoughtsBack: items.filter(
        ({ type, encrypted_content: state }: Json) => type === 'reasoning' && STATE.test(String(state)),
      ).length,
      isStream: body.stream === true,
    };
  },

  write: (answer) => describeResponse(answer, listItems(answer), 'completed'),

  stream(answer) {
    const items = listItems(answer);
    const events: Json[] = [
      { type: 'response.created', response: describeResponse(answer, [], 'in_progress') },
      { type: 'response.in_progress', response: describeResponse(answer, [], 'in_progress') },
      ...items.flatMap((item, index) => streamItem(item, index)),
      { type: 'response.completed', response: describeResponse(answer, items, 'completed') },
    ];
    return events.map((event, at) => ({ ...event, sequence_number: at }));
  },
};

function listItems({ id, thought, text, call }: Answer): readonly Json[] {
  const part = { type: 'output_text', text, annotations: [] };
  return [
    ...(thought === undefined
      ? []
      : [
          {
            type: 'reasoning',
            id: `rs_${id}`,
            summary: [{ type: 'summary_text', text: thought }],
            encrypted_content: makeState(id),
          },
        ]),
    ...(text === undefined
      ? []
      : [{ type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content: [part] }]),
    ...(call ? [describeCall(id, call)] : []),
  ];
}

function describeCall(id: string, { name, isCustom, input }: NonNullable<Answer['call']>): Json {
  const shared = { id: `${isCustom ? 'ctc' : 'fc'}_${id}`, call_id: `call_${id}`, name, status: 'completed' };
  return isCustom
    ? { type: 'custom_tool_call', ...shared, input }
    : { type: 'function_call', ...shared, arguments: input };
}

function streamItem(item: Json, output_index: number): readonly Json[] {
  const place = { item_id: item.id, output_index };
  const added = (fields: Json) => ({
    type: 'response.output_item.added',
    output_index,
    item: { ...item, status: 'in_progress', ...fields },
  });
  const done = { type: 'response.output_item.done', output_index, item };
  switch (item.type) {
    case 'reasoning': {
      const [part] = readList(item.summary);
      const at = { ...place, summary_index: 0 };
      return [
        { type: 'response.output_item.added', output_index, item: { ...item, summary: [] } },
        { type: 'response.reasoning_summary_part.added', ...at, part: { type: 'summary_text', text: '' } },
        ...splitThought(String(part?.text)).map((delta) => ({
          type: 'response.reasoning_summary_text.delta',
          ...at,
          delta,
        })),
        { type: 'response.reasoning_summary_text.done', ...at, text: part?.text },
        { type: 'response.reasoning_summary_part.done', ...at, part },
        done,
      ];
    }
    case 'message': {
      const [part] = readList(item.content);
      const at = { ...place, content_index: 0 };
      return [
        added({ content: [] }),
        { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
        { type: 'response.output_text.delta', ...at, delta: part?.text, logprobs: [] },
        { type: 'response.output_text.done', ...at, text: part?.text, logprobs: [] },
        { type: 'response.content_part.done', ...at, part },
        done,
      ];
    }
    case 'custom_tool_call':
      return [
        added({ input: '' }),
        { type: 'response.custom_tool_call_input.delta', ...place, delta: item.input },
        { type: 'response.custom_tool_call_input.done', ...place, input: item.input },
        done,
      ];
    default:
      return [
        added({ arguments: '' }),
        { type: 'response.function_call_arguments.delta', ...place, delta: item.arguments },
        { type: 'response.function_call_arguments.done', ...place, arguments: item.arguments },
        done,
      ];
  }
}

function describeResponse(answer: Answer, output: readonly Json[], status: string): Json {
  const { id, model, counts, reasoning } = answer;
  const input_tokens = counts.input + counts.read;
  const usage = {
    input_tokens,
    input_tokens_details: { cached_tokens: counts.read },
    output_tokens: answer.output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input_tokens + answer.output,
  };
  const head = { id: `resp_${id}`, object: 'response', created_at: 1, status, model, output };
  const rest = { error: null, incomplete_details: null, instructions: null, metadata: {}, parallel_tool_calls: true };
  return { ...head, ...rest, tool_choice: 'auto', tools: [], usage: status === 'completed' ? usage : null };
}
