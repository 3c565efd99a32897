// How clients and upstreams write calls of tools, told apart from how the gateway does: for tests of the way through.
import { PNG } from '../media/sample-images.ts';

export interface Call {
  readonly id: string;
  readonly name: string;
  /** Of the arguments. */
  readonly json: string;
}

export interface Result {
  readonly text: string;
  readonly isError: boolean;
  readonly images: number;
}

/** What the assistant did, and what came of it. */
export interface Turn {
  readonly text: string;
  readonly calls: readonly Call[];
  /** One for each call. */
  readonly results: readonly Result[];
}

export interface Talk {
  readonly prompt: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly Definition[];
  readonly choice: 'auto' | 'none' | 'any' | string;
  readonly single: boolean;
}

export interface Definition {
  readonly name: string;
  readonly description: string;
  readonly schema: object;
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
type Json = any;

const BASE64 = PNG.toString('base64');
const times = <T>(count: number, value: T): readonly T[] => Array.from({ length: count }, () => value);

/** A tool may have any other name, `valueOf` too. */
const CHOICES = new Map([
  ['auto', 'auto'],
  ['none', 'none'],
  ['any', 'required'],
]);

/** The fields of a request as a client of each dialect writes them. */
export type ToolDialect = 'message' | 'chat' | 'responses';

export const CLIENTS: Readonly<Record<ToolDialect, (talk: Talk) => object>> = {
  message: ({ prompt, turns, tools, choice, single }) => ({
    messages: [
      { role: 'user', content: prompt },
      ...turns.flatMap(({ text, calls, results }) => [
        {
          role: 'assistant',
          content: [
            ...(text === '' ? [] : [{ type: 'text', text }]),
            ...calls.map(({ id, name, json }) => ({ type: 'tool_use', id, name, input: JSON.parse(json) })),
          ],
        },
        {
          role: 'user',
          content: results.map(({ text: said, isError, images }, at) => ({
            type: 'tool_result',
            tool_use_id: calls[at]?.id,
            is_error: isError,
            content: [
              { type: 'text', text: said },
              ...times(images, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: BASE64 } }),
            ],
          })),
        },
      ]),
    ],
    tools: tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
    tool_choice: {
      ...(['auto', 'none', 'any'].includes(choice) ? { type: choice } : { type: 'tool', name: choice }),
      ...(single && { disable_parallel_tool_use: true }),
    },
  }),
  chat: ({ prompt, turns, tools, choice, single }) => ({
    messages: [
      { role: 'user', content: prompt },
      ...turns.flatMap(({ text, calls, results }) => [
        {
          role: 'assistant',
          content: text === '' ? null : text,
          tool_calls: calls.map(({ id, name, json }) => ({
            id,
            type: 'function',
            function: { name, arguments: json },
          })),
        },
        ...results.map(({ text: said, images }, at) => ({
          role: 'tool',
          tool_call_id: calls[at]?.id,
          content: [
            { type: 'text', text: said },
            ...times(images, { type: 'image_url', image_url: { url: `data:image/png;base64,${BASE64}` } }),
          ],
        })),
      ]),
    ],
    tools: tools.map(({ name, description, schema }) => ({
      type: 'function',
      function: { name, description, parameters: schema },
    })),
    tool_choice: CHOICES.get(choice) ?? { type: 'function', function: { name: choice } },
    ...(single && { parallel_tool_calls: false }),
  }),
  responses: ({ prompt, turns, tools, choice, single }) => ({
    input: [
      { type: 'message', role: 'user', content: prompt },
      ...turns.flatMap(({ text, calls, results }) => [
        ...(text === '' ? [] : [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }]),
        ...calls.map(({ id, name, json }) => ({ type: 'function_call', call_id: id, name, arguments: json })),
        ...results.map(({ text: said, images }, at) => ({
          type: 'function_call_output',
          call_id: calls[at]?.id,
          output: [
            { type: 'input_text', text: said },
            ...times(images, { type: 'input_image', image_url: `data:image/png;base64,${BASE64}` }),
          ],
        })),
      ]),
    ],
    tools: [
      { type: 'web_search' },
      ...tools.map(({ name, description, schema }) => ({ type: 'function', name, description, parameters: schema })),
    ],
    tool_choice: CHOICES.get(choice) ?? { type: 'function', name: choice },
    ...(single && { parallel_tool_calls: false }),
  }),
};

