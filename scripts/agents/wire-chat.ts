// The chat format: a cache that needs no markers, `reasoning_content` that has to come back.
import type { Schema } from './job.ts';
import { type Answer, type Json, readList, splitThought, type Turn, type Wire } from './turn.ts';

export const chat: Wire = {
  path: '/v1/chat/completions',

  read(body): Turn {
    const history = readList(body.messages);
    return {
      prompt: [...readList(body.tools), ...history].map((part) => JSON.stringify(part)).join('\n'),
      tools: readList(body.tools).map(({ function: described }) => {
        const { name, parameters } = (described ?? {}) as Json;
        return { name: String(name), isCustom: false, schema: (parameters ?? {}) as Schema };
      }),
      calls: history.flatMap(({ tool_calls: calls }) => readList(calls)).length,
      thinks: true,
      thoughtsBack: history.filter(({ reasoning_content: thought }) => typeof thought === 'string' && thought !== '')
        .length,
      isStream: body.stream === true,
    };
  },

  write(answer): Json {
    const { id, model, thought, text, call } = answer;
    const message = {
      role: 'assistant',
      content: text ?? null,
      reasoning_content: thought,
      tool_calls: call && [describeCall(answer)],
    };
    const choice = { index: 0, message, finish_reason: call ? 'tool_calls' : 'stop' };
    return { id, object: 'chat.completion', created: 1, model, choices: [choice], usage: describeUsage(answer) };
  },

  stream(answer) {
    const { id, model, thought, text, call } = answer;
    const chunk = { id, object: 'chat.completion.chunk', created: 1, model };
    const piece = (delta: Json, finish_reason: string | null = null) => ({
      ...chunk,
      choices: [{ index: 0, delta, finish_reason }],
    });
    return [
      piece({ role: 'assistant', content: '' }),
      ...(thought === undefined ? [] : splitThought(thought).map((text) => piece({ reasoning_content: text }))),
      ...(text === undefined ? [] : [piece({ content: text })]),
      ...(call ? [piece({ tool_calls: [{ index: 0, ...describeCall(answer) }] })] : []),
      piece({}, call ? 'tool_calls' : 'stop'),
      { ...chunk, choices: [], usage: describeUsage(answer) },
      '[DONE]',
    ];
  },
};

function describeCall({ id, call }: Answer): Json {
  return { id: `call_${id}`, type: 'function', function: { name: call?.name, arguments: call?.input } };
}

function describeUsage({ counts, output, reasoning }: Answer): Json {
  const prompt_tokens = counts.input + counts.read;
  return {
    prompt_tokens,
    completion_tokens: output,
    total_tokens: prompt_tokens + output,
    prompt_tokens_details: { cached_tokens: counts.read },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}
