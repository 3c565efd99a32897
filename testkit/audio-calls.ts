// Models with a price of audio, and upstreams that count the recordings of a prompt apart.
import { type Behaviour, chatChunk, SSE } from './upstream.ts';

/** RUB per 1M tokens. */
const AUDIO_PRICE = { input: '200', audio: '1200', cacheRead: '20', output: '1000' };

/** `chat-a` is on a chat upstream, `contents-a` on one of the contents format. */
export function audioCatalog(url: string, more: object = {}): object {
  const model = { type: 'text', provider: 'Test', audio: true, price: AUDIO_PRICE };
  return {
    rates: { USD: { rub: '100', from: '2026-01-01' } },
    upstreams: {
      chat: { plugin: 'openai-compatible', settings: { baseUrl: `${url}/v1`, apiKey: 'key' } },
      contents: { plugin: 'gemini', settings: { baseUrl: `${url}/v1beta`, apiKey: 'key' } },
    },
    models: [
      { ...model, id: 'chat-a', routes: [{ upstream: 'chat', model: 'c' }] },
      { ...model, id: 'contents-a', routes: [{ upstream: 'contents', model: 'g' }] },
    ],
    ...more,
  };
}

export interface AudioCounts {
  /** The whole prompt. */
  readonly prompt: number;
  /** Absent: not counted apart. */
  readonly audio?: unknown;
  readonly read?: number;
  readonly output: number;
}

export function audioChatAnswer({ prompt, audio, read = 0, output }: AudioCounts): Behaviour {
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: read, audio_tokens: audio },
  };
  const finish = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
  return ({ response }) => {
    response.writeHead(200, SSE);
    response.write(chatChunk('Hello there.'));
    response.end(
      `data: ${JSON.stringify(finish)}\n\ndata: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`,
    );
  };
}

export function audioContentsAnswer({ prompt, audio, read = 0, output }: AudioCounts): Behaviour {
  const candidate = { content: { role: 'model', parts: [{ text: 'Hello there.' }] }, finishReason: 'STOP', index: 0 };
  const usageMetadata = {
    promptTokenCount: prompt,
    cachedContentTokenCount: read,
    candidatesTokenCount: output,
    totalTokenCount: prompt + output,
    promptTokensDetails: [{ modality: 'AUDIO', tokenCount: audio }],
  };
  return ({ response }) => {
    response.writeHead(200, SSE);
    response.end(`data: ${JSON.stringify({ candidates: [candidate], usageMetadata })}\n\n`);
  };
}

/** A body with a recording of so many bytes, a hundredth of them tokens. */
export function askWithRecording(model: string, bytes: number, more: object = {}): object {
  const input_audio = { data: Buffer.alloc(bytes, 1).toString('base64'), format: 'mp3' };
  const content = [
    { type: 'text', text: 'What is said?' },
    { type: 'input_audio', input_audio },
  ];
  return { model, max_tokens: 2000, messages: [{ role: 'user', content }], ...more };
}