/** What an upstream understood of a request, in one form for all kinds. */
export interface Understood {
  readonly prompt: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly Definition[];
  readonly choice: string;
  readonly single: boolean;
}

/** Collects turns while messages go by. */
function collectTurns() {
  const turns: { text: string; calls: Call[]; results: Result[] }[] = [];
  const byId = new Map<string, { turn: (typeof turns)[number]; at: number }>();
  return {
    turns,
    said(text: string, calls: readonly Call[]) {
      const turn = { text, calls: [...calls], results: [] };
      turns.push(turn);
      for (const [at, { id }] of calls.entries()) byId.set(id, { turn, at });
    },
    answered(id: string, result: Result) {
      const { turn, at } = byId.get(id) ?? { turn: turns[0], at: -1 };
      if (!turn || turn !== turns.at(-1)) throw new Error(`the result of ${id} is not in its place`);
      turn.results[at] = result;
    },
    shown(id: string, images: number) {
      const { turn, at } = byId.get(id) as { turn: (typeof turns)[number]; at: number };
      turn.results[at] = { ...(turn.results[at] as Result), images };
    },
  };
}

export const joinText = (content: Json): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text = '' }: Json) => text).join('');

/** Reads the body of a request as each kind of upstream does. */
export const UPSTREAMS: Readonly<Record<'chat' | 'message' | 'google', (body: Json) => Understood>> = {
  chat({ messages, tools, tool_choice: choice, parallel_tool_calls: parallel }) {
    const { turns, said, answered, shown } = collectTurns();
    const [first, ...rest] = messages;
    for (const { role, content, tool_calls: calls = [], tool_call_id: id } of rest) {
      if (role === 'assistant') {
        said(
          joinText(content),
          calls.map((call: Json) => ({ id: call.id, name: call.function.name, json: call.function.arguments })),
        );
      } else if (role === 'tool') {
        const text = joinText(content);
        const isError = text.startsWith('Error: ');
        answered(id, { text: isError ? text.slice('Error: '.length) : text, isError, images: 0 });
      } else {
        let of = '';
        const counts = new Map<string, number>();
        for (const block of content) {
          if (block.type === 'text') of = /^Of the result of (.*):$/.exec(block.text)?.[1] ?? '';
          else counts.set(of, (counts.get(of) ?? 0) + 1);
        }
        for (const [shownId, images] of counts) shown(shownId, images);
      }
    }
    return {
      prompt: joinText(first.content),
      turns,
      tools: tools.map((tool: Json) => ({
        name: tool.function.name,
        description: tool.function.description,
        schema: tool.function.parameters,
      })),
      choice: choice === 'required' ? 'any' : (choice?.function?.name ?? choice),
      single: parallel === false,
    };
  },
  message({ messages, tools, tool_choice: choice }) {
    const { turns, said, answered } = collectTurns();
    const [first, ...rest] = messages;
    for (const { role, content } of rest) {
      const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
      if (role === 'assistant') {
        const calls = blocks.filter(({ type }: Json) => type === 'tool_use');
        said(
          joinText(blocks.filter(({ type }: Json) => type === 'text')),
          calls.map(({ id, name, input }: Json) => ({ id, name, json: JSON.stringify(input) })),
        );
      } else {
        for (const block of blocks) {
          if (block.type !== 'tool_result') throw new Error(`a ${block.type} among the results`);
          const images = block.content.filter(({ type }: Json) => type === 'image').length;
          answered(block.tool_use_id, { text: joinText(block.content), isError: block.is_error === true, images });
        }
      }
    }
    return {
      prompt: joinText(first.content),
      turns,
      tools: tools.map((tool: Json) => ({ name: tool.name, description: tool.description, schema: tool.input_schema })),
      choice: choice.type === 'tool' ? choice.name : choice.type,
      single: choice.disable_parallel_tool_use === true,
    };
  },
  google({ contents, tools, toolConfig }) {
    const { turns, said, answered, shown } = collectTurns();
    const [first, ...rest] = contents;
    for (const { role, parts } of rest) {
      if (role === 'model') {
        const calls = parts.filter((part: Json) => part.functionCall);
        said(
          joinText(parts),
          calls.map(({ functionCall: { id, name, args } }: Json) => ({ id, name, json: JSON.stringify(args) })),
        );
        continue;
      }
      let last = '';
      let images = 0;
      for (const { functionResponse, inlineData } of parts) {
        if (functionResponse) {
          const { id, response } = functionResponse;
          last = id;
          images = 0;
          answered(id, { text: response.error ?? response.output, isError: 'error' in response, images });
        } else if (inlineData) {
          images += 1;
          shown(last, images);
        }
      }
    }
    const { mode, allowedFunctionNames: [named] = [] } = toolConfig.functionCallingConfig;
    return {
      prompt: joinText(first.parts),
      turns,
      tools: tools[0].functionDeclarations.map((tool: Json) => ({
        name: tool.name,
        description: tool.description,
        schema: tool.parametersJsonSchema,
      })),
      choice: named ?? mode.toLowerCase(),
      single: false,
    };
  },
};

