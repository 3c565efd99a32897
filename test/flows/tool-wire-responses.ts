// How an upstream that speaks responses reads requests with tools and writes its answers, for tests of the way through.
import type { Result, Spoken, Turn, Understood } from './tool-wire.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
type Json = any;

const ERROR = 'Error:';

function readResult(output: Json): Result {
  const blocks: Json[] = typeof output === 'string' ? [{ type: 'input_text', text: output }] : output;
  const texts = blocks.filter(({ type }) => type === 'input_text').map(({ text }) => text);
  const isError = texts[0] === ERROR;
  const text = texts.slice(isError ? 1 : 0).join('');
  return { text, isError, images: blocks.filter(({ type }) => type === 'input_image').length };
}

export function readResponses({ input, tools, tool_choice: choice, parallel_tool_calls: parallel }: Json): Understood {
  const [first, ...rest] = input;
  const turns: { text: string; calls: Json[]; results: Result[] }[] = [];
  /** Whether the next word or call of the assistant begins another turn. */
  let isOver = true;
  const turnNow = (): (typeof turns)[number] => {
    if (isOver) turns.push({ text: '', calls: [], results: [] });
    isOver = false;
    return turns.at(-1) as (typeof turns)[number];
  };
  for (const { type, role, content, call_id: id, name, arguments: json, output } of rest) {
    if (role === 'assistant') turnNow().text = content.map(({ text }: Json) => text).join('');
    else if (type === 'function_call') turnNow().calls.push({ id, name, json });
    else if (type === 'function_call_output') {
      const turn = turns.at(-1);
      const at = turn?.calls.findIndex((call) => call.id === id) ?? -1;
      if (!turn || at < 0) throw new Error(`the result of ${id} is not in its place`);
      turn.results[at] = readResult(output);
      isOver = true;
    } else throw new Error(`an item of type ${type} of ${role}`);
  }
  return {
    prompt: first.content.map(({ text }: Json) => text).join(''),
    turns: turns as readonly Turn[],
    tools: tools.map((tool: Json) => ({ name: tool.name, description: tool.description, schema: tool.parameters })),
    choice: choice === 'required' ? 'any' : (choice?.name ?? choice),
    single: parallel === false,
  };
}

const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;

export function speakResponses({ text, calls }: Spoken): string {
  const response = { id: 'up_1', object: 'response', model: 'up' };
  const usage = { input_tokens: 5, output_tokens: 9, total_tokens: 14 };
  return [
    event('response.created', { response: { ...response, status: 'in_progress', output: [] } }),
    ...text.map((delta) => event('response.output_text.delta', { output_index: 0, content_index: 0, delta })),
    ...calls.flatMap(({ id, name, pieces }, at) => {
      const item = { type: 'function_call', id: `fc_${at}`, call_id: id, name };
      const place = { output_index: at + 1 };
      return [
        event('response.output_item.added', { ...place, item: { ...item, arguments: '' } }),
        ...pieces.map((delta) => event('response.function_call_arguments.delta', { ...place, delta })),
        event('response.output_item.done', { ...place, item: { ...item, arguments: pieces.join('') } }),
      ];
    }),
    event('response.completed', { response: { ...response, status: 'completed', output: [], usage } }),
  ].join('');
}
