// What becomes of a compressed source that the test drives by hand: what came before its end counts, and it is let go of.
import { once } from 'node:events';
import { createBrotliCompress, createDeflate, createGzip, createZstdCompress, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { ByteSource, ByteTaker } from '../../../lib/stream/bytes.ts';
import { decodeSource } from '../../../lib/upstream/host/decoding.ts';
import { isUpstreamFault } from '../../../lib/upstream/host/fault.ts';

class Source implements ByteSource {
  readonly calls: string[] = [];
  taker: ByteTaker | undefined;

  open(taker: ByteTaker): void {
    this.taker = taker;
  }
  pause(): void {
    this.calls.push('pause');
  }
  resume(): void {
    this.calls.push('resume');
  }
  destroy(): void {
    this.calls.push('destroy');
  }
}

describe('a compressed source', () => {
  let source: Source;
  let told: string[];
  let over: Promise<unknown>;
  let taker: ByteTaker;

  beforeEach(() => {
    source = new Source();
    told = [];
    const target = new EventTarget();
    over = once(target, 'over');
    const tell = (what: string) => {
      told.push(what);
      target.dispatchEvent(new Event('over'));
    };
    taker = {
      data: (chunk) => void told.push(Buffer.from(chunk).toString()),
      end: () => tell('(end)'),
      fail: (error) => tell(isUpstreamFault(error) ? `(${error.kind})` : `(${error.message})`),
    };
  });

  it('that breaks off is told to have done so after what came before', async () => {
    decodeSource(source, 'gzip').open(taker);
    source.taker?.data(gzipSync('Hello'));
    source.taker?.fail(new Error('reset'));
    await over;
    expect(told).to.deep.equal(['Hello', '(reset)']);
  });

  for (const [coding, coder] of [
    ['gzip', createGzip()],
    ['deflate', createDeflate()],
    ['br', createBrotliCompress()],
    ['zstd', createZstdCompress()],
  ] as const) {
    it(`of ${coding} without its trailer is whole`, async () => {
      const pieces: Buffer[] = [];
      coder.on('data', (piece: Buffer) => pieces.push(piece)).write('Hello');
      await new Promise<void>((resolve) => coder.flush(resolve));
      decodeSource(source, coding).open(taker);
      source.taker?.data(Buffer.concat(pieces));
      source.taker?.end();
      await over;
      expect(told).to.deep.equal(['Hello', '(end)']);
    });
  }

  it('that is not what it is said to be is let go of', async () => {
    decodeSource(source, 'gzip').open(taker);
    source.taker?.data(Buffer.from('plain text'));
    await over;
    expect([told, source.calls]).to.deep.equal([['(protocol)'], ['destroy']]);
  });

  it('tells its end, or how it failed, to a later reader too', async () => {
    for (const [body, said] of [
      [gzipSync('Hello'), '(end)'],
      [Buffer.from('plain text'), '(protocol)'],
    ] as const) {
      const reading = decodeSource(source, 'gzip');
      await new Promise<void>((resolve) => {
        reading.open({ data: () => undefined, end: resolve, fail: () => resolve() });
        source.taker?.data(body);
        source.taker?.end();
      });
      reading.open(taker);
      expect(told.splice(0)).to.deep.equal([said]);
    }
  });

  it('waits for its reader, and goes on with the next one where that left off', async () => {
    const reading = decodeSource(source, 'gzip');
    const first = Promise.withResolvers<string>();
    const fail = () => undefined;
    reading.open({
      data: (chunk) => {
        reading.pause();
        first.resolve(Buffer.from(chunk).toString());
      },
      end: fail,
      fail,
    });
    const coder = createGzip();
    coder.on('data', (piece: Buffer) => source.taker?.data(piece)).write('Hel');
    coder.flush();
    expect(await first.promise).to.equal('Hel');
    coder.on('end', () => source.taker?.end()).end('lo');
    await once(coder, 'end');
    reading.open(taker);
    await over;
    expect(told).to.deep.equal(['lo', '(end)']);
  });

  it('is let go of by its reader', () => {
    const reading = decodeSource(source, 'gzip');
    reading.open(taker);
    reading.destroy();
    expect([told, source.calls]).to.deep.equal([[], ['destroy']]);
  });

  it('tells a reader that let go of it nothing more', async () => {
    const reading = decodeSource(source, 'gzip');
    reading.open(taker);
    source.taker?.data(gzipSync('Hello'));
    reading.destroy();
    // As long as another one takes, whose bytes come later.
    await new Promise<void>((resolve) => {
      const next = new Source();
      decodeSource(next, 'gzip').open({ data: () => undefined, end: resolve, fail: () => resolve() });
      next.taker?.data(gzipSync('Hello'));
      next.taker?.end();
    });
    expect(told).to.deep.equal([]);
  });

  it('of an unknown coding is read as it is', () => {
    expect(decodeSource(source, 'rot13')).to.equal(source);
  });
});
