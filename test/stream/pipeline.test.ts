import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { pipeline, type Transform } from '../../lib/stream/pipeline.ts';

/** Yields batches; an error among them is thrown, a function awaited. */
async function* playing(...steps: readonly unknown[]): AsyncGenerator<readonly string[]> {
  for (const step of steps) {
    if (step instanceof Error) throw step;
    if (typeof step === 'function') await step();
    else yield step as readonly string[];
  }
}

const hang = () => new Promise<never>(() => undefined);
const upperCase: Transform<string> = { push: (batch) => batch.map((text) => text.toUpperCase()) };

/** Passes everything on at the end, in one batch. */
function holdBack(): Transform<string> {
  const held: string[] = [];
  return {
    push(batch) {
      held.push(...batch);
      return [];
    },
    end: () => held,
  };
}

/** A source that starves others ends after them. */
const BATCHES_MAX = 1_000_000;

describe('pipeline', () => {
  const { signal } = new AbortController();
  const onError = (error: unknown) => `failed: ${(error as Error).message}`;

  async function run(source: unknown, transforms: readonly Transform<string>[] = [], over = signal) {
    const batches: (readonly string[])[] = [];
    const options = { source: () => source as AsyncIterable<readonly string[]>, transforms, signal: over, onError };
    for await (const batch of pipeline<string, string>(options)) batches.push(batch);
    return batches;
  }

  it('passes each batch through every transform, in order', async () => {
    const mark: Transform<string> = { push: (batch) => batch.map((text) => `${text}!`) };
    expect(await run(playing(['a', 'b'], ['c']), [upperCase, mark])).to.deep.equal([['A!', 'B!'], ['C!']]);
  });

  it('takes what a transform held back through those after it', async () => {
    expect(await run(playing(['a'], ['b']), [holdBack(), upperCase])).to.deep.equal([['A', 'B']]);
    expect(await run(playing(['a'], ['b']), [holdBack(), upperCase, holdBack()])).to.deep.equal([['A', 'B']]);
  });

  it('yields no empty batch', async () => {
    const odd: Transform<string> = { push: (batch) => batch.filter((text) => text !== 'b') };
    expect(await run(playing(['a'], [], ['b'], ['c']), [odd])).to.deep.equal([['a'], ['c']]);
  });

  it('closes the source once a transform is done', async () => {
    let closed = false;
    async function* source() {
      try {
        yield ['a'];
        yield ['b'];
        await hang();
      } finally {
        closed = true;
      }
    }
    let seen = 0;
    const first: Transform<string> = {
      push(batch) {
        seen += 1;
        return batch;
      },
      get done() {
        return seen === 2;
      },
      end: () => ['end'],
    };
    expect(await run(source(), [first])).to.deep.equal([['a'], ['b', 'end']]);
    expect(closed).to.equal(true);
  });

  it('pushes a part for what the source throws, or a transform', async () => {
    expect(await run(playing(['a'], new Error('broken')))).to.deep.equal([['a'], ['failed: broken']]);
    let calls = 0;
    const breaking: Transform<string> = {
      push(batch) {
        calls += 1;
        if (calls === 2) throw new Error('mine');
        return batch;
      },
    };
    expect(await run(playing(['a'], ['b'], ['c']), [breaking])).to.deep.equal([['a'], ['failed: mine']]);
  });

  for (const [name, source] of Object.entries({
    nothing: undefined,
    'a promise': Promise.resolve(1),
    'a promise that fails': Promise.reject(new Error('late')),
    'an object': {},
  })) {
    it(`fails when it is given ${name} for a source`, async () => {
      expect(await run(source)).to.deep.equal([['failed: the source is not an async iterable']]);
    });
  }

  for (const value of [null, undefined, 7, 'text', {}, { length: 2 }, new Set(['a'])]) {
    it(`fails when ${JSON.stringify(value) ?? 'nothing'} comes in place of a batch`, async () => {
      expect(await run(playing(['a'], value))).to.deep.equal([
        ['a'],
        ['failed: the source yields something else than arrays'],
      ]);
    });
  }

  it('ends a pending read when the signal aborts, whatever the source does, and ignores its late failure', async () => {
    const controller = new AbortController();
    const late = Promise.withResolvers<never>();
    const source = playing(['a'], () => {
      setImmediate(() => controller.abort(new Error('over')));
      return late.promise;
    });
    let ends = 0;
    const counting: Transform<string> = {
      push: (batch) => batch,
      end() {
        ends += 1;
        return [];
      },
    };
    expect(await run(source, [counting], controller.signal)).to.deep.equal([['a'], ['failed: over']]);
    late.reject(new Error('too late'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(ends).to.equal(1);
    expect(getEventListeners(controller.signal, 'abort')).to.deep.equal([]);
  });

  it('does not open a source whose signal has aborted', async () => {
    let opened = false;
    async function* source() {
      opened = true;
      yield ['a'];
    }
    expect(await run(source(), [], AbortSignal.abort(new Error('over')))).to.deep.equal([['failed: over']]);
    expect(opened).to.equal(false);
  });

  it('closes its source when it is left', async () => {
    let closed = false;
    async function* source() {
      try {
        for (;;) yield ['a'];
      } finally {
        closed = true;
      }
    }
    const controller = new AbortController();
    const options = { source, transforms: [], signal: controller.signal, onError };
    for await (const _ of pipeline<string, string>(options)) break;
    await new Promise((resolve) => setImmediate(resolve));
    expect(closed).to.equal(true);
    expect(getEventListeners(controller.signal, 'abort')).to.deep.equal([]);
  });

  it('lets others have a turn while a source always has more', async () => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    async function* source() {
      for (let batch = 0; batch < BATCHES_MAX && turns < 3; batch += 1) yield ['a'];
    }
    await run(source());
    clearInterval(timer);
    expect(turns).to.equal(3);
  });
});
