// Reads the image or video that an upstream made: passed on as it arrives, never whole in memory.

import { SNIFF_BYTES, type SniffedImage, type SniffedVideo, sniff, sniffWhole } from '../base/sniff.ts';
import { createWholeCheck } from '../base/whole-file.ts';
import { readBytes } from '../stream/bytes.ts';
import { FetchFailure } from './failure.ts';
import { checkReply, type Reply } from './reply.ts';

export interface RemoteResult {
  /** The type, detected from the first bytes. */
  readonly sniffed: SniffedImage | SniffedVideo;
  /** The declared length; a body of another length fails. */
  readonly length: number | undefined;
  /**
   * Can be read once. Fails if the body breaks off, stalls, is too large or a file that is cut short; then discard what
   * was stored.
   */
  readonly chunks: AsyncIterable<Uint8Array>;
}

interface ResultLimits {
  readonly kind: 'image' | 'video';
  readonly bytesMax: number;
  /** The maximum time without a byte; time spent by the reader does not count. */
  readonly idleMs: number;
}

/** Resolves once the type is known from the first bytes. Throws a `FetchFailure`, as reading the chunks does. */
export async function openResult(reply: Reply, limits: ResultLimits, signal: AbortSignal): Promise<RemoteResult> {
  const length = checkReply(reply);
  if (length !== undefined && length > limits.bytesMax) throw new FetchFailure('too-large');
  const chunks = readCheckedChunks(reply, { ...limits, length }, signal);
  const head: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < SNIFF_BYTES) {
    const { value, done } = await chunks.next();
    if (done) break;
    head.push(value);
    bytes += value.length;
  }
  const sniffed = (bytes < SNIFF_BYTES ? sniffWhole : sniff)(Buffer.concat(head));
  if (sniffed?.kind !== limits.kind) throw new FetchFailure('unsupported');
  return { sniffed, length, chunks: passOnWhole(head, chunks, sniffed.format) };
}

/** A server that gives up may end a body as if it were all. */
async function* passOnWhole(
  head: readonly Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
  format: SniffedImage['format'] | SniffedVideo['format'],
): AsyncGenerator<Uint8Array> {
  const check = createWholeCheck(format);
  for (const chunk of head) {
    check.push(chunk);
    yield chunk;
  }
  for await (const chunk of rest) {
    check.push(chunk);
    yield chunk;
  }
  if (!check.isWhole()) throw new FetchFailure('cut-short');
}

async function* readCheckedChunks(
  reply: Reply,
  limits: ResultLimits & { readonly length: number | undefined },
  outer: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const stalled = new AbortController();
  const signal = AbortSignal.any([outer, stalled.signal]);
  const toError = (cause: Error) => new FetchFailure('broken', { cause });
  const arrivals = readBytes({ body: reply.source, signal, toError });
  let bytes = 0;
  for (;;) {
    const timer = setTimeout(() => stalled.abort(new FetchFailure('slow')), limits.idleMs);
    // undici reports an error if the server closes before a slow reader has taken the last bytes, although all arrived.
    const isWhole = () => bytes === limits.length;
    const { value: chunks, done } = await arrivals
      .next()
      .catch((error) => (isWhole() ? { value: undefined, done: true as const } : Promise.reject(error)))
      .finally(() => clearTimeout(timer));
    if (done) return;
    for (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > limits.bytesMax) throw new FetchFailure('too-large');
      yield chunk;
    }
  }
}
