// Embeddings for tests: a catalog, and what its upstream answers.
import type { Behaviour } from './upstream.ts';

export const EMBEDDINGS = '/api/v1/embeddings';

/** RUB per 1M tokens: a thousand tokens cost 1 RUB. */
const PRICE = { input: '1000' };

/** Two models of one upstream each, one that falls back on the other, and one that takes tokens. */
export function embeddingCatalog(url: string, more: object = {}): object {
  const settings = { baseUrl: `${url}/v1`, apiKey: 'up-secret-key-1' };
  const base = { type: 'embedding', provider: 'Test', price: PRICE };
  return {
    upstreams: {
      up: { plugin: 'openai-compatible', settings },
      other: { plugin: 'openai-compatible', settings: { ...settings, baseUrl: `${url}/other/v1`, vectors: 'float' } },
    },
    models: [
      {
        ...base,
        id: 'embed-a',
        aliases: ['ea'],
        routes: [
          { upstream: 'up', model: 'up-embed' },
          { upstream: 'other', model: 'other-embed' },
        ],
        dimensions: { default: 3, min: 1, max: 3 },
      },
      {
        ...base,
        id: 'embed-tokens',
        tokens: true,
        context: 10,
        maxInputs: 3,
        routes: [{ upstream: 'up', model: 'up-embed' }],
        dimensions: { default: 3 },
      },
      { ...base, id: 'embed-open', routes: [{ upstream: 'up', model: 'up-embed' }] },
      {
        id: 'model-a',
        type: 'text',
        provider: 'Test',
        routes: [{ upstream: 'up', model: 'up-model' }],
        price: { input: '1000', output: '5000' },
      },
    ],
    retired: { 'old-embed': 'embed-a' },
    ...more,
  };
}

interface EmbedAnswer {
  /** By input; default: as many numbers as asked for, or three. */
  readonly vectors?: readonly unknown[];
  /** Of all inputs; null for none. */
  readonly tokens?: number | null;
}

/** Vectors that tell which input they are of, in the requested encoding. */
export function embedAnswer({ vectors, tokens = 7 }: EmbedAnswer = {}): Behaviour {
  return ({ body, response }) => {
    const {
      input,
      dimensions = 3,
      encoding_format: encoding,
    } = body as {
      input: unknown[];
      dimensions?: number;
      encoding_format?: string;
    };
    const made = vectors ?? input.map((_, at) => Array.from({ length: dimensions }, (__, place) => at + place / 4));
    const encode = (vector: unknown) =>
      encoding === 'base64' && vectors === undefined
        ? Buffer.from(Float32Array.from(vector as number[]).buffer).toString('base64')
        : vector;
    const data = made.map((vector, index) => ({ object: 'embedding', index, embedding: encode(vector) }));
    const usage = tokens === null ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'list', data, model: 'up-embed', ...usage }));
  };
}