/** An answer, its fragments as an upstream cuts them. */
export interface Spoken {
  readonly text: readonly string[];
  readonly calls: readonly { readonly id: string; readonly name: string; readonly pieces: readonly string[] }[];
}

const sse = (data: unknown, event?: string) =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;

/** The bytes of an answer as each kind of upstream streams it. */
export const SPEAKERS: Readonly<Record<keyof typeof UPSTREAMS, (spoken: Spoken) => string>> = {
  chat({ text, calls }) {
    const chunk = (delta: object, reason: string | null = null) =>
      sse({ id: 'up_1', model: 'up', choices: [{ index: 0, delta, finish_reason: reason }] });
    // The pieces of the calls come in turn.
    const most = Math.max(0, ...calls.map(({ pieces }) => pieces.length));
    return [
      ...text.map((content) => chunk({ content })),
      ...calls.map(({ id, name }, index) =>
        chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
      ),
      ...Array.from({ length: most }, (_, at) =>
        calls.map(({ pieces }, index) =>
          pieces[at] === undefined ? '' : chunk({ tool_calls: [{ index, function: { arguments: pieces[at] } }] }),
        ),
      ).flat(),
      chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
      sse({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 } }),
      'data: [DONE]\n\n',
    ].join('');
  },
  message({ text, calls }) {
    const blocks = [
      ...(text.length > 0
        ? [{ block: { type: 'text', text: '' }, deltas: text.map((piece) => ({ type: 'text_delta', text: piece })) }]
        : []),
      ...calls.map(({ id, name, pieces }) => ({
        block: { type: 'tool_use', id, name, input: {} },
        deltas: ['', ...pieces].map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
      })),
    ];
    const event = (type: string, fields: object) => sse({ type, ...fields }, type);
    return [
      event('message_start', { message: { id: 'up_1', model: 'up', usage: { input_tokens: 5, output_tokens: 1 } } }),
      ...blocks.flatMap(({ block, deltas }, index) => [
        event('content_block_start', { index, content_block: block }),
        ...deltas.map((delta) => event('content_block_delta', { index, delta })),
        event('content_block_stop', { index }),
      ]),
      event('message_delta', {
        delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn' },
        usage: { output_tokens: 9 },
      }),
      event('message_stop', {}),
    ].join('');
  },
  google({ text, calls }) {
    const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 9 };
    const parts = [
      ...text.map((piece) => ({ text: piece })),
      ...calls.map(({ id, name, pieces }) => ({
        functionCall: { id, name, args: JSON.parse(pieces.join('') || '{}') },
      })),
    ];
    return [
      ...parts.map((part) => sse({ candidates: [{ content: { role: 'model', parts: [part] } }], usageMetadata })),
      sse({ candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP' }], usageMetadata }),
    ].join('');
  },
};
