// The lease loop: which rows it claims, renews, works on and releases, with a scripted store.
import { mock } from 'node:test';
import { expect } from 'chai';
import { createLeaseLoop, type LeaseLoop } from '../../lib/ledger/lease-loop.ts';
import type { JobClaim, JobRenewal } from '../../lib/store/ports/jobs.ts';
import { until } from '../../testkit/client.ts';

interface Row {
  readonly id: string;
  readonly version: number;
}

interface Work {
  readonly row: Row;
  readonly signal: AbortSignal;
  end(error?: Error): void;
}

const LEASE_MS = 240;
const NOW = 1_000_000;

describe('the lease loop', () => {
  let claims: JobClaim[];
  let claimedAt: number[];
  let renewals: JobRenewal[];
  let works: Work[];
  let errors: unknown[];
  /** The rows that the next claims return. */
  let due: (readonly Row[] | Error)[];
  let keeps: boolean | Error;
  let now: number;
  let trusts: boolean;
  /** The next claim waits for this promise. */
  let gate: Promise<void> | undefined;
  let loop: LeaseLoop;

  beforeEach(() => {
    [claims, claimedAt, renewals, works, errors, due, keeps, now, trusts] = [[], [], [], [], [], [], true, NOW, true];
    gate = undefined;
    loop = makeLoop(LEASE_MS);
  });
  afterEach(async () => {
    const stopping = loop.stop();
    for (const { end } of works) end();
    await stopping;
  });

  function makeLoop(leaseMs: number): LeaseLoop {
    return createLeaseLoop<Row>({
      ownerId: 'me',
      leaseMs,
      gapMs: 5,
      store: {
        claim: async (claim) => {
          claims.push(claim);
          claimedAt.push(performance.now());
          await gate;
          const found = due.shift() ?? [];
          if (found instanceof Error) throw found;
          return found;
        },
        renew: async (renewal) => {
          renewals.push(renewal);
          if (keeps instanceof Error) throw keeps;
          return keeps;
        },
      },
      work: (row, signal) =>
        new Promise((resolve, reject) => {
          works.push({ row, signal, end: (error) => (error ? reject(error) : resolve()) });
        }),
      clock: { now: () => now, canJudgeOthers: () => trusts },
      onClaimError: (err) => void errors.push(err),
      onWorkError: (err, row) => void errors.push([err, row.id]),
    });
  }

  const rows = (count: number, from = 0) =>
    Array.from({ length: count }, (_, at) => ({ id: `j${from + at}`, version: 3 }));

  it('claims nothing before its start, then for this process', async () => {
    loop.expectDue('j9', now + 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(claims).to.deep.equal([]);
    loop.start();
    await until(() => claims.length >= 1);
    expect(claims[0]).to.deep.equal({ owner: 'me', leaseMs: LEASE_MS, limit: 64, working: [], at: NOW });
  });

  it('sends no time to the store while its clock cannot be trusted', async () => {
    trusts = false;
    loop.start();
    await until(() => claims.length >= 1);
    expect(claims[0]).to.have.property('at', undefined);
  });

  it('works on each row once, and excludes it from claims until it is done', async () => {
    due = [rows(2)];
    loop.start();
    await until(() => claims.length >= 2);
    expect(works.map(({ row }) => row.id)).to.deep.equal(['j0', 'j1']);
    expect([claims[1]?.working, loop.countOpen()]).to.deep.equal([['j0', 'j1'], 2]);
    works[0]?.end();
    await until(() => claims.length >= 3);
    expect([claims[2]?.working, loop.countOpen()]).to.deep.equal([['j1'], 1]);
  });

  it('ignores rows that this process is creating', async () => {
    const made = loop.markCreating('new');
    loop.start();
    await until(() => claims.length >= 1);
    made();
    await until(() => claims.length >= 2);
    expect(claims.map(({ working }) => working)).to.deep.equal([['new'], []]);
  });

  it('claims again at once while pages are full, up to 256 rows, and when a row is done', async () => {
    loop = makeLoop(600_000);
    due = [rows(64), rows(64, 64), rows(64, 128), rows(60, 192), rows(4, 252), rows(1, 256)];
    loop.start();
    await until(() => works.length === 252);
    expect(claims.map(({ limit }) => limit)).to.deep.equal([64, 64, 64, 64]);
    loop.expectDue('j252', now + 1);
    await until(() => works.length === 256);
    expect(claims.at(-1)?.limit).to.equal(4);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(claims).to.have.length(5);
    works[7]?.end();
    await until(() => works.length === 257);
    expect(claims.at(-1)?.limit).to.equal(1);
  });

  it('renews the leases of its rows after half their time', async () => {
    due = [rows(1)];
    loop.start();
    const from = performance.now();
    await until(() => renewals.length >= 1);
    const first = performance.now();
    await until(() => renewals.length >= 2);
    expect(first - from).to.be.at.least(LEASE_MS / 2 - 20);
    expect(performance.now() - first).to.be.at.least(LEASE_MS / 2 - 20);
    expect(renewals[0]).to.deep.equal({ id: 'j0', version: 3, owner: 'me', leaseMs: LEASE_MS });
    expect(works[0]?.signal.aborted).to.equal(false);
  });

  it('aborts work whose lease is lost, without an error', async () => {
    due = [rows(1)];
    keeps = false;
    loop.start();
    await until(() => works[0]?.signal.aborted === true);
    works[0]?.end(new Error('aborted'));
    await until(() => loop.countOpen() === 0);
    expect(errors).to.deep.equal([]);
  });

  it('reports a renewal that fails, goes on with the work, and renews again', async () => {
    due = [rows(1)];
    keeps = new Error('the store is gone');
    loop.start();
    await until(() => errors.length >= 1);
    keeps = true;
    const failed = renewals.length;
    await until(() => renewals.length > failed);
    expect([...new Set(errors)].map((error) => `${error}`)).to.deep.equal(['Error: the store is gone']);
    expect(works.map(({ signal }) => signal.aborted)).to.deep.equal([false]);
  });

  it('continues after a failed claim, and after failed work', async () => {
    due = [new Error('the store is gone'), rows(1)];
    loop.start();
    await until(() => works.length === 1);
    works[0]?.end(new Error('broken'));
    await until(() => loop.countOpen() === 0 && claims.length >= 3);
    expect(errors.map((error) => `${error}`)).to.deep.equal(['Error: the store is gone', 'Error: broken,j0']);
    // A third of a lease later, so that a failing store is not called all the time.
    const [failed = 0, next = 0] = claimedAt;
    expect(next - failed).to.be.at.least(LEASE_MS / 3 - 5);
  });

  it('makes one claim at a time, even if more rows become due', async () => {
    const answer = Promise.withResolvers<void>();
    gate = answer.promise;
    loop.start();
    await until(() => claims.length >= 1);
    loop.expectDue('j1', now + 1);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(claims).to.have.length(1);
    answer.resolve();
    await until(() => claims.length >= 2);
  });

  it('claims every five seconds even with long leases, and does not keep the process alive', async () => {
    loop = makeLoop(600_000);
    const timer = mock.method(globalThis, 'setTimeout');
    loop.start();
    await new Promise((resolve) => setImmediate(resolve));
    await until(() => claims.length >= 1);
    await new Promise((resolve) => setImmediate(resolve));
    timer.mock.restore();
    const pauses = timer.mock.calls.filter(({ arguments: [, ms = 0] }) => ms > 1000 && ms <= 600_000);
    expect(pauses.map(({ arguments: [, ms] }) => ms)).to.deep.equal([5000]);
    expect(pauses.map(({ result }) => result?.hasRef())).to.deep.equal([false]);
  });

  it('wakes for a row that is due before the next claim, and forgets a row of another process', async () => {
    loop = makeLoop(600_000);
    loop.start();
    await until(() => claims.length >= 1);
    loop.expectDue('j5', now + 10);
    expect(loop.countOpen()).to.equal(1);
    now += 10;
    await until(() => claims.length >= 2);
    await until(() => loop.countOpen() === 0);
    loop.expectDue('j6', now + 10);
    due = [[{ id: 'j6', version: 1 }]];
    await until(() => works.length === 1);
    expect(loop.countOpen()).to.equal(1);
  });

  it('aborts running work on stop, waits for it, and claims nothing more', async () => {
    due = [rows(1)];
    loop.start();
    await until(() => works.length === 1);
    let isOver = false;
    const stopping = loop.stop().then(() => {
      isOver = true;
    });
    expect(works[0]?.signal.aborted).to.equal(true);
    const before = claims.length;
    loop.expectDue('j1', now + 1);
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect([isOver, claims.length]).to.deep.equal([false, before]);
    works[0]?.end();
    await stopping;
    expect(errors).to.deep.equal([]);
  });

  it('ignores rows claimed after it was stopped', async () => {
    const answer = Promise.withResolvers<void>();
    gate = answer.promise;
    due = [rows(2)];
    loop.start();
    await until(() => claims.length >= 1);
    let isOver = false;
    const stopping = loop.stop().then(() => {
      isOver = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isOver, 'while the store works on a claim').to.equal(false);
    answer.resolve();
    await stopping;
    expect(works).to.have.length(0);
  });
});
