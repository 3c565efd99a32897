// The image in a reply as it is read: how much of it, into how much memory, and when it is given up.
import type { IncomingHttpHeaders } from 'node:http';
import { expect } from 'chai';
import { SNIFF_BYTES } from '../../lib/base/sniff.ts';
import { FetchFailure } from '../../lib/media/failure.ts';
import { IMAGE_BYTES_MAX } from '../../lib/media/image.ts';
import { readImageReply } from '../../lib/media/image-reply.ts';
import type { ByteTaker } from '../../lib/stream/bytes.ts';
import { createBudget } from './budget.ts';
import { HTML, PNG } from './sample-images.ts';

const signal = new AbortController().signal;

/** A PNG of that many bytes. */
const image = (bytes: number) => Buffer.concat([PNG, Buffer.alloc(bytes - PNG.length, 'more')]);

interface Read {
  readonly bytes: Buffer | undefined;
  readonly reason: string | undefined;
  /** With the code of what broke. */
  readonly message: string | undefined;
  /** The chunks that were taken before the source was closed. */
  readonly chunks: number;
  /** The most memory that was held. */
  readonly held: number;
}

async function read(
  chunks: readonly Uint8Array[],
  headers: IncomingHttpHeaders = {},
  failure?: Error,
  bytesMax = 3 * IMAGE_BYTES_MAX,
): Promise<Read> {
  const { budget, state } = createBudget(bytesMax);
  let isClosed = false;
  let taken = 0;
  const source = {
    open(taker: ByteTaker) {
      for (const chunk of chunks) {
        if (isClosed) return taker.fail(new Error('closed'));
        taken += 1;
        taker.data(chunk);
      }
      if (failure) taker.fail(failure);
      else taker.end();
    },
    pause() {},
    resume() {},
    destroy() {
      isClosed = true;
    },
  };
  const reply = { status: 200, headers, source, close() {} };
  try {
    const made = await readImageReply(reply, budget, signal);
    const bytes = Buffer.from(made.bytes);
    made.release();
    expect(state.taken).to.equal(0);
    return { bytes, reason: undefined, message: undefined, chunks: taken, held: state.most };
  } catch (error) {
    expect(state.taken).to.equal(0);
    expect(error).to.be.instanceOf(FetchFailure);
    const { reason, message } = error as FetchFailure;
    return { bytes: undefined, reason, message, chunks: taken, held: state.most };
  }
}

const declared = (bytes: number): IncomingHttpHeaders => ({ 'content-length': `${bytes}` });
const cut = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));

describe('the image in a reply', () => {
  it('may be as large as the limit, with and without a length, and no larger', async () => {
    for (const [bytes, reason] of [
      [IMAGE_BYTES_MAX, undefined],
      [IMAGE_BYTES_MAX + 1, 'too-large'],
    ] as const) {
      const whole = image(bytes);
      for (const headers of [{}, declared(bytes)]) {
        const found = await read(cut(whole, 1_000_000), headers);
        expect(found.reason).to.equal(reason);
        if (!reason) expect(found.bytes?.equals(whole)).to.equal(true);
      }
    }
  });

  it('takes exactly the memory of its length, and without one at most twice what came', async () => {
    const whole = image(300_000);
    expect(await read(cut(whole, 7_000), declared(whole.length))).to.include({ held: whole.length, reason: undefined });
    const { held, bytes } = await read(cut(whole, 7_000));
    expect(bytes?.equals(whole)).to.equal(true);
    // While it grows, it is held twice.
    expect(held).to.be.within(whole.length, 3 * whole.length);
  });

  it('is given up at the chunk that completes its first bytes, if they are no image’s', async () => {
    const rest = Buffer.alloc(100);
    for (const [first, chunks] of [
      [SNIFF_BYTES - 1, 2],
      [SNIFF_BYTES, 1],
      [SNIFF_BYTES + 1, 1],
    ] as const) {
      const html = Buffer.concat([HTML, Buffer.alloc(SNIFF_BYTES)]).subarray(0, first);
      expect(await read([html, rest, rest]), `${first}`).to.include({ reason: 'unsupported', chunks });
    }
    expect(await read([HTML.subarray(0, 5)])).to.include({ reason: 'unsupported' });
    expect(await read([])).to.include({ reason: 'unsupported' });
  });

  it('is not begun if a larger one, or another file, is declared', async () => {
    expect(await read([PNG], declared(IMAGE_BYTES_MAX + 1))).to.include({ reason: 'too-large', chunks: 0, held: 0 });
    expect(await read([PNG], { 'content-type': 'text/html' })).to.include({ reason: 'unsupported', chunks: 0 });
  });

  it('needs room for its length, and for what comes beyond', async () => {
    expect(await read([PNG], declared(200), undefined, 199)).to.include({ reason: 'no-memory', chunks: 0 });
    expect(await read([PNG, Buffer.alloc(100_000)], {}, undefined, 100_000)).to.include({ reason: 'no-memory' });
  });

  it('is broken if its connection is', async () => {
    const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    expect(await read([PNG], {}, reset)).to.include({ reason: 'broken', message: 'broken (ECONNRESET)' });
  });
});
