// When the signal that a plugin was given aborts, and when it does not.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Answer, delta, hang, OPEN, START, Stage, whole } from './stage.ts';

describe('the signal of an upstream', () => {
  const stage = new Stage();
  const boom = new Error('the secret words of a plugin');

  before(() => stage.open());
  afterEach(() => stage.check());
  after(() => stage.close());

  it('is left alone by an answer that ends', async () => {
    let signal: AbortSignal | undefined;
    const watching: Answer = (call, given) => {
      signal = given;
      return whole('Hello')(call, given);
    };
    await stage.call({
      routes: [watching],
      timeouts: { firstTokenTimeoutMs: 20, idleTimeoutMs: 20, totalTimeoutMs: 40 },
    });
    await sleep(80);
    expect(signal?.aborted).to.equal(false);
  });

  it('aborts at once when the answer is cut at its limit', async () => {
    let signal: AbortSignal | undefined;
    const endless: Answer = async function* (_call, given) {
      signal = given;
      yield [START, OPEN, delta('x'.repeat(2000))];
      await hang();
    };
    const result = await stage.call({ routes: [endless], request: { maxTokens: 10 } });
    expect(result.parts.find(({ type }) => type === 'finish')).to.include({ reason: 'length' });
    expect([signal?.aborted, result.ms < 1000]).to.deep.equal([true, true]);
  });

  it('aborts when the source fails, for what it may have begun besides', async () => {
    let signal: AbortSignal | undefined;
    const failing: Answer = async function* (_call, given) {
      signal = given;
      yield [START, OPEN, delta('a')];
      throw boom;
    };
    await stage.call({ routes: [failing] });
    expect(signal?.aborted).to.equal(true);
  });

  it('aborts at a breach, and the source is closed', async () => {
    let signal: AbortSignal | undefined;
    let closed = false;
    const breaking: Answer = async function* (_call, given) {
      signal = given;
      try {
        yield [START, OPEN, delta('a')];
        yield [{ type: 'nonsense' }];
        await hang();
      } finally {
        closed = true;
      }
    };
    await stage.call({ routes: [breaking] });
    expect([signal?.aborted, closed]).to.deep.equal([true, true]);
  });

  it('aborts at a limit', async () => {
    let signal: AbortSignal | undefined;
    const hanging: Answer = async function* (_call, given) {
      signal = given;
      yield [START];
      await hang();
    };
    await stage.call({ routes: [hanging], timeouts: { firstTokenTimeoutMs: 20 } });
    expect(signal?.aborted).to.equal(true);
  });

  it('survives a source that throws when it is closed', async () => {
    const closing = (): unknown => ({
      [Symbol.asyncIterator]: () => ({
        next: hang,
        return: () => {
          throw boom;
        },
      }),
    });
    const result = await stage.call({ routes: [closing], timeouts: { firstTokenTimeoutMs: 20 } });
    expect(result.thrown ?? result.parts.at(-1)).to.have.nested.property('fault.data.code', 'upstream_timeout');
    expect(result.charge).to.include({ state: 'released', charged: 0n });
  });
});
