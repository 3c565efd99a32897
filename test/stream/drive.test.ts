import { getEventListeners } from 'node:events';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { drive, type Pressure } from '../../lib/stream/drive.ts';
import { itTimed } from '../../testkit/timed.ts';

type Next = () => Promise<IteratorResult<number>>;

/** A source that does exactly what it is told, obedient or not. */
function source(next: Next, close: () => unknown = () => undefined): AsyncIterable<number> & { closed: number } {
  const made = {
    closed: 0,
    [Symbol.asyncIterator]: () => ({
      next,
      return: () => {
        made.closed += 1;
        return close() as Promise<IteratorResult<number>>;
      },
    }),
  };
  return made;
}

const never = () => new Promise<never>(() => undefined);

async function* counting(to: number): AsyncGenerator<number> {
  for (let value = 0; value < to; value += 1) yield value;
}

describe('drive', () => {
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown) => void unhandled.push(reason);
  let controller: AbortController;
  let mocha: NodeJS.UnhandledRejectionListener[];

  before(() => {
    mocha = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', onUnhandled);
  });
  after(() => {
    process.off('unhandledRejection', onUnhandled);
    for (const listener of mocha) process.on('unhandledRejection', listener);
  });

  beforeEach(() => {
    controller = new AbortController();
  });
  afterEach(async () => {
    await sleep(5);
    expect(unhandled.splice(0)).to.deep.equal([]);
    expect(getEventListeners(controller.signal, 'abort')).to.have.length(0);
  });

  /** How the drive ended and what it took. */
  async function run(from: unknown, take: (value: number) => Pressure = () => undefined) {
    const taken: number[] = [];
    const ended = await drive(from as AsyncIterable<number>, controller.signal, (value) => {
      taken.push(value);
      return take(value);
    }).then(
      () => 'ended',
      (error: unknown) => error,
    );
    return { ended, taken };
  }

  it('takes everything in order and ends with the source', async () => {
    expect(await run(counting(1000))).to.deep.equal({ ended: 'ended', taken: [...Array(1000).keys()] });
    expect(await run(counting(0))).to.deep.equal({ ended: 'ended', taken: [] });
  });

  it('does not close a source that ended', async () => {
    const ended = source(async () => ({ done: true, value: undefined }));
    expect((await run(ended)).ended).to.equal('ended');
    expect(ended.closed).to.equal(0);
  });

  const boom = new Error('boom');
  const broken: Readonly<Record<string, unknown>> = {
    'throws when it is opened': {
      [Symbol.asyncIterator]() {
        throw boom;
      },
    },
    'throws on next': source(() => {
      throw boom;
    }),
    'rejects on next': source(() => Promise.reject(boom)),
    'throws in its first step': (async function* () {
      yield* [];
      throw boom;
    })(),
  };
  for (const [name, from] of Object.entries(broken)) {
    it(`rejects with what a source throws that ${name}`, async () => {
      expect(await run(from)).to.deep.equal({ ended: boom, taken: [] });
    });
  }

  const impossible: Readonly<Record<string, () => unknown>> = {
    nothing: () => undefined,
    null: () => null,
    'a number': () => 7,
    'an object': () => ({}),
    'a synchronous iterable': () => [1, 2],
    'a promise': () => Promise.resolve(counting(3)),
    'a promise that fails': () => Promise.reject(boom),
    'a source without an iterator': () => ({ [Symbol.asyncIterator]: () => undefined }),
    'an iterator without next': () => ({ [Symbol.asyncIterator]: () => ({}) }),
    'an iterator that is not asynchronous': () => ({ [Symbol.asyncIterator]: () => [1, 2].values() }),
    'an iterator whose next gives nothing': () => source(() => undefined as never),
    'an iterator whose next resolves to nothing': () => source(async () => undefined as never),
    'an iterator whose next resolves to null': () => source(async () => null as never),
  };
  for (const [name, from] of Object.entries(impossible)) {
    it(`rejects in place of a source: ${name}`, async () => {
      const { ended, taken } = await run(from());
      expect(ended).to.be.instanceOf(TypeError);
      expect(taken).to.deep.equal([]);
    });
  }

  it('asks nothing more of a source that was given up while its reader was slow', async () => {
    let asked = 0;
    const open = source(async () => {
      asked += 1;
      return { done: false, value: asked };
    });
    const { promise: slow, resolve: resume } = Promise.withResolvers<void>();
    const running = run(open, () => slow);
    await turn();
    controller.abort(boom);
    expect(await running).to.deep.equal({ ended: boom, taken: [1] });
    resume();
    await turn();
    expect([asked, open.closed]).to.deep.equal([1, 1]);
  });

  it('stops at an error in the middle and keeps what came before', async () => {
    const failing = (async function* () {
      yield 1;
      yield 2;
      throw boom;
    })();
    expect(await run(failing)).to.deep.equal({ ended: boom, taken: [1, 2] });
  });

  it('closes the source when the taker throws', async () => {
    let closed = false;
    const open = (async function* () {
      try {
        yield* counting(5);
      } finally {
        closed = true;
      }
    })();
    const thrown = await run(open, (value) => {
      if (value === 2) throw boom;
      return undefined;
    });
    expect(thrown).to.deep.equal({ ended: boom, taken: [0, 1, 2] });
    await turn();
    expect(closed).to.equal(true);
  });

  const unclosable: Readonly<Record<string, () => unknown>> = {
    throws: () => {
      throw boom;
    },
    rejects: () => Promise.reject(boom),
    'rejects later': () => sleep(1).then(() => Promise.reject(boom)),
    'never resolves': never,
    'gives no promise': () => 7,
  };
  for (const [name, close] of Object.entries(unclosable)) {
    it(`is over although the closing of the source ${name}`, async () => {
      const stuck = source(never, close);
      setImmediate(() => controller.abort(boom));
      expect((await run(stuck)).ended).to.equal(boom);
      expect(stuck.closed).to.equal(1);
    });
  }

  itTimed('is over at once when the signal aborts, whatever the source does', async () => {
    const startedAt = performance.now();
    setTimeout(() => controller.abort('gone'), 10);
    expect((await run(source(never))).ended).to.equal('gone');
    expect(performance.now() - startedAt).to.be.below(60);
  });

  it('asks nothing when the signal had aborted before', async () => {
    controller.abort('gone');
    let asked = 0;
    const late = source(() => {
      asked += 1;
      return never();
    });
    expect((await run(late)).ended).to.equal('gone');
    expect([asked, late.closed]).to.deep.equal([0, 1]);
  });

  it('takes nothing that comes after the abort', async () => {
    let give: (result: IteratorResult<number>) => void = () => undefined;
    const late = source(
      () =>
        new Promise((resolve) => {
          give = resolve;
        }),
    );
    const running = run(late);
    controller.abort('gone');
    give({ done: false, value: 7 });
    expect(await running).to.deep.equal({ ended: 'gone', taken: [] });
  });

  it('takes nothing more when the taker itself aborts', async () => {
    const result = await run(counting(5), (value) => {
      if (value === 1) controller.abort('enough');
      return undefined;
    });
    expect(result).to.deep.equal({ ended: 'enough', taken: [0, 1] });
  });

  it('swallows what the source throws after the abort', async () => {
    let fail: (error: unknown) => void = () => undefined;
    const late = source(
      () =>
        new Promise((_resolve, reject) => {
          fail = reject;
        }),
    );
    const running = run(late);
    controller.abort('gone');
    expect((await running).ended).to.equal('gone');
    fail(boom);
  });

  describe('under pressure', () => {
    itTimed('asks for no more until the consumer can take it', async () => {
      let release: () => void = () => undefined;
      const taken: number[] = [];
      const running = drive(counting(3), controller.signal, (value) => {
        taken.push(value);
        return value === 0 ? new Promise<void>((resolve) => (release = resolve)) : undefined;
      });
      await sleep(5);
      expect(taken).to.deep.equal([0]);
      release();
      await running;
      expect(taken).to.deep.equal([0, 1, 2]);
    });

    itTimed('is over at once when the signal aborts', async () => {
      setTimeout(() => controller.abort('gone'), 10);
      const stuck = source(async () => ({ done: false, value: 1 }));
      expect(await run(stuck, never)).to.deep.equal({ ended: 'gone', taken: [1] });
      expect(stuck.closed).to.equal(1);
    });

    it('ends with what the consumer fails with', async () => {
      const failing = source(async () => ({ done: false, value: 1 }));
      expect(await run(failing, () => Promise.reject(boom))).to.deep.equal({ ended: boom, taken: [1] });
      expect(failing.closed).to.equal(1);
    });

    itTimed('swallows a failure of the consumer after the abort', async () => {
      const open = source(async () => ({ done: false, value: 1 }));
      setTimeout(() => controller.abort('gone'), 5);
      const result = await run(open, () => sleep(10).then(() => Promise.reject(boom)));
      expect(result).to.deep.equal({ ended: 'gone', taken: [1] });
      await sleep(10);
    });
  });

  itTimed('lets timers run beside a source that always has more', async () => {
    const endless = source(async () => ({ done: false, value: 1 }));
    setTimeout(() => controller.abort('gone'), 20);
    const startedAt = performance.now();
    const { ended, taken } = await run(endless);
    expect(ended).to.equal('gone');
    expect(taken.length).to.be.above(100);
    expect(performance.now() - startedAt).to.be.below(1000);
  });

  it('takes a million arrivals in seconds, without piling up', async () => {
    let sum = 0;
    await drive(counting(1_000_000), controller.signal, (value) => {
      sum += value;
      return undefined;
    });
    expect(sum).to.equal(499_999_500_000);
  });
});
