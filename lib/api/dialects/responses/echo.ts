// What a response repeats of its request, and the names that its calls go back under.
import type { ResponsesFields } from './schema.ts';
import type { ToolNames } from './tools.ts';

export interface ResponsesEcho {
  /** As the client wrote it; for a response that fails before a model answers. */
  readonly model: string;
  /** Members of the response, as JSON without braces. */
  readonly members: string;
  readonly names: ToolNames;
}

/** Longer instructions and tools are not repeated: they would be sent three times with each stream. */
const ECHO_CHARACTERS_MAX = 64 * 1024;

export function createEcho(fields: ResponsesFields, names: ToolNames): ResponsesEcho {
  const { model, instructions, tools, reasoning, text, metadata } = fields;
  const format = { type: 'text' };
  const members = {
    background: false,
    instructions: instructions && instructions.length > ECHO_CHARACTERS_MAX ? null : (instructions ?? null),
    max_output_tokens: fields.max_output_tokens ?? null,
    metadata: metadata ?? {},
    parallel_tool_calls: fields.parallel_tool_calls ?? true,
    previous_response_id: null,
    ...(fields.prompt_cache_key != null && { prompt_cache_key: fields.prompt_cache_key }),
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    store: false,
    temperature: null,
    text: { ...text, format: text?.format ?? format },
    tool_choice: fields.tool_choice ?? 'auto',
    top_p: null,
    truncation: 'disabled',
  };
  const written = JSON.stringify(tools ?? []);
  const toolsJson = written.length > ECHO_CHARACTERS_MAX ? '[]' : written;
  return { model, members: `${JSON.stringify(members).slice(1, -1)},"tools":${toolsJson}`, names };
}
