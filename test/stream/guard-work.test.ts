import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Guard } from '../../lib/stream/guard.ts';
import type { ProviderPart } from '../../lib/stream/part.ts';
import { CLOSE, delta, FINISH, OPEN, START, usage } from './parts.ts';

describe('the guard, of an upstream that is at work or not,', () => {
  const tool = (index: number): ProviderPart => ({
    type: 'block-start',
    index,
    block: { type: 'tool', id: `call_${index}`, name: 'look' },
  });
  const thought = (index: number): ProviderPart => ({ type: 'block-start', index, block: { type: 'reasoning' } });
  const state: ProviderPart = { type: 'block-state', index: 1, state: { format: 'a', value: 'b' } };
  const citation: ProviderPart = { type: 'block-citation', index: 0, citation: { url: 'https://a.example/' } };

  const cases: Readonly<Record<string, readonly [opening: readonly ProviderPart[], part: ProviderPart, is: boolean]>> =
    {
      'a start': [[], START, false],
      counts: [[START], usage(1), false],
      'a block of text': [[START], OPEN, false],
      'an empty text': [[START, OPEN], delta(''), false],
      'the end of a block': [[START, OPEN], CLOSE, false],
      'a text': [[START, OPEN], delta('a'), true],
      'a block that waits for its turn': [[START, OPEN, tool(1)], delta('{', 1), true],
      'a call': [[START, OPEN], tool(1), true],
      'a call at once': [[START], tool(0), true],
      'reasoning that is hidden': [[START, thought(0)], delta('a', 0), true],
      'a state': [[START, OPEN, thought(1)], state, true],
      'a citation': [[START, OPEN], citation, true],
      'a sign of life': [[START], { type: 'alive' }, true],
      'a reason to end': [[START], FINISH, true],
      'the same reason again': [[START, FINISH], FINISH, false],
    };
  for (const [name, [opening, part, is]] of Object.entries(cases)) {
    it(`${is ? 'takes' : 'does not take'} ${name} for work`, async () => {
      const guard = new Guard();
      guard.push(opening);
      const before = guard.workedAt;
      await sleep(2);
      guard.push([part]);
      expect(guard.workedAt > before).to.equal(is);
    });
  }

  it('counts a hidden call as work', async () => {
    const guard = new Guard({ outputMax: 100, calls: 'none' });
    guard.push([START]);
    await sleep(2);
    const before = performance.now();
    guard.push([tool(0)]);
    expect(guard.workedAt).to.be.at.least(before);
  });

  it('believes no reason that a call follows, not even one without arguments, but always its own cut', () => {
    const guard = new Guard({ outputMax: 1 });
    guard.push([START, FINISH]);
    expect(guard.finished).to.equal(true);
    guard.push([tool(0)]);
    expect(guard.finished).to.equal(false);
    guard.push([delta('x'.repeat(17), 0)]);
    expect([guard.done, guard.finished]).to.deep.equal([true, true]);
  });

  it('says that there is a reason to end, and whether content follows it', () => {
    const seen: boolean[] = [];
    const guard = new Guard({ outputMax: 100, onFinish: () => seen.push(guard.finished) });
    guard.push([START, OPEN, delta('a'), FINISH]);
    expect(seen).to.deep.equal([true]);
    guard.push([delta('b')]);
    expect(guard.finished).to.equal(false);
    // No later reason is believed.
    guard.push([{ type: 'finish', reason: 'length' }]);
    expect(seen).to.deep.equal([true, false]);
  });

  it('takes what one batch brings in its order', () => {
    const seen: boolean[] = [];
    const guard = new Guard({ outputMax: 100, onFinish: () => seen.push(guard.finished) });
    guard.push([START, OPEN, FINISH, delta('a')]);
    expect(seen).to.deep.equal([false]);
  });
});
