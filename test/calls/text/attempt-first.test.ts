import { expect } from 'chai';
import { type AnswerSink, attempt } from '../../../lib/calls/text/attempt.ts';
import type { Route } from '../../../lib/catalog/model.ts';
import type { ProviderPart } from '../../../lib/upstream/contract/provider.ts';
import { CLOSE, delta, FINISH, OPEN, START } from './stage.ts';

describe('an attempt', () => {
  function attemptInto(sink: Partial<AnswerSink>, parts: readonly unknown[], onFirst = () => {}) {
    async function* text(): AsyncGenerator<readonly ProviderPart[]> {
      for (const part of parts) yield [part as ProviderPart];
    }
    const idle = { restart() {}, breakOff() {}, keepAlive() {}, hasText: false, begun: false, stopped: undefined };
    const whole = Object.defineProperties({ ...idle, take: () => undefined }, Object.getOwnPropertyDescriptors(sink));
    return attempt({
      route: { provider: { text }, model: 'up', options: {}, upstream: 'u' } as unknown as Route,
      model: 'm',
      call: () => ({ messages: [], maxTokens: 10 }),
      outputMax: 10,
      sink: whole,
      signal: new AbortController().signal,
      timeouts: { firstTokenTimeoutMs: 60_000, idleTimeoutMs: 60_000, totalTimeoutMs: 60_000 },
      deadline: performance.now() + 60_000,
      onFirst,
    });
  }

  it('tells of its first text once, when it has come', async () => {
    let taken = 0;
    const firsts: number[] = [];
    const sink: Partial<AnswerSink> = {
      take(parts) {
        taken += parts.length;
        return undefined;
      },
      get hasText() {
        return taken > 2;
      },
    };
    const ending = await attemptInto(sink, [START, OPEN, delta('a'), delta('b'), CLOSE, FINISH], () => {
      firsts.push(taken);
    });
    expect([ending.type, firsts]).to.deep.equal(['finish', [3]]);
  });

  it('ends, though its sink cannot break off an answer that just stopped', async () => {
    const breakOff = () => {
      throw new Error('the sink is broken');
    };
    const ending = await attemptInto({ breakOff }, [START, OPEN, delta('a')]);
    expect(ending.type).to.equal('error');
  });
});
