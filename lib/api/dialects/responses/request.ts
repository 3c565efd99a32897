// Turns a responses body into the engine's request.
import { fault } from '../../../base/faults.ts';
import { isRecord } from '../../../base/record.ts';
import { MAX_TOKENS_DEFAULT, MAX_TOKENS_MAXIMUM } from '../../../base/token-limits.ts';
import type { TextRequest } from '../../../calls/text/request.ts';
import { readSpending } from '../../spending.ts';
import { readCacheKey, readUserId } from '../cache.ts';
import { checkFields, invalidField, refuseMisplacedBody } from '../fields.ts';
import { readSystem } from '../messages.ts';
import { readSampling } from '../sampling.ts';
import { readStops } from '../stops.ts';
import { asksForCompaction, COMPACTION_PROMPT, listKept } from './compaction.ts';
import { readConfiguration } from './configuration.ts';
import { createEcho, type ResponsesEcho } from './echo.ts';
import { listAddedTools, readInput } from './input.ts';
import { type ResponsesFields, responsesFields } from './schema.ts';
import { flattenTools, readResponsesTools } from './tools.ts';

export function parseResponsesRequest(body: unknown): TextRequest {
  return parseRequest(body, 'responses');
}

export function parseCompactionRequest(body: unknown): TextRequest {
  return { ...parseRequest(body, 'compact'), stream: false };
}

function parseRequest(body: unknown, path: 'responses' | 'compact'): TextRequest {
  refuseMisplacedBody(body, { needs: 'input', has: 'messages', path: '/api/v1/chat/completions' });
  // First, as a stored prompt comes without `input`.
  refuseStored(body);
  const given = flattenTools(checkFields<ResponsesFields>(responsesFields, body));
  const isCompaction = path === 'compact' || asksForCompaction(given);
  // The same tools, so that what a vendor has cached of the prompt still counts.
  const fields = isCompaction ? { ...given, tool_choice: 'none', stop: null } : given;
  const { tools, names } = readResponsesTools(fields, listAddedTools(fields.input));
  const { system, messages, ...contents } = readInput(fields.input);
  const prompt = [...readSystem(fields.instructions, 'instructions'), ...system];
  return {
    model: fields.model,
    system: prompt.length > 0 ? prompt : undefined,
    messages: isCompaction ? [...messages, COMPACTION_PROMPT] : messages,
    messageCount: typeof fields.input === 'string' ? 1 : fields.input.length,
    ...contents,
    ...(tools && { tools }),
    maxTokens: Math.min(fields.max_output_tokens ?? MAX_TOKENS_DEFAULT, MAX_TOKENS_MAXIMUM),
    stream: fields.stream ?? false,
    ...readCacheKey(fields),
    ...readUserId(body),
    ...readSpending(body),
    ...readSampling(body),
    ...readStops('stop', fields.stop),
    ...readConfiguration(fields),
    ...(isCompaction && {
      format: undefined,
      formatField: undefined,
      verbosity: undefined,
      showsReasoning: false,
      buffersAnswer: true,
    }),
    echo: {
      ...createEcho(given, names),
      ...(isCompaction && { compacts: true }),
      ...(path === 'compact' && { kept: listKept(given.input) }),
    } satisfies ResponsesEcho,
  };
}

/** Nothing is stored between two requests, and nothing runs without a client. */
function refuseStored(body: unknown): void {
  if (!isRecord(body)) return;
  const { previous_response_id: previous, conversation, prompt, background } = body;
  if (previous != null) throw fault('response_not_stored');
  if (conversation != null) {
    throw invalidField(
      'conversation',
      'names a conversation, but none is stored here; send its items in `input` instead',
    );
  }
  if (prompt != null) {
    throw invalidField(
      'prompt',
      'names a prompt, but none is stored here; send its text in `instructions` and `input` instead',
    );
  }
  if (background === true) {
    throw invalidField('background', 'must be false: no response is made in the background; use `stream` instead');
  }
}
