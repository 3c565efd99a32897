// The dialects under one contract: how each says the same thing on the wire, and how what it writes is read back.
import { expect } from 'chai';
import { chatDialect } from '../../../lib/api/dialects/chat/dialect.ts';
import type { Dialect } from '../../../lib/api/dialects/dialect.ts';
import { messageDialect } from '../../../lib/api/dialects/message/dialect.ts';
import { responsesDialect } from '../../../lib/api/dialects/responses/dialect.ts';
import { createEcho } from '../../../lib/api/dialects/responses/echo.ts';
import type { FinishReason, StreamPart } from '../../../lib/stream/part.ts';
import { joinText, parseEvents, type StreamEvent } from '../../../testkit/client.ts';

export interface Subject {
  readonly name: string;
  readonly dialect: Dialect;
  /** The body of a request with a system prompt as the dialect has it. */
  body(content: Asked): Record<string, unknown>;
  /** What the dialect calls the field that the others have at this path; undefined if it has none. */
  fieldAt(path: string): string | undefined;
  /** An image as a block of content. */
  image(source: { readonly url: string } | { readonly data: string }): object;
  /** The wire's word for the end of an answer. */
  readonly reasons: Readonly<Record<FinishReason, string>>;
  /** The body of an error. */
  envelope(error: { readonly type: string; readonly code: string; readonly message: string }): object;
  readonly idPrefix: string;
  /** What a client knows after a stream. */
  read(events: readonly StreamEvent[]): StreamRead;
  /** What a client knows after a reply. */
  readReply(reply: object): Answer;
}

export interface Asked {
  readonly system?: string | readonly object[];
  readonly messages?: unknown;
  readonly [field: string]: unknown;
}

export interface Answer {
  readonly id: string;
  readonly model: string;
  readonly text: string;
  readonly reason: string;
  readonly input: number;
  readonly output: number;
  readonly billing: unknown;
}

export type StreamRead = Partial<Answer> & {
  /** The body of the error event, if there was one. */
  readonly error?: object;
  /** What kinds of events came, in order; repeated fragments once. */
  readonly kinds: readonly string[];
};

// biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
type Json = any;

const defined = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

function withoutRepeats(kinds: readonly string[]): readonly string[] {
  return kinds.filter((kind, at) => kind !== kinds[at - 1]);
}

const message: Subject = {
  name: 'message',
  dialect: messageDialect,
  body: (asked) => ({ model: 'model-a', ...asked }),
  fieldAt: (path) => path,
  image: (source) =>
    'url' in source
      ? { type: 'image', source: { type: 'url', url: source.url } }
      : { type: 'image', source: { type: 'base64', media_type: 'image/png', data: source.data } },
  reasons: { stop: 'end_turn', length: 'max_tokens', filter: 'refusal', tool: 'tool_use', other: 'end_turn' },
  envelope: ({ type, message: words }) => ({ type: 'error', error: { type, message: words } }),
  idPrefix: 'msg_',
  read(events) {
    const dataOf = (name: string): Json => events.find(({ event }) => event === name)?.data;
    const start = dataOf('message_start')?.message;
    const delta = dataOf('message_delta');
    return {
      ...defined({
        id: start?.id,
        model: start?.model,
        input: start?.usage.input_tokens,
        reason: delta?.delta.stop_reason,
        output: delta?.usage.output_tokens,
        billing: withoutType(dataOf('billing')),
        error: dataOf('error'),
      }),
      text: joinText(events),
      kinds: withoutRepeats(events.map(({ event }) => String(event))),
    };
  },
  readReply(reply: Json) {
    return {
      id: reply.id,
      model: reply.model,
      text: reply.content.map((block: Json) => block.text).join(''),
      reason: reply.stop_reason,
      input: reply.usage.input_tokens,
      output: reply.usage.output_tokens,
      billing: reply.billing,
    };
  },
};

