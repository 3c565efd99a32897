import { expect } from 'chai';
import type { Route } from '../../lib/catalog/model.ts';
import type { ProviderPart } from '../../lib/plugin/contract.ts';
import { type AnswerSink, attempt } from '../../lib/text/attempt.ts';
import { CLOSE, delta, FINISH, OPEN, START } from './stage.ts';

describe('the first text of an attempt', () => {
  it('is told once, when it has come', async () => {
    let taken = 0;
    const firsts: number[] = [];
    const sink: AnswerSink = {
      restart() {},
      take(parts) {
        taken += parts.length;
        return undefined;
      },
      breakOff() {},
      keepAlive() {},
      get hasText() {
        return taken > 2;
      },
      begun: false,
      stopped: undefined,
    };
    async function* text(): AsyncGenerator<readonly ProviderPart[]> {
      for (const part of [START, OPEN, delta('a'), delta('b'), CLOSE, FINISH]) yield [part as ProviderPart];
    }
    const ending = await attempt({
      route: { provider: { text }, model: 'up', options: {}, upstream: 'u' } as unknown as Route,
      model: 'm',
      call: () => ({ messages: [], maxTokens: 10 }),
      outputMax: 10,
      sink,
      signal: new AbortController().signal,
      timeouts: { firstTokenTimeoutMs: 60_000, idleTimeoutMs: 60_000, totalTimeoutMs: 60_000 },
      deadline: performance.now() + 60_000,
      onFirst: () => void firsts.push(taken),
    });
    expect([ending.type, firsts]).to.deep.equal(['finish', [3]]);
  });
});
