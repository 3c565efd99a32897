// What a reader makes of a source that the test drives by hand, and what it does to it.
import { mock } from 'node:test';
import { expect } from 'chai';
import {
  type ByteSource,
  type ByteTaker,
  type Decoder,
  decodeBody,
  drain,
  type OpenBody,
  readBytes,
  readWhenAsked,
} from '../../lib/stream/bytes.ts';
import { until } from '../../testkit/client.ts';

const KIB = 1024;

class Source implements ByteSource {
  readonly calls: string[] = [];
  readonly takers: ByteTaker[] = [];
  get taker(): ByteTaker {
    return this.takers.at(-1) as ByteTaker;
  }
  open(taker: ByteTaker): void {
    this.calls.push('open');
    this.takers.push(taker);
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

/** Each chunk is an item; `x` breaks a limit, `.` is the last that counts. */
function createDecoder() {
  const decoder = {
    failure: undefined as Error | undefined,
    done: false,
    pushed: '',
    push(chunk: Uint8Array, items: string[]) {
      const text = String(chunk);
      decoder.pushed += text;
      if (text === 'x') decoder.failure = new Error('too much');
      else items.push(text);
      decoder.done = text === '.';
    },
    end: (items: string[]) => void items.push('the rest'),
  };
  return decoder satisfies Decoder<string>;
}

const END = { done: true, value: undefined };
const never = new AbortController().signal;
const give = (source: Source, ...texts: string[]) => {
  for (const text of texts) source.taker.data(Buffer.from(text));
};
const failureOf = (reading: Promise<unknown>) => reading.catch((error: unknown) => error);

describe('reader of a source', () => {
  let source: Source;
  let controller: AbortController;
  const toError = (error: Error) => new Error(`mapped: ${error.message}`);

  beforeEach(() => {
    source = new Source();
    controller = new AbortController();
  });
  const read = (decoder = createDecoder()) => decodeBody({ body: source, decoder, signal: controller.signal, toError });

  it('opens it at the first read, and gives what is left when it ends', async () => {
    const reader = read();
    expect(source.calls).to.deep.equal([]);
    const first = reader.next();
    give(source, 'a');
    source.taker.end();
    expect(await first).to.deep.equal({ done: false, value: ['a', 'the rest'] });
    expect(await reader.next()).to.deep.equal(END);
    expect(source.calls).to.deep.equal(['open']);
  });

  it('reports what broke it after all that came before, once', async () => {
    const reader = read();
    const first = reader.next();
    give(source, 'a');
    source.taker.fail(new Error('reset'));
    give(source, 'b');
    source.taker.end();
    source.taker.fail(new Error('again'));
    expect((await first).value).to.deep.equal(['a']);
    expect(await failureOf(reader.next())).to.have.property('message', 'mapped: reset');
    expect(await reader.next()).to.deep.equal(END);
  });

  it('reports what broke it after all that came before, also where most of that is nothing', async () => {
    const decoder = createDecoder();
    const push: typeof decoder.push = (chunk, items) => {
      if (chunk.length < KIB) decoder.push(chunk, items);
    };
    const reader = decodeBody({ body: source, decoder: { ...decoder, push }, signal: never, toError });
    const first = reader.next();
    give(source, 'y'.repeat(32 * KIB), 'a');
    source.taker.fail(new Error('reset'));
    expect((await first).value).to.deep.equal(['a']);
    expect(await failureOf(reader.next())).to.have.property('message', 'mapped: reset');
  });

  it('stops at a limit, closes the source, and takes nothing more', async () => {
    const decoder = createDecoder();
    const reader = read(decoder);
    const first = reader.next();
    give(source, 'a', 'x', 'b');
    expect((await first).value).to.deep.equal(['a']);
    expect(source.calls).to.deep.equal(['open', 'destroy']);
    give(source, 'c');
    expect(await failureOf(reader.next())).to.have.property('message', 'mapped: too much');
    expect([decoder.pushed, await reader.next()]).to.deep.equal(['ax', END]);
  });

  it('fails with the reason of an abort as it is, and drops what waits', async () => {
    const decoder = createDecoder();
    const reader = read(decoder);
    const first = reader.next();
    give(source, 'a');
    expect((await first).value).to.deep.equal(['a']);
    give(source, 'b');
    source.taker.end();
    controller.abort('gone');
    source.taker.fail(new Error('closed'));
    expect(await failureOf(reader.next())).to.equal('gone');
    expect([decoder.pushed, await reader.next()]).to.deep.equal(['a', END]);
    expect(source.calls).to.deep.equal(['open', 'pause', 'destroy']);
  });

  it('decodes nothing before the decoder has room, or the read is aborted', async () => {
    for (const isAborted of [false, true]) {
      const decoder = createDecoder();
      const rooms = [Promise.withResolvers<void>()];
      const [room] = rooms;
      source = new Source();
      const first = read(Object.assign(decoder, { waitForRoom: () => rooms.pop()?.promise })).next();
      give(source, 'a', 'b');
      await new Promise(setImmediate);
      expect(decoder.pushed).to.equal('');
      if (isAborted) controller.abort('gone');
      else room?.resolve();
      expect(await first.catch((error: unknown) => error)).to.deep.equal(
        isAborted ? 'gone' : { done: false, value: ['a', 'b'] },
      );
    }
  });

  it('leaves what follows the last item that counts', async () => {
    const decoder = createDecoder();
    const reader = read(decoder);
    const first = reader.next();
    give(source, 'a', '.', 'b');
    expect((await first).value).to.deep.equal(['a', '.']);
    expect(await reader.next()).to.deep.equal(END);
    give(source, 'c');
    source.taker.end();
    expect([decoder.pushed, source.calls]).to.deep.equal(['a.', ['open', 'open', 'resume']]);
  });

  it('leaves a source that goes on, read or not, and no other', async () => {
    expect(await read().return?.()).to.deep.equal(END);
    expect(source.calls).to.deep.equal(['open', 'resume']);
    source.taker.end();
    source = new Source();
    const reader = readBytes({ body: source, signal: never });
    const first = reader.next();
    give(source, 'a');
    source.taker.end();
    await first;
    await reader.return?.();
    expect(source.calls).to.deep.equal(['open']);
  });

  it('reads one step at a time', async () => {
    const reader = read();
    const first = reader.next();
    expect(await failureOf(reader.next())).to.have.property('message', 'a body is read one step at a time');
    give(source, 'a');
    expect((await first).value).to.deep.equal(['a']);
  });
});

describe('reader of a source that is asked for', () => {
  const open = (body: ByteSource, more: Partial<OpenBody> = {}): OpenBody => ({ body, ...more });

  it('asks once, at the first read', async () => {
    const source = new Source();
    let asked = 0;
    const ask = async () => {
      asked += 1;
      return open(source);
    };
    const reader = readWhenAsked(ask, { decoder: createDecoder(), signal: never });
    expect(asked).to.equal(0);
    const first = reader.next();
    await until(() => source.takers.length === 1);
    give(source, 'a');
    expect((await first).value).to.deep.equal(['a']);
    expect(asked).to.equal(1);
  });

  it('throws what asking throws, and is over', async () => {
    const refused = new Error('refused');
    const reader = readWhenAsked(() => Promise.reject(refused), { decoder: createDecoder(), signal: never });
    expect(await failureOf(reader.next())).to.equal(refused);
    expect(await reader.next()).to.deep.equal(END);
  });

  it('closes what comes after it was left', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const source = new Source();
      const { promise, resolve } = Promise.withResolvers<OpenBody>();
      const reader = readWhenAsked(() => promise, { decoder: createDecoder(), signal: never });
      const first = reader.next();
      await reader.return?.();
      expect(await first).to.deep.equal(END);
      resolve(open(source));
      await promise;
      await Promise.resolve();
      mock.timers.tick(250);
      expect(source.calls).to.deep.equal(['open', 'resume', 'destroy']);
    } finally {
      mock.timers.reset();
    }
  });

  it('throws what a decoder makes of a body that broke off, once', async () => {
    const source = new Source();
    const told: unknown[] = [];
    const decoder = Object.assign(createDecoder(), {
      error: undefined as unknown,
      break(error: unknown) {
        decoder.error = error;
      },
    });
    const onError = (error: unknown) => void told.push(error);
    const reader = readWhenAsked(async () => open(source, { onError }), { decoder, signal: never });
    const first = reader.next();
    await until(() => source.takers.length === 1);
    const broken = new Error('broken');
    source.taker.fail(broken);
    expect(await failureOf(first)).to.equal(broken);
    expect(await reader.next()).to.deep.equal(END);
    expect(told).to.deep.equal([broken]);
  });
});

describe('a source that is left', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  it('is closed after a quarter of a second', () => {
    const source = new Source();
    drain(source);
    mock.timers.tick(249);
    expect(source.calls).to.deep.equal(['open', 'resume']);
    mock.timers.tick(1);
    expect(source.calls).to.deep.equal(['open', 'resume', 'destroy']);
  });

  it('is not closed when it has ended, or failed, by itself', () => {
    for (const end of [(taker: ByteTaker) => taker.end(), (taker: ByteTaker) => taker.fail(new Error('reset'))]) {
      const source = new Source();
      drain(source);
      end(source.taker);
      mock.timers.tick(1000);
      expect(source.calls).to.deep.equal(['open', 'resume']);
    }
  });

  it('is closed once more than 64 KiB have come', () => {
    const source = new Source();
    drain(source);
    source.taker.data(Buffer.alloc(32 * KIB));
    source.taker.data(Buffer.alloc(32 * KIB));
    expect(source.calls).to.deep.equal(['open', 'resume']);
    source.taker.data(Buffer.alloc(1));
    expect(source.calls).to.deep.equal(['open', 'resume', 'destroy']);
  });
});