const chat: Subject = {
  name: 'chat',
  dialect: chatDialect,
  body: ({ system, messages, ...more }) => ({
    model: 'model-a',
    messages: system === undefined ? messages : [{ role: 'system', content: system }, ...(messages as unknown[])],
    ...more,
  }),
  fieldAt: (path) => path,
  image: (source) => ({
    type: 'image_url',
    image_url: { url: 'url' in source ? source.url : `data:image/png;base64,${source.data}` },
  }),
  reasons: { stop: 'stop', length: 'length', filter: 'content_filter', tool: 'tool_calls', other: 'stop' },
  envelope: ({ type, code, message: words }) => ({ error: { message: words, type, code } }),
  idPrefix: 'chatcmpl_',
  read(events) {
    const chunks: Json[] = events.map(({ data }) => data);
    const last = chunks.find((chunk) => chunk.usage);
    const kindOf = (chunk: Json): string => {
      if (chunk === '[DONE]') return 'done';
      if (chunk.error) return 'error';
      if (chunk.usage) return 'final';
      return chunk.choices[0].delta.role ? 'role' : 'content';
    };
    return {
      ...defined({
        id: chunks[0]?.id,
        model: chunks[0]?.model,
        input: last?.usage.prompt_tokens,
        output: last?.usage.completion_tokens,
        reason: last?.choices[0].finish_reason,
        billing: last?.billing,
        error: chunks.find((chunk) => chunk.error),
      }),
      text: joinText(events),
      kinds: withoutRepeats(chunks.map(kindOf)),
    };
  },
  readReply(reply: Json) {
    return {
      id: reply.id,
      model: reply.model,
      text: reply.choices[0].message.content,
      reason: reply.choices[0].finish_reason,
      input: reply.usage.prompt_tokens,
      output: reply.usage.completion_tokens,
      billing: reply.billing,
    };
  },
};

const responses: Subject = {
  name: 'responses',
  dialect: responsesDialect,
  body: ({ system, messages, max_tokens: maxTokens, ...more }) => ({
    model: 'model-a',
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
    ...(typeof system === 'string' && { instructions: system }),
    input: Array.isArray(system) ? [{ role: 'system', content: system }, ...(messages as unknown[])] : messages,
    ...more,
  }),
  fieldAt: (path) =>
    path === 'max_completion_tokens'
      ? undefined
      : path.replace(/^messages/, 'input').replace(/^max_tokens/, 'max_output_tokens'),
  image: (source) => ({
    type: 'input_image',
    image_url: 'url' in source ? source.url : `data:image/png;base64,${source.data}`,
  }),
  reasons: {
    stop: 'completed',
    length: 'max_output_tokens',
    filter: 'content_filter',
    tool: 'completed',
    other: 'completed',
  },
  envelope: ({ type, code, message: words }) => ({ error: { message: words, type, code } }),
  idPrefix: 'resp_',
  read(events) {
    const all: Json[] = events.map(({ data }) => data);
    const { response } = all.findLast((data) => data.response) ?? {};
    const { code, type, message: words } = response?.error ?? {};
    return {
      ...defined({
        ...readResponse(response),
        error: response?.error ? { error: { message: words, type, code } } : undefined,
      }),
      text: joinText(events),
      kinds: withoutRepeats(events.map(({ event }) => String(event))),
    };
  },
  readReply: (reply: Json) => ({ ...readResponse(reply), text: textIn(reply) }),
};

function readResponse(response: Json): Omit<Answer, 'text'> {
  return {
    id: response.id,
    model: response.model,
    reason: response.incomplete_details?.reason ?? response.status,
    input: response.usage?.input_tokens,
    output: response.usage?.output_tokens,
    billing: response.billing && leavePayer(response.billing),
  };
}

/** What the format's vendor has in this field. */
function leavePayer({ payer, ...billing }: Json): Json {
  expect(payer).to.equal('developer');
  return billing;
}

function textIn({ output }: Json): string {
  return output
    .flatMap((item: Json) => item.content ?? [])
    .map((part: Json) => part.text)
    .join('');
}

export const SUBJECTS: readonly Subject[] = [message, chat, responses];

/** The call of an answer, for dialects that repeat its request. */
export const ANSWERED = {
  id: 'x',
  vision: false,
  echo: createEcho({ model: 'model-a', input: 'hi' }, new Map()),
} as const;

/** Renders arrays of parts and reads the stream strictly. */
export function renderAll({ dialect }: Subject, arrays: readonly (readonly StreamPart[])[]): string {
  const renderer = dialect.createRenderer(ANSWERED);
  return arrays.flatMap((parts) => renderer.push(parts)).join('');
}

export function readStream(subject: Subject, text: string): StreamRead {
  return subject.read(parseEvents(text));
}

/** The event says that it is a ping. */
function withoutType(billing: unknown): unknown {
  const { type, ...block } = (billing ?? {}) as Record<string, unknown>;
  return type === 'ping' ? block : billing;
}
