// Decodes a body that an upstream compressed although it was asked not to.
import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createUnzip, createZstdDecompress } from 'node:zlib';
import type { ByteSource, ByteTaker } from '../../stream/bytes.ts';
import { upstreamFault } from './fault.ts';

/** Like browsers, these take a body without its trailer: whether an answer is whole, its end mark says. */
const unzip = () => createUnzip({ finishFlush: constants.Z_SYNC_FLUSH });
const CODINGS: ReadonlyMap<unknown, () => Transform> = new Map([
  ['gzip', unzip],
  ['x-gzip', unzip],
  ['deflate', unzip],
  ['br', () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH })],
  ['zstd', () => createZstdDecompress({ finishFlush: constants.ZSTD_e_flush })],
]);

/** The bytes as they were before the coding, a little at a time; of an unknown coding, as they came. */
export function decodeSource(source: ByteSource, coding: string | string[]): ByteSource {
  const name = String(coding).trim().toLowerCase();
  const open = CODINGS.get(name);
  return open ? new DecodedSource(source, open(), name) : source;
}

/** Readers limit what they take, and pause: a small body that stands for gigabytes is not decoded further. */
class DecodedSource implements ByteSource {
  readonly #source: ByteSource;
  readonly #decoder: Transform;
  #taker: ByteTaker | undefined;
  #over: 'no' | 'ended' | 'failed' = 'no';
  /** Why the source broke off: told once what came before it is decoded. */
  #error: Error | undefined;

  constructor(source: ByteSource, decoder: Transform, coding: string) {
    this.#source = source;
    this.#decoder = decoder;
    decoder.on('drain', () => source.resume());
    decoder.on('end', () => this.#end());
    decoder.on('error', (error) => {
      this.#fail(upstreamFault('protocol', `the answer is not the ${coding} that it is said to be: ${error.message}`));
      source.destroy();
    });
  }

  open(taker: ByteTaker): void {
    const isFirst = !this.#taker;
    this.#taker = taker;
    if (this.#over === 'ended') taker.end();
    else if (this.#over === 'failed') taker.fail(this.#error as Error);
    else if (isFirst) this.#begin();
    else this.resume();
  }

  #begin(): void {
    const decoder = this.#decoder;
    decoder.on('data', (chunk: Buffer) => this.#taker?.data(chunk));
    this.#source.open({
      data: (chunk) => {
        if (this.#over === 'no' && !decoder.write(chunk)) this.#source.pause();
      },
      end: () => decoder.end(),
      fail: (error) => {
        this.#error ??= error;
        if (decoder.destroyed) this.#fail(error);
        else decoder.end();
      },
    });
  }

  pause(): void {
    this.#decoder.pause();
  }

  resume(): void {
    this.#decoder.resume();
  }

  destroy(): void {
    this.#decoder.destroy();
    this.#source.destroy();
  }

  #end(): void {
    if (this.#error) {
      this.#fail(this.#error);
      return;
    }
    this.#over = 'ended';
    this.#taker?.end();
  }

  #fail(error: Error): void {
    if (this.#over !== 'no') return;
    this.#over = 'failed';
    this.#error = error;
    this.#taker?.fail(error);
  }
}
