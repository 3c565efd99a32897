// Sessions as agents have them, with the vendors' libraries: tools, thoughts that go back with the history, a prompt that
// grows and is cached. Each session ends when the model calls no more tools.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

export interface SessionOptions {
  readonly url: string;
  readonly key: string;
  /** The client leaves in the middle of this answer, counted from 0; never if undefined. */
  readonly leavesAt?: number | undefined;
}

export interface SessionResult {
  readonly calls: number;
  /** Prompt tokens that came from a cache. */
  readonly cached: number;
}

export type Session = (options: SessionOptions) => Promise<SessionResult>;

const TOOL = {
  name: 'bash',
  description: 'Runs a command.',
  schema: { type: 'object' as const, properties: { command: { type: 'string' } }, required: ['command'] },
};
/** Long enough for the caches of vendors. */
const SYSTEM = `You are an agent in a repository. ${'Work step by step, and say what you have done. '.repeat(120)}`;
const PROMPT = 'Make the test pass.';
const OUTPUT = `1 test failed: expected 5\n${'    at run (test.js:12:3)\n'.repeat(20)}`;

/**
 * Once more after a lost connection, as the clients' own retries do, which are off so that no refusal passes: a connection
 * that was opened ahead and not used for ten seconds may be closed just when it is.
 */
const fetchTwice: typeof fetch = async (url, init) => {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (init?.signal?.aborted) throw error;
    return fetch(url, init);
  }
};

/** An answer of which only the beginning is read. */
async function leave(stream: AsyncIterable<unknown> & { readonly controller: AbortController }): Promise<void> {
  for await (const _ of stream) break;
  stream.controller.abort();
}

async function runMessages({ url, key, leavesAt }: SessionOptions): Promise<SessionResult> {
  const client = new Anthropic({ baseURL: `${url}/api`, apiKey: key, maxRetries: 0, fetch: fetchTwice });
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: PROMPT }];
  const { name, description, schema } = TOOL;
  let cached = 0;
  for (let calls = 0; ; ) {
    const request: Anthropic.MessageCreateParamsNonStreaming = {
      model: 'agent-messages',
      max_tokens: 4000,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      system: [{ type: 'text', text: SYSTEM, cache_control: { type: 'ephemeral' } }],
      tools: [{ name, description, input_schema: schema }],
      messages,
    };
    calls += 1;
    if (leavesAt === calls - 1) {
      await leave(await client.messages.create({ ...request, stream: true }));
      return { calls, cached };
    }
    const reply = await client.messages.stream(request).finalMessage();
    cached += reply.usage.cache_read_input_tokens ?? 0;
    const use = reply.content.find((block) => block.type === 'tool_use');
    if (!use) return { calls, cached };
    messages.push(
      { role: 'assistant', content: reply.content },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: use.id, content: OUTPUT, cache_control: { type: 'ephemeral' } }],
      },
    );
    forgetMarkers(messages);
  }
}

/** A prompt may have four markers: the last result keeps its own. */
function forgetMarkers(messages: readonly Anthropic.MessageParam[]): void {
  for (const { content } of messages.slice(0, -1)) {
    for (const block of Array.isArray(content) ? content : [])
      if (block.type === 'tool_result') delete block.cache_control;
  }
}

interface ChatAnswer {
  content: string;
  reasoning_content: string;
  readonly tool_calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
}

async function runChat({ url, key, leavesAt }: SessionOptions): Promise<SessionResult> {
  const client = new OpenAI({ baseURL: `${url}/api/v1`, apiKey: key, maxRetries: 0, fetch: fetchTwice });
  const { name, description, schema } = TOOL;
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: PROMPT },
  ];
  let cached = 0;
  for (let calls = 0; ; ) {
    const stream = await client.chat.completions.create({
      model: 'agent-chat',
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: 'function', function: { name, description, parameters: schema } }],
      messages,
    });
    calls += 1;
    if (leavesAt === calls - 1) {
      await leave(stream);
      return { calls, cached };
    }
    const answer: ChatAnswer = { content: '', reasoning_content: '', tool_calls: [] };
    for await (const { choices, usage } of stream) {
      addDelta(answer, choices[0]?.delta);
      cached += usage?.prompt_tokens_details?.cached_tokens ?? 0;
    }
    const [call] = answer.tool_calls;
    if (!call) return { calls, cached };
    messages.push({ role: 'assistant', ...answer }, { role: 'tool', tool_call_id: call.id, content: OUTPUT });
  }
}

function addDelta(answer: ChatAnswer, delta: OpenAI.ChatCompletionChunk.Choice.Delta | undefined): void {
  answer.content += delta?.content ?? '';
  answer.reasoning_content += (delta as { reasoning_content?: string } | undefined)?.reasoning_content ?? '';
  for (const { index, id = '', function: piece } of delta?.tool_calls ?? []) {
    answer.tool_calls[index] ??= { id, type: 'function', function: { name: piece?.name ?? '', arguments: '' } };
    answer.tool_calls[index].function.arguments += piece?.arguments ?? '';
  }
}

async function runResponses({ url, key, leavesAt }: SessionOptions): Promise<SessionResult> {
  const client = new OpenAI({ baseURL: `${url}/api/v1`, apiKey: key, maxRetries: 0, fetch: fetchTwice });
  const { name, description, schema } = TOOL;
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: PROMPT }];
  let cached = 0;
  for (let calls = 0; ; ) {
    const request: Omit<OpenAI.Responses.ResponseCreateParamsStreaming, 'stream'> = {
      model: 'agent-responses',
      instructions: SYSTEM,
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'low' },
      tools: [{ type: 'function', name, description, parameters: schema, strict: false }],
      input,
    };
    calls += 1;
    if (leavesAt === calls - 1) {
      await leave(await client.responses.create({ ...request, stream: true }));
      return { calls, cached };
    }
    const reply = await client.responses.stream(request).finalResponse();
    cached += reply.usage?.input_tokens_details.cached_tokens ?? 0;
    const call = reply.output.find((item) => item.type === 'function_call');
    if (!call) return { calls, cached };
    input.push(...(reply.output as OpenAI.Responses.ResponseInputItem[]), {
      type: 'function_call_output',
      call_id: call.call_id,
      output: OUTPUT,
    });
  }
}

export const SESSIONS: readonly Session[] = [runMessages, runChat, runResponses];
