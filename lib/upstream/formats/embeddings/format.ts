// Embeddings as the upstreams with chat completions speak them.
import { Buffer } from 'node:buffer';
import type { EmbeddingsFormat, Host, JsonObject, Vector } from '../../contract/provider.ts';
import { isFields, readFields } from '../../host/fields.ts';
import { readCount } from '../../host/token-counts.ts';

export function createEmbeddingsFormat({ fault }: Pick<Host, 'fault'>): EmbeddingsFormat {
  return {
    body: ({ model, inputs, tokens, dimensions }) => ({
      model,
      input: tokens ?? inputs,
      ...(dimensions !== undefined && { dimensions }),
    }),
    read(reply) {
      const { data, usage, error } = readFields(reply);
      if (error) throw fault.ofComplaint(reply, true);
      if (!Array.isArray(data)) {
        throw fault.ofComplaint(reply) ?? fault.make('protocol', 'a reply without a list of embeddings');
      }
      const entries = sortByIndex(data.map((entry: unknown) => readFields(entry)));
      const inputTokens = readPrompt(usage) ?? sumPrompts(entries);
      const vectors = entries.map(({ embedding }) => readVector(embedding));
      if (vectors.includes(undefined)) throw fault.make('protocol', 'an embedding is not a vector');
      return { vectors: vectors as Vector[], ...(inputTokens !== undefined && { inputTokens }) };
    },
  };
}

/**
 * From wherever the indexes count, and also if they are text. Some servers send no index, or the same one for all: then
 * the order of arrival counts.
 */
function sortByIndex(entries: readonly JsonObject[]): readonly JsonObject[] {
  const indexed = entries.map((entry) => ({ entry, index: Number(entry.index ?? Number.NaN) }));
  const indexes = new Set(indexed.map(({ index }) => index));
  if (indexes.size < entries.length || indexes.has(Number.NaN)) return entries;
  return indexed.sort((one, other) => one.index - other.index).map(({ entry }) => entry);
}

function readPrompt(usage: unknown): number | undefined {
  const { prompt_tokens: prompt, total_tokens: total } = readFields(usage);
  return readCount(prompt) ?? readCount(total);
}

/** Some servers count each input by itself. */
function sumPrompts(entries: readonly JsonObject[]): number | undefined {
  const counts = entries.map(({ usage }) => readPrompt(usage)).filter((count) => count !== undefined);
  return counts.length > 0 && counts.length === entries.length ? counts.reduce((sum, count) => sum + count) : undefined;
}

const FLOAT_BYTES = Float32Array.BYTES_PER_ELEMENT;

/** Base64 is of little-endian floats of 32 bits. What is in a list is checked with all vectors of the call. */
export function readVector(value: unknown): Vector | undefined {
  if (typeof value !== 'string') return isFields(value) && Array.isArray(value) ? value : undefined;
  const bytes = Buffer.from(value, 'base64');
  if (bytes.length % FLOAT_BYTES !== 0) return undefined;
  // A copy: a buffer of the pool may begin anywhere, and floats may not.
  return new Float32Array(Uint8Array.from(bytes).buffer);
}
