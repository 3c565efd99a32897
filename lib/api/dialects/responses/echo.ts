// What a response repeats of its request, and the names that its calls go back under.
import type { ResponsesFields } from './schema.ts';
import type { ToolNames } from './tools.ts';

export interface ResponsesEcho {
  /** As the client wrote it; for a response that fails before a model answers. */
  readonly model: string;
  /** Members of the response, as JSON without braces. */
  readonly members: string;
  readonly names: ToolNames;
  /** The answer is the summary of a compaction. */
  readonly compacts?: boolean;
  /** The items that a compaction keeps. */
  readonly kept?: readonly Readonly<Record<string, unknown>>[];
}

/** Longer members are not repeated: they would be kept as long as the answer, and sent three times with each stream. */
const ECHO_CHARACTERS_MAX = 64 * 1024;

export function createEcho(fields: ResponsesFields, names: ToolNames): ResponsesEcho {
  const { model, instructions, tools, reasoning, text, metadata } = fields;
  const plain = { type: 'text' };
  const members = {
    background: false,
    // Strict clients want both, as the vendor has them.
    frequency_penalty: 0,
    presence_penalty: 0,
    instructions: repeat(instructions, null),
    max_output_tokens: fields.max_output_tokens ?? null,
    metadata: repeat(metadata, {}),
    parallel_tool_calls: fields.parallel_tool_calls ?? true,
    previous_response_id: null,
    ...(fields.prompt_cache_key != null && { prompt_cache_key: fields.prompt_cache_key }),
    reasoning: { effort: repeat(reasoning?.effort, null), summary: repeat(reasoning?.summary, null) },
    store: false,
    temperature: null,
    text: { ...repeat(text && { ...text, format: undefined }, {}), format: repeat(text?.format, plain) },
    tool_choice: repeat(fields.tool_choice, 'auto'),
    tools: repeat(tools, []),
    top_p: null,
    truncation: 'disabled',
  };
  return { model, members: JSON.stringify(members).slice(1, -1), names };
}

function repeat<Given, Default>(given: Given, otherwise: Default): NonNullable<Given> | Default {
  const isShort = given != null && JSON.stringify(given).length <= ECHO_CHARACTERS_MAX;
  return isShort ? given : otherwise;
}
