// The sandbox's vectors: the same text always gets the same one, and texts that share words get similar ones.
import { createHash } from 'node:crypto';
import type { EmbedCall, Embeddings, Host } from '../../lib/upstream/contract/provider.ts';
import { sufferFrom } from './markers.ts';

const DIMENSIONS = 256;
/** The pause of `[[slow]]`. */
const SLOW_MS = 1_000;

export async function embed(call: EmbedCall, host: Host, signal: AbortSignal): Promise<Embeddings> {
  const { inputs, dimensions = DIMENSIONS } = call;
  const markers = await sufferFrom(inputs.join('\n'), host, signal);
  if (markers.has('[[slow]]')) await host.clock.sleep(SLOW_MS, signal);
  if (markers.has('[[empty]]')) return { vectors: [] };
  const words = inputs.map(splitWords);
  const vectors = words.map((own) => (markers.has('[[undecodable]]') ? [Number.NaN] : sumUp(own, dimensions)));
  return { vectors, inputTokens: words.reduce((sum, { length }) => sum + length, 0) };
}

/** A word is a token, here as in prompts; a text without one counts as one. */
function splitWords(text: string): readonly string[] {
  return text.toLowerCase().match(/\S+/g) ?? [text];
}

/** Each word adds to one place, by its hash; the sum has length 1, as vectors of models have. */
function sumUp(words: readonly string[], dimensions: number): readonly number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const word of words) {
    const hash = createHash('sha256').update(word).digest();
    const at = hash.readUInt32LE(0) % dimensions;
    // Never zero, so that no two words cancel each other out.
    vector[at] = (vector[at] as number) + 1 + hash.readUInt8(4) / 256;
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}
