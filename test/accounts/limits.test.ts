// The least and the most that each limit of a key or an account may be.
import { expect } from 'chai';
import { checkLimits, checkRequestLimits, type RequestedLimits } from '../../lib/accounts/limits.ts';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { NO_LIMITS } from '../../lib/money/key-limits.ts';
import { AMOUNT_MAX } from '../../lib/money/money.ts';
import type { RequestLimits } from '../../lib/money/request-limits.ts';

const NOW = 1_790_000_000_000;

const check = (limits: Partial<RequestedLimits>) => () => checkLimits({ ...NO_LIMITS, ...limits }, NOW);
const checkRequests = (requests: RequestLimits) => () => {
  checkRequestLimits(requests);
  check({ requests })();
};
const addresses = (length: number) => ({ addresses: Array.from({ length }, (_, at) => `10.0.0.${at}`) });

/** What is just right, and what is just wrong. */
const EDGES: readonly (readonly [name: string, right: readonly (() => void)[], wrong: readonly (() => void)[]])[] = [
  [
    'a budget',
    [check({ budget: 1n }), check({ budget: AMOUNT_MAX })],
    [check({ budget: 0n }), check({ budget: AMOUNT_MAX + 1n })],
  ],
  [
    'the budget of an end user',
    [1n, AMOUNT_MAX].map((cap) => check({ endUsers: { cap, reset: 'day' } })),
    [0n, AMOUNT_MAX + 1n].map((cap) => check({ endUsers: { cap, reset: 'day' } })),
  ],
  ['an expiry', [check({ expiresAt: NOW + 1 })], [check({ expiresAt: NOW })]],
  [
    'models',
    [['m'], Array.from({ length: 200 }, (_, at) => `m${at}`), ['m'.repeat(100)]].map((models) => check({ models })),
    [[], Array.from({ length: 201 }, (_, at) => `m${at}`), ['m'.repeat(101)], ['m', ''], ['a b'], ['a\u0007']]
      .concat([['m', 'smart']])
      .map((models) => check({ models })),
  ],
  [
    'requests a minute',
    [1, 1_000_000].map((perMinute) => checkRequests({ perMinute })),
    [0, 1.5, 1_000_001].map((perMinute) => checkRequests({ perMinute })).concat(check({ requests: { perMinute: 0 } })),
  ],
  [
    'calls at once',
    [1, 100_000].map((atOnce) => checkRequests({ atOnce })),
    [0, 1.5, 100_001].map((atOnce) => checkRequests({ atOnce })),
  ],
  [
    'a wait',
    [1, 60].map((waitSeconds) => checkRequests({ waitSeconds, atOnce: 1 })),
    [0, 1.5, 61]
      .map((waitSeconds) => checkRequests({ waitSeconds, atOnce: 1 }))
      .concat(checkRequests({ waitSeconds: 1 })),
  ],
  [
    'addresses',
    [1, 100].map((length) => checkRequests(addresses(length))),
    [0, 101]
      .map((length) => checkRequests(addresses(length)))
      .concat(checkRequests({ addresses: ['10.0.0.0/8', 'x'] })),
  ],
];

describe('limits of a key or an account', () => {
  for (const [name, right, wrong] of EDGES) {
    it(`take the least and the most, and nothing beyond: ${name}`, () => {
      for (const run of right) expect(run).not.to.throw();
      for (const run of wrong) expect(run).to.throw(OperatorError);
    });
  }
});
