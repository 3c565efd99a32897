// Places among the calls that run at once: order, retries, limits that change, and who never waits for whom.
import { expect } from 'chai';
import { createCallPlaces, WAITING_MAX } from '../../lib/api/call-places.ts';
import { CallsFull } from '../../lib/ledger/caps.ts';
import { getAccountCallsId, getKeyCallsId } from '../../lib/money/budget.ts';
import { NO_LIMITS } from '../../lib/money/key-limits.ts';
import type { RequestLimits } from '../../lib/money/request-limits.ts';
import { until } from '../../testkit/client.ts';

const caller = (id: string, requests?: RequestLimits, accountRequests?: RequestLimits) => ({
  id,
  budgetKey: null as string | null,
  account: 'acc',
  limits: { ...NO_LIMITS, ...(requests && { requests }) },
  ...(accountRequests && { accountRequests }),
});
const WAITS = { atOnce: 2, waitSeconds: 60 };

describe('places of calls', () => {
  let places: ReturnType<typeof createCallPlaces>;
  /** The counts of a store, by their ids. */
  let counts: Map<string, number>;
  let tries: string[];

  beforeEach(() => {
    places = createCallPlaces();
    counts = new Map();
    tries = [];
  });

  function take(
    name: string,
    who: ReturnType<typeof caller>,
    more: { waitedMs?: number; now?: () => typeof who } = {},
  ) {
    const controller = new AbortController();
    const state = { started: false, failed: undefined as unknown, controller };
    const { waitedMs = 0, now = () => who } = more;
    const call = { holder: who, confirm: async () => now(), waitedMs, signal: controller.signal };
    const start = async (caps: Parameters<Parameters<typeof places.take>[1]>[0]) => {
      tries.push(name);
      await new Promise((resolve) => setImmediate(resolve));
      for (const cap of caps) {
        if (cap.kind === 'calls' && (counts.get(cap.id) ?? 0) >= Number(cap.limit)) throw new CallsFull(cap);
      }
      for (const { id } of caps) counts.set(id, (counts.get(id) ?? 0) + 1);
    };
    places.take(call, start).then(
      () => Object.assign(state, { started: true }),
      (failed: unknown) => Object.assign(state, { failed }),
    );
    return state;
  }
  const settle = async () => {
    for (let tick = 0; tick < 5; tick += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const end = (id: string) => {
    counts.set(id, (counts.get(id) ?? 0) - 1);
    places.notify(id);
  };
  const tooMany = (state: { failed: unknown }) =>
    expect(state.failed).to.be.an('error').with.nested.property('data.code', 'too_many_calls');

  it('come in order, at once when a call of this process ends, and soon when one of another does', async () => {
    const key = caller('key', WAITS);
    const id = getKeyCallsId('key');
    const calls = ['a', 'b', 'c', 'd', 'e'].map((name) => take(name, key));
    await settle();
    const started = () => calls.map((call) => call.started);
    expect(started()).to.deep.equal([true, true, false, false, false]);
    end(id);
    await settle();
    expect(started()).to.deep.equal([true, true, true, false, false]);
    // A later one waits behind those who wait, even if there is a place; only the first tries.
    counts.set(id, 1);
    tries = [];
    const late = take('late', key);
    await settle();
    expect(tries).to.deep.equal([]);
    await until(() => calls.at(3)?.started === true);
    expect([tries[0], calls.at(4)?.started, late.started]).to.deep.equal(['d', false, false]);
    counts.set(id, 0);
    await until(() => late.started);
    expect(tries.filter((name) => name !== 'd' && name !== 'e')).to.deep.equal(['late']);
  });

  it('are not missed that become free while the call is just trying', async () => {
    const id = getKeyCallsId('key');
    counts.set(id, 2);
    const first = take('first', caller('key', WAITS));
    await settle();
    places.notify(id);
    for (let tick = 0; tick < 20; tick += 1) await undefined;
    expect(tries).to.deep.equal(['first', 'first']);
    places.notify(id);
    await settle();
    expect(tries).to.have.lengthOf.at.least(3);
    first.controller.abort();
    await settle();
    expect(first.failed).to.have.property('name', 'AbortError');
  });

  it('are refused when no call ends in time, at once if the call may not wait, or has waited before', async () => {
    counts.set(getKeyCallsId('key'), 1);
    const states = [
      take('unwilling', caller('key', { atOnce: 1 })),
      take('waited', caller('key', { atOnce: 1, waitSeconds: 5 }), { waitedMs: 5000 }),
    ];
    await settle();
    for (const state of states) tooMany(state);
    const patient = take('patient', caller('key', { atOnce: 1, waitSeconds: 5 }), { waitedMs: 4900 });
    await until(() => patient.failed !== undefined);
    tooMany(patient);
    // Nobody is left in the line.
    counts.set(getKeyCallsId('key'), 0);
    const next = take('next', caller('key', { atOnce: 1 }));
    await settle();
    expect(next.started).to.equal(true);
  });

  it('are lost to a call whose key cannot be read again, which holds nobody up', async () => {
    const id = getKeyCallsId('key');
    counts.set(id, 2);
    const lost = new Error('the store is gone');
    const now = () => {
      throw lost;
    };
    const [first, second] = [take('first', caller('key', WAITS), { now }), take('second', caller('key', WAITS))];
    await settle();
    tries = [];
    end(id);
    await settle();
    expect([first.failed, first.started, second.started]).to.deep.equal([lost, false, true]);
    expect(tries).to.deep.equal(['second']);
  });

  it('follow limits that change while a call waits', async () => {
    counts.set(getKeyCallsId('key'), 2);
    let limit: RequestLimits | undefined = WAITS;
    const now = () => caller('key', limit);
    const [first, second] = [take('first', now(), { now }), take('second', now(), { now })];
    await settle();
    // Lowered: fewer than two are too many now.
    limit = { ...WAITS, atOnce: 1 };
    end(getKeyCallsId('key'));
    await settle();
    expect([first.started, second.started]).to.deep.equal([false, false]);
    limit = undefined;
    await until(() => first.started && second.started);
    expect(counts.get(getKeyCallsId('key'))).to.equal(1);
  });

  it('are waited for as long as the limits say when the time is up', async () => {
    counts.set(getKeyCallsId('key'), 1);
    const impatient = caller('key', { atOnce: 1, waitSeconds: 5 });
    const wait = (name: string, requests?: RequestLimits) =>
      take(name, impatient, { waitedMs: 4990, now: () => caller('key', requests) });
    const calls = [take('first', caller('key', { atOnce: 1, waitSeconds: 60 }))];
    await settle();
    calls.push(
      wait('free'),
      wait('patient', { atOnce: 1, waitSeconds: 60 }),
      wait('late', { atOnce: 1, waitSeconds: 5 }),
    );
    await until(() => calls.at(1)?.started === true && calls.at(3)?.failed !== undefined);
    tooMany(calls[3] as ReturnType<typeof take>);
    const states = calls.slice(0, 3).map(({ started, failed }) => [started, failed]);
    expect(states).to.deep.equal([
      [false, undefined],
      [true, undefined],
      [false, undefined],
    ]);
    for (const { controller } of calls) controller.abort();
  });

  it('have no line longer than a thousand calls', async () => {
    counts.set(getKeyCallsId('key'), 2);
    const key = caller('key', WAITS);
    const waiting = Array.from({ length: WAITING_MAX }, () => take('waits', key));
    await settle();
    const [further, other] = [take('further', key), take('other', caller('other', WAITS))];
    await settle();
    tooMany(further);
    expect([waiting.some(({ failed }) => failed !== undefined), other.started]).to.deep.equal([false, true]);
    for (const { controller } of waiting) controller.abort();
  });

  it('of a replaced key count those of the key before', async () => {
    counts.set(getKeyCallsId('old'), 1);
    const next = take('next', { ...caller('new', { atOnce: 1 }), budgetKey: 'old' });
    await settle();
    tooMany(next);
  });

  it('end with the client that leaves, and with what else refuses the call', async () => {
    counts.set(getKeyCallsId('key'), 2);
    const left = take('left', caller('key', WAITS));
    const gone = take('gone', caller('key', WAITS), {
      now: () => {
        throw new Error('revoked');
      },
    });
    await settle();
    left.controller.abort('gone');
    await settle();
    expect(left.failed).to.equal('gone');
    await until(() => gone.failed !== undefined);
    expect(String(gone.failed)).to.equal('Error: revoked');
  });

  it('of a key and an account never wait for each other', async () => {
    const [one, two] = [caller('one', { atOnce: 1, waitSeconds: 60 }, WAITS), caller('two', undefined, WAITS)];
    const of = { key: getKeyCallsId('one'), account: getAccountCallsId('acc') };
    counts.set(of.key, 1).set(of.account, 1);
    const blocked = take('blocked', one);
    await settle();
    // The full key keeps nobody else of the account from running.
    const other = take('other', two);
    await settle();
    expect([blocked.started, other.started]).to.deep.equal([false, true]);
    const behind = take('behind', two);
    end(of.key);
    await settle();
    expect([blocked.started, behind.started]).to.deep.equal([false, false]);
    end(of.account);
    end(of.account);
    await until(() => blocked.started && behind.started);
    expect([...counts.values()]).to.deep.equal([1, 2]);
    // The call that moved from one line to the other has left the first.
    end(of.key);
    end(of.account);
    const later = take('later', one);
    await settle();
    expect(later.started).to.equal(true);
  });
});
