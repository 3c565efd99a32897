// Throttling: which requests of a key with many refusals wait, for how long, and what ends it.
import { expect } from 'chai';
import {
  createThrottle,
  EVERY_MS,
  FORGOTTEN_MS,
  OTHERS_MS,
  REFUSALS_MAX,
  WAIT_MAX_MS,
} from '../../lib/api/throttle.ts';

const MIB = 1024 * 1024;

describe('throttle', () => {
  let now: number;
  let throttle: ReturnType<typeof createThrottle>;
  beforeEach(() => {
    now = 5000;
    throttle = createThrottle(() => now);
  });

  const past = (key: string, status: number, notes: object = {}, bytes = 0) =>
    throttle.noteEnd({ status, bytes, notes: { key, ...notes } });
  const refuse = (key: string, times: number) => {
    for (let time = 0; time < times; time += 1) past(key, 400);
  };

  it('starts with the hundredth consecutive refusal while other keys call', () => {
    refuse('bad', REFUSALS_MAX - 1);
    expect([throttle.computeWaitMs('good'), throttle.computeWaitMs('bad')]).to.deep.equal([0, 0]);
    refuse('bad', 1);
    expect([
      throttle.computeWaitMs('good'),
      throttle.computeWaitMs('bad'),
      throttle.computeWaitMs('good'),
    ]).to.deep.equal([0, EVERY_MS, 0]);
  });

  for (const [what, status, notes, counts] of [
    ['a mistake', 400, { fault: 'invalid_field' }, true],
    ['too many requests', 429, { fault: 'rate_limited' }, true],
    ['a client that leaves before its call begins', 0, { ending: 'gone' }, true],
    ['a body without room', 503, { fault: 'no_room' }, true],
    ['an answer without room', 503, { fault: 'no_room_for_answer' }, true],
    ['an address from which the key may not be used', 403, { fault: 'address_not_allowed' }, false],
    ['an expired key', 401, { fault: 'expired_key' }, false],
    ['a store that is away', 503, { fault: 'store_unavailable' }, false],
    ['a failed upstream', 502, { fault: 'upstream_failed', charged_micro: '0' }, false],
    ['a client that leaves a running call', 0, { ending: 'gone', charged_micro: '0' }, false],
    ['a failure of our own', 500, { fault: 'internal' }, false],
    ['an answer that costs nothing', 200, {}, false],
    ['a redirect', 303, {}, false],
  ] as const) {
    it(`${counts ? 'counts' : 'does not count'} ${what}`, () => {
      for (let time = 0; time < REFUSALS_MAX; time += 1) past('bad', status, notes);
      throttle.computeWaitMs('good');
      expect(throttle.computeWaitMs('bad')).to.equal(counts ? EVERY_MS : 0);
    });
  }

  it('counts requests with a key only', () => {
    for (let time = 0; time <= REFUSALS_MAX; time += 1) throttle.noteEnd({ status: 401, bytes: 0, notes: {} });
    throttle.computeWaitMs('good');
    expect(throttle.computeWaitMs('undefined')).to.equal(0);
  });

  it('applies to one key', () => {
    refuse('bad', REFUSALS_MAX);
    refuse('other', REFUSALS_MAX - 1);
    throttle.computeWaitMs('good');
    expect([throttle.computeWaitMs('other'), throttle.computeWaitMs('bad')]).to.deep.equal([0, EVERY_MS]);
  });

  it('ends with a paid call, which resets the count', () => {
    refuse('bad', REFUSALS_MAX);
    past('bad', 200, { charged_micro: '0' });
    throttle.computeWaitMs('good');
    expect(throttle.computeWaitMs('bad')).to.equal(EVERY_MS);
    past('bad', 200, { charged_micro: '500000' });
    refuse('bad', REFUSALS_MAX - 1);
    expect(throttle.computeWaitMs('bad')).to.equal(0);
    refuse('bad', 1);
    throttle.computeWaitMs('good');
    expect(throttle.computeWaitMs('bad')).to.equal(EVERY_MS);
  });

  it('starts the requests of a key one after the other, none after more than twenty seconds', () => {
    refuse('bad', REFUSALS_MAX);
    throttle.computeWaitMs('good');
    const waits = Array.from({ length: 120 }, () => throttle.computeWaitMs('bad'));
    expect(waits).to.deep.equal(waits.map((_, at) => Math.min((at + 1) * EVERY_MS, WAIT_MAX_MS)));
    // What came more often than that is not made up for.
    now += 1000;
    expect(throttle.computeWaitMs('bad')).to.equal(WAIT_MAX_MS - 1000 + EVERY_MS);
    // Nor is a pause a credit.
    now += WAIT_MAX_MS + 10_000;
    throttle.computeWaitMs('good');
    expect([throttle.computeWaitMs('bad'), throttle.computeWaitMs('bad')]).to.deep.equal([EVERY_MS, 2 * EVERY_MS]);
  });

  it('counts each MiB of a refused body as one more refusal', () => {
    past('bad', 400, {}, 40 * MIB);
    past('bad', 413, {}, 49.5 * MIB);
    refuse('bad', 8);
    throttle.computeWaitMs('good');
    expect(throttle.computeWaitMs('bad')).to.equal(0);
    past('bad', 400, {}, 0);
    throttle.computeWaitMs('good');
    expect(throttle.computeWaitMs('bad')).to.be.above(0);
  });

  it('delays the next request by each refused MiB', () => {
    refuse('bad', REFUSALS_MAX);
    now += WAIT_MAX_MS;
    past('bad', 400, {}, 10 * MIB);
    throttle.computeWaitMs('good');
    expect(throttle.computeWaitMs('bad')).to.equal(11 * EVERY_MS);
    past('bad', 400, {}, 0.5 * MIB);
    expect(throttle.computeWaitMs('bad')).to.equal(12.5 * EVERY_MS);
    past('bad', 400, {}, 48 * MIB);
    past('bad', 400, {}, 48 * MIB);
    past('bad', 400, {}, 48 * MIB);
    expect(throttle.computeWaitMs('bad')).to.equal(WAIT_MAX_MS);
    // A paid call is not a refusal, however long.
    past('bad', 200, { charged_micro: '1' }, 48 * MIB);
    refuse('bad', REFUSALS_MAX);
    throttle.computeWaitMs('good');
    expect(throttle.computeWaitMs('bad')).to.equal(EVERY_MS);
  });

  it('keeps the order while further requests are refused', () => {
    refuse('bad', REFUSALS_MAX);
    throttle.computeWaitMs('good');
    throttle.computeWaitMs('bad');
    refuse('bad', 1);
    expect(throttle.computeWaitMs('bad')).to.equal(2 * EVERY_MS);
  });

  it('does not apply if no other key calls', () => {
    throttle.computeWaitMs('good');
    refuse('bad', REFUSALS_MAX);
    now += OTHERS_MS - 1;
    expect(throttle.computeWaitMs('bad')).to.equal(EVERY_MS);
    now += 1;
    expect(throttle.computeWaitMs('bad')).to.equal(0);
  });

  it('counts neither its own calls nor throttled ones as other calls', () => {
    throttle.computeWaitMs('bad');
    refuse('bad', REFUSALS_MAX);
    expect(throttle.computeWaitMs('bad')).to.equal(0);
    refuse('worse', REFUSALS_MAX);
    throttle.computeWaitMs('worse');
    expect(throttle.computeWaitMs('bad')).to.equal(0);
  });

  it('counts other calls before its own', () => {
    throttle.computeWaitMs('good');
    throttle.computeWaitMs('bad');
    now += 10;
    throttle.computeWaitMs('bad');
    refuse('bad', REFUSALS_MAX);
    expect(throttle.computeWaitMs('bad')).to.equal(EVERY_MS);
    now += OTHERS_MS - 10;
    expect(throttle.computeWaitMs('bad')).to.equal(0);
  });

  it('ends after a minute without a refusal', () => {
    refuse('bad', REFUSALS_MAX);
    now += FORGOTTEN_MS - 1;
    throttle.computeWaitMs('good');
    expect(throttle.computeWaitMs('bad')).to.equal(EVERY_MS);
    now += 1;
    expect(throttle.computeWaitMs('bad')).to.equal(0);
    refuse('bad', 1);
    throttle.computeWaitMs('good');
    expect(throttle.computeWaitMs('bad')).to.equal(0);
  });

  it('forgets all keys when there are too many', () => {
    refuse('bad', REFUSALS_MAX);
    for (let at = 1; at < 1000; at += 1) refuse(`key ${at}`, 1);
    refuse('bad', 1);
    throttle.computeWaitMs('good');
    expect(throttle.computeWaitMs('bad')).to.equal(EVERY_MS);
    refuse('one more', 1);
    expect(throttle.computeWaitMs('bad')).to.equal(0);
  });
});
