// The turns of calls: order, places that are given back, and clients that leave while they wait.
import { expect } from 'chai';
import { createCallTurns } from '../../lib/api/call-turns.ts';
import { NO_LIMITS } from '../../lib/money/key-limits.ts';
import type { RequestLimits } from '../../lib/money/request-limits.ts';

const caller = (id: string, requests?: RequestLimits, accountRequests?: RequestLimits) => ({
  id,
  budgetKey: null as string | null,
  account: 'acc',
  limits: { ...NO_LIMITS, ...(requests && { requests }) },
  ...(accountRequests && { accountRequests }),
});

describe('turns of calls', () => {
  let turns: ReturnType<typeof createCallTurns>;

  beforeEach(() => {
    turns = createCallTurns();
  });

  function enter(who: ReturnType<typeof caller>, controller = new AbortController()) {
    const state = { entered: false, failed: undefined as unknown, leave: (): void => undefined };
    const turn = turns.enter(who, controller.signal) ?? Promise.reject(new Error('nothing limits it'));
    turn.then(
      ({ leave }) => Object.assign(state, { entered: true, leave }),
      (failed: unknown) => Object.assign(state, { failed }),
    );
    return { state, controller };
  }
  const settle = () => new Promise((resolve) => setImmediate(resolve));

  it('are free without a limit', () => {
    const { signal } = new AbortController();
    expect(turns.enter(caller('key'), signal)).to.equal(undefined);
    expect(turns.enter(caller('key', { perMinute: 1 }, { addresses: ['10.0.0.1'] }), signal)).to.equal(undefined);
  });

  it('come in order, and each call that ends lets one in', async () => {
    const key = caller('key', { atOnce: 2, waitSeconds: 60 });
    const calls = Array.from({ length: 5 }, () => enter(key).state);
    const entered = () => calls.map((call) => call.entered);
    await settle();
    expect(entered()).to.deep.equal([true, true, false, false, false]);
    calls[1]?.leave();
    await settle();
    expect(entered()).to.deep.equal([true, true, true, false, false]);
    calls[0]?.leave();
    calls[2]?.leave();
    await settle();
    expect(entered()).to.deep.equal([true, true, true, true, true]);
    for (const call of calls.slice(3)) call.leave();
    const next = enter(key).state;
    await settle();
    expect(next.entered).to.equal(true);
    next.leave();
  });

  it('are not kept for a client that leaves', async () => {
    const key = caller('key', { atOnce: 1, waitSeconds: 60 });
    const first = enter(key).state;
    const left = enter(key);
    const next = enter(key).state;
    await settle();
    left.controller.abort('gone');
    await settle();
    expect([left.state.entered, left.state.failed]).to.deep.equal([false, 'gone']);
    first.leave();
    await settle();
    expect(next.entered).to.equal(true);
    next.leave();
    const gone = new AbortController();
    gone.abort('gone before');
    const running = enter(key).state;
    const late = enter(key, gone).state;
    await settle();
    expect(late.failed).to.equal('gone before');
    running.leave();
  });

  it('of a key are given back if the account has none', async () => {
    const account = { atOnce: 1 };
    const one = enter(caller('one', { atOnce: 1 }, account)).state;
    const two = enter(caller('two', { atOnce: 1 }, account)).state;
    await settle();
    expect([one.entered, two.entered]).to.deep.equal([true, false]);
    expect(two.failed).to.be.an('error').with.nested.property('data.code', 'too_many_calls');
    one.leave();
    const again = enter(caller('two', { atOnce: 1 }, account)).state;
    await settle();
    expect(again.entered).to.equal(true);
    again.leave();
  });

  it('follow a limit that was raised', async () => {
    const first = enter(caller('key', { atOnce: 1 })).state;
    const second = enter(caller('key', { atOnce: 2 })).state;
    await settle();
    expect([first.entered, second.entered]).to.deep.equal([true, true]);
    first.leave();
    second.leave();
  });

  it('let nobody in after the limit was lowered, until fewer run', async () => {
    const key = (atOnce: number) => caller('key', { atOnce, waitSeconds: 60 });
    const running = [enter(key(2)).state, enter(key(2)).state];
    const waiting = [enter(key(2)).state, enter(key(1)).state];
    await settle();
    running[0]?.leave();
    await settle();
    expect(waiting.map(({ entered }) => entered)).to.deep.equal([false, false]);
    running[1]?.leave();
    await settle();
    expect(waiting.map(({ entered }) => entered)).to.deep.equal([true, false]);
    waiting[0]?.leave();
    await settle();
    waiting[1]?.leave();
  });

  it('of a key and of the key that replaces it are the same', async () => {
    const first = enter(caller('old', { atOnce: 1 })).state;
    const next = enter({ ...caller('new', { atOnce: 1 }), budgetKey: 'old' }).state;
    await settle();
    expect([first.entered, next.entered]).to.deep.equal([true, false]);
    first.leave();
  });

  it('refuse at once where too many wait', async () => {
    const key = caller('key', { atOnce: 1, waitSeconds: 60 });
    const calls = Array.from({ length: 1002 }, () => enter(key));
    await settle();
    expect(calls.filter(({ state }) => state.failed !== undefined)).to.have.length(1);
    for (const { controller } of calls) controller.abort('end');
  });
});
