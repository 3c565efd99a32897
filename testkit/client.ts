// A plain HTTP client for tests: whole replies, streams of events, and connections that can be cut.
import { type Agent, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; undefined if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
  readonly json: any;
}

export interface SendOptions {
  readonly method?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: unknown;
  /** Reuses connections for further requests; without it each has its own. */
  readonly agent?: Agent;
}

export const MESSAGES = '/api/v1/messages';
export const CHAT = '/api/v1/chat/completions';
export const RESPONSES = '/api/v1/responses';
export const COMPACT = `${RESPONSES}/compact`;
export const COUNTS = [`${MESSAGES}/count_tokens`, `${RESPONSES}/input_tokens`] as const;
/** The dialects, for tests that apply to each. */
export const DIALECTS = [MESSAGES, CHAT, RESPONSES] as const;

/** Opens a request; the caller may cut it at any time. */
export function open(url: string, { method, key, headers = {}, body, agent }: SendOptions = {}): ClientRequest {
  const isWritten = body === undefined || typeof body === 'string' || Buffer.isBuffer(body);
  const payload = isWritten ? body : JSON.stringify(sayFor(url, body));
  const sent = request(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    agent: agent ?? false,
    headers: {
      ...(key !== undefined && { 'x-api-key': key }),
      ...(payload !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  sent.end(payload);
  return sent;
}

/** A body as an endpoint takes it: the responses dialect has other names for what the other two share. */
export function sayFor(url: string, body: unknown): unknown {
  const isResponses = [RESPONSES, COMPACT, COUNTS[1]].some((path) => url.endsWith(path));
  if (!isResponses || typeof body !== 'object' || body === null) return body;
  if (!('messages' in body)) return body;
  const { messages: input, max_tokens, ...more } = body as { messages: unknown; max_tokens?: unknown };
  return { input, ...(max_tokens !== undefined && { max_output_tokens: max_tokens }), ...more };
}

export async function send(url: string, options: SendOptions = {}): Promise<Reply> {
  const response = await readHead(open(url, options));
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return { status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) };
}

export function readHead(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once('response', resolve).once('error', reject);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface StreamEvent {
  readonly event: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
  readonly data: any;
}

const DATA = 'data: ';

/** The events of a stream exactly as on the wire: LF lines, one `data:` line each; anything else fails. */
export function parseEvents(text: string): readonly StreamEvent[] {
  if (!text.endsWith('\n\n')) throw new Error(`the stream does not end with an event: ${text.slice(-80)}`);
  return text
    .slice(0, -2)
    .split('\n\n')
    .filter((block) => block !== ': keep-alive')
    .map((block) => {
      const [, event] = /^event: ([^\n\r]+)\n/.exec(block) ?? [];
      // Not by one pattern: some have megabytes, more than it has stack for.
      const line = event === undefined ? block : block.slice(`event: ${event}\n`.length);
      const data = line.slice(DATA.length);
      if (!line.startsWith(DATA) || data === '' || data.includes('\n') || data.includes('\r')) {
        throw new Error(`not an event: ${JSON.stringify(block)}`);
      }
      return { event, data: data === '[DONE]' ? data : JSON.parse(data) };
    });
}

/** The body of a text call, as the messages and the chat dialect have it; `open` translates it for the third. */
export function ask(text: string, more: object = {}): object {
  return { model: 'model-a', max_tokens: 1000, messages: [{ role: 'user', content: text }], ...more };
}

/** The text of a stream's events in any dialect. */
export function joinText(events: readonly StreamEvent[]): string {
  return events
    .map(({ data }) => {
      if (/^response\.(?:output_text|refusal)\.delta$/.test(data?.type)) return data.delta;
      return data?.delta?.text ?? data?.choices?.[0]?.delta?.content ?? '';
    })
    .join('');
}

/** The error that ends a stream in any dialect. */
export function findFailure(events: readonly StreamEvent[]) {
  return events.map(({ data }) => data?.response?.error ?? data?.error).find((error) => error);
}

/** The text of a whole response. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
export function readResponseText({ output }: any): string {
  // biome-ignore lint/suspicious/noExplicitAny: as above
  const parts = output.flatMap(({ content = [] }: any) => content);
  return parts.map(({ text, refusal }: { text?: string; refusal?: string }) => text ?? refusal ?? '').join('');
}

/** The billing block of a stream in any dialect. */
export function findBilling(events: readonly StreamEvent[]) {
  const last = events.findLast(({ event, data }) => event === 'billing' || data?.billing || data?.response?.billing);
  return last?.event === 'billing' ? last.data : (last?.data.billing ?? last?.data.response?.billing);
}

/** Waits until a condition holds; fails after the time, by default as long as a busy machine may need. */
export async function until(holds: () => boolean | Promise<boolean>, withinMs = 30_000): Promise<void> {
  const start = performance.now();
  while (!(await holds())) {
    const waitedMs = performance.now() - start;
    if (waitedMs > withinMs) throw new Error(`it did not hold within ${withinMs} ms`);
    // The longer it takes, the less often it is polled.
    await new Promise((resolve) => setTimeout(resolve, Math.min(20, 5 + waitedMs / 50)));
  }
}
