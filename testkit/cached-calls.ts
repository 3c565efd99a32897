// Models with prices for cached tokens and long prompts, and upstreams that report such tokens.
import { type Behaviour, chatChunk, SSE } from './upstream.ts';

/** RUB per 1M tokens, of both models. */
const CACHE_PRICE = {
  input: '200',
  cacheRead: '20',
  cacheWrite: '250',
  cacheWrite1h: '400',
  output: '1000',
  bands: [{ above: 200_000, input: '400', cacheRead: '40', output: '1500' }],
};

/** `chat-a` is on a chat upstream, `message-a` on one of the messages format, which takes markers. */
export function cacheCatalog(url: string, price: object = CACHE_PRICE): object {
  const model = { type: 'text', provider: 'Test', price, upstreamAdditions: 5_000_000 };
  return {
    upstreams: {
      chat: { plugin: 'openai-compatible', settings: { baseUrl: `${url}/v1`, apiKey: 'key', cacheMarkers: 'send' } },
      message: { plugin: 'anthropic', settings: { baseUrl: url, apiKey: 'key' } },
    },
    models: [
      { ...model, id: 'chat-a', routes: [{ upstream: 'chat', model: 'c' }] },
      { ...model, id: 'message-a', routes: [{ upstream: 'message', model: 'm' }] },
    ],
  };
}

export interface ChatCounts {
  /** The whole prompt. */
  readonly prompt: number;
  readonly read?: number;
  readonly written?: number;
  readonly output: number;
  readonly reasoning?: number;
}

function chatCounts({ prompt, read = 0, written = 0, output, reasoning = 0 }: ChatCounts): object {
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

/** The end of a chat stream. */
export function cachedChatEnd(counts: ChatCounts): string {
  const finish = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  return `data: ${finish}\n\ndata: ${JSON.stringify({ choices: [], usage: chatCounts(counts) })}\n\ndata: [DONE]\n\n`;
}

export function cachedChatAnswer(counts: ChatCounts): Behaviour {
  return ({ response }) => {
    response.writeHead(200, SSE);
    response.end(chatChunk('Hello there.') + cachedChatEnd(counts));
  };
}

export interface MessageCounts {
  /** Neither read nor written. */
  readonly input: number;
  readonly read?: number;
  readonly minutes?: number;
  readonly hour?: number;
  readonly output: number;
}

export function cachedMessageAnswer({ input, read = 0, minutes = 0, hour = 0, output }: MessageCounts): Behaviour {
  const usage = {
    input_tokens: input,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: minutes + hour,
    cache_creation: { ephemeral_5m_input_tokens: minutes, ephemeral_1h_input_tokens: hour },
  };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage };
  const events: readonly object[] = [
    { type: 'message_start', message: { ...message, usage: { ...usage, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello there.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: output } },
    { type: 'message_stop' },
  ];
  return ({ response }) => {
    response.writeHead(200, SSE);
    for (const event of events)
      response.write(`event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  };
}
