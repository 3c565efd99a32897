// Asks an upstream for vectors, in as many requests as it needs, and checks what any plugin returns.
import type { Host } from '../contract/host.ts';
import type { EmbedCall, Embeddings, Vector } from '../contract/provider.ts';
import { upstreamFault } from './fault.ts';
import { readCount } from './token-counts.ts';

/** Vectors as numbers may take 20 bytes each; 2,048 vectors of 3,072 numbers in base64 take 34 MB. */
const REPLY_BYTES_MAX = 128 * 1024 * 1024;

/** What the vectors of a reply may take: JSON is parsed in one tick of the event loop, a hundred megabytes in a second. */
const REPLY_BYTES = {
  envelope: 64 * 1024,
  /** Beside the numbers of a vector. */
  perVector: 4 * 1024,
  /** Twenty digits, indented on a line of its own. */
  perNumber: 48,
  /** Of an input that is sent back. */
  perChar: 6,
};

/** Twice as many as any known model makes, where a call leaves it to the model. */
const DIMENSIONS_MAX = 16 * 1024;

/** Requests of one call at the same time. */
const REQUESTS_AT_ONCE = 4;

/** `Host.embed`. */
export function createEmbed({ json }: Pick<Host, 'json'>): Host['embed'] {
  return async (call, { url, format, inputsMax = Number.POSITIVE_INFINITY, ...init }) => {
    const parts = splitCall(call, inputsMax);
    const answers: Embeddings[] = [];
    // The first failure is the call's: requests that are under way are of no use any more.
    const failed = new AbortController();
    const signal = AbortSignal.any([init.signal, failed.signal]);
    const left = parts.entries();
    const work = async () => {
      for (const [at, part] of left) {
        const { value } = await json(url, { ...init, body: () => format.body(part), signal }, limitReply(part));
        // Other calls get a turn between parsing and decoding, which may be tens of milliseconds each.
        await new Promise((resolve) => setImmediate(resolve));
        answers[at] = format.read(value);
        // A vector too few in one reply must not be made up for by one too many in another.
        checkCount(answers[at], part);
      }
    };
    try {
      await Promise.all(Array.from({ length: Math.min(REQUESTS_AT_ONCE, parts.length) }, work));
    } catch (error) {
      failed.abort(error);
      throw error;
    }
    return joinAnswers(answers);
  };
}

/** The most bytes of a reply. */
function limitReply(call: EmbedCall): number {
  const { envelope, perVector, perNumber, perChar } = REPLY_BYTES;
  const texts: readonly (string | readonly number[])[] = call.tokens ?? call.inputs;
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  const vector = perVector + perNumber * (call.dimensions ?? DIMENSIONS_MAX);
  return Math.min(envelope + perChar * length + texts.length * vector, REPLY_BYTES_MAX);
}

function splitCall(call: EmbedCall, inputsMax: number): readonly EmbedCall[] {
  const { inputs, tokens } = call;
  const count = countInputs(call);
  if (count <= inputsMax) return [call];
  return Array.from({ length: Math.ceil(count / inputsMax) }, (_, at) => {
    const [from, to] = [at * inputsMax, (at + 1) * inputsMax];
    return { ...call, inputs: inputs.slice(from, to), ...(tokens && { tokens: tokens.slice(from, to) }) };
  });
}

function countInputs({ inputs, tokens }: Pick<EmbedCall, 'inputs' | 'tokens'>): number {
  return (tokens ?? inputs).length;
}

/** A sum that lacks a part would be billed as if it were all. */
function joinAnswers(answers: readonly Embeddings[]): Embeddings {
  const counts = answers.map(({ inputTokens }) => readCount(inputTokens)).filter((count) => count !== undefined);
  const isCounted = counts.length === answers.length;
  return {
    vectors: answers.flatMap(({ vectors }) => vectors),
    ...(isCounted && { inputTokens: counts.reduce((sum, count) => sum + count, 0) }),
  };
}

/** What a plugin returns for a call, with an absurd count left out; throws a `protocol` fault if it cannot be used. */
export function checkEmbeddings(answer: Embeddings, call: Pick<EmbedCall, 'inputs' | 'tokens'>): Embeddings {
  checkCount(answer, call);
  const { vectors, inputTokens } = answer;
  const [first] = vectors as readonly Vector[];
  const length = first?.length ?? 0;
  for (const vector of vectors as readonly Vector[]) {
    if (vector.length !== length || length === 0) throw upstreamFault('protocol', 'vectors of different lengths');
    if (!areFloats(vector)) throw upstreamFault('protocol', 'a vector has numbers that are no floats');
  }
  const counted = readCount(inputTokens);
  return { vectors, ...(counted !== undefined && { inputTokens: counted }) };
}

function checkCount({ vectors }: Embeddings, call: Pick<EmbedCall, 'inputs' | 'tokens'>): void {
  const count = countInputs(call);
  if (Array.isArray(vectors) && vectors.length === count) return;
  throw upstreamFault('protocol', `${vectors?.length} vectors for ${count} inputs`);
}

const FLOAT_MAX = 3.4028234663852886e38;

/** By index: there may be millions of numbers, and an iterator takes several times as long. */
function areFloats(vector: Vector): boolean {
  for (let at = 0; at < vector.length; at += 1) if (!isFloat(vector[at])) return false;
  return true;
}

/** Of 32 bits, as which clients may want it. */
function isFloat(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) <= FLOAT_MAX;
}
