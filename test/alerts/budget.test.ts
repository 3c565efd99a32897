// At which shares of its budget a key is told of, and when again.
import { expect } from 'chai';
import { watchBudget } from '../../lib/alerts/budget.ts';
import type { AlarmMark } from '../../lib/alerts/watch.ts';
import { type KeyLimits, NO_LIMITS } from '../../lib/money/key-limits.ts';
import { findPeriod } from '../../lib/money/period.ts';

const AT = Date.UTC(2026, 10, 22, 12);
const NEXT_DAY = AT + 86_400_000;
const micro = (rub: number) => BigInt(Math.round(rub * 1e6));

interface Now {
  readonly spent?: number;
  readonly budget?: number;
  readonly at?: number;
  /** The period of the sum; that of the clock if absent. */
  readonly period?: number;
}

const LIMITS: KeyLimits = { ...NO_LIMITS, budget: micro(100), reset: 'day', zone: 'UTC' };
const START = findPeriod(AT, LIMITS).start;

function decide(mark: AlarmMark | null, { spent, budget = 100, at = AT, period = findPeriod(at, LIMITS).start }: Now) {
  const limits = { ...LIMITS, budget: micro(budget) };
  const sum = spent === undefined ? undefined : { key: 'key_1', wallet: 'acc_1', period, spent: micro(spent) };
  return watchBudget({ id: 'key_1', name: 'laptop', limits, budgetKey: null }, sum, at).decide(mark);
}

const told = (percent: number, budget = 100, period = START): AlarmMark => ({
  period: `${period}`,
  budget: `${micro(budget)}`,
  percent: `${percent}`,
});

const ROWS: readonly [name: string, mark: AlarmMark | null, now: Now, kind: string, percent?: string][] = [
  ['nothing used', null, {}, 'stay'],
  ['a hair below the first share', null, { spent: 79.999999 }, 'stay'],
  ['the first share', null, { spent: 80 }, 'alert', '80'],
  ['the second share at once', null, { spent: 95 }, 'alert', '95'],
  ['all of it', null, { spent: 100 }, 'alert', '100'],
  ['more than all of it', null, { spent: 103 }, 'alert', '100'],
  ['told, and a little more', told(80), { spent: 94.9 }, 'stay'],
  ['told, and the next share', told(80), { spent: 95 }, 'alert', '95'],
  ['told, and back below', told(80), { spent: 60 }, 'stay'],
  ['told of the last share, and back at the second', told(100), { spent: 96 }, 'stay'],
  ['told, and the next day with little', told(100), { spent: 3, at: NEXT_DAY }, 'stay'],
  ['told, and the next day without a call yet', told(100), { spent: 100, at: NEXT_DAY, period: START }, 'stay'],
  ['told, and the next day at the first share again', told(80), { spent: 80, at: NEXT_DAY }, 'alert', '80'],
  ['a call of a process ahead has begun the next day', told(100), { spent: 2, period: START + 86_400_000 }, 'stay'],
  ['told, and the budget is larger', told(100), { spent: 100, budget: 200 }, 'rearm'],
  ['told, and the budget is a little larger', told(100), { spent: 100, budget: 110 }, 'alert', '80'],
];

describe('watch of a budget', () => {
  for (const [name, mark, now, kind, percent] of ROWS) {
    it(`${name}: ${kind} ${percent ?? ''}`, () => {
      const decision = decide(mark, now);
      expect(decision.kind).to.equal(kind);
      expect(decision.kind === 'alert' ? decision.content.data.percent : undefined).to.equal(percent);
    });
  }

  it('marks period, budget and share, and reports budget and spending', () => {
    expect(decide(null, { spent: 81.5 })).to.deep.equal({
      kind: 'alert',
      mark: told(80),
      content: {
        type: 'budget.used',
        data: { key: 'key_1', name: 'laptop', percent: '80', budget: '100.00', spent: '81.50' },
      },
    });
  });

  it('has a separate alarm per key, and the same one for a rotated key', () => {
    const subjectOf = (budgetKey: string | null) =>
      watchBudget({ id: 'key_2', name: '', limits: LIMITS, budgetKey }, undefined, AT).subject;
    expect([subjectOf(null), subjectOf('key_1')]).to.deep.equal(['budget:key_2', 'budget:key_1']);
  });
});
