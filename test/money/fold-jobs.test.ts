// Money and a job that change in one batch: both or neither, and a repeat changes nothing.
import { expect } from 'chai';
import { collectBatchKeys } from '../../lib/money/batch-keys.ts';
import type { ChargeOp, Operation, RefundOp } from '../../lib/money/decide.ts';
import { fold } from '../../lib/money/fold.ts';
import type { CreateJob, FailJob } from '../../lib/money/job-rules.ts';
import { AT, type Books, balances, newBooks, operation, run } from '../ledger/books.ts';

const CREATE: CreateJob = {
  kind: 'create',
  job: {
    id: 'vid_1',
    wallet: 'w',
    charge: 'c',
    model: 'm',
    upstream: 'one',
    facts: '{}',
    deadline: AT + 100,
    createdAt: AT,
    owner: 'o',
    lease: AT + 10,
  },
};
const FAIL: FailJob = { kind: 'fail', id: 'vid_1', version: 1, at: AT, error: 'It failed.' };

const start = (rub = 15): ChargeOp => ({ ...(operation('charge', 'c', rub) as ChargeOp), job: CREATE });
const refund = (version = 1): RefundOp => ({ ...(operation('refund', 'c', 0) as RefundOp), job: { ...FAIL, version } });

describe('a batch with jobs', () => {
  let books: Books;

  beforeEach(() => {
    books = newBooks();
    run(books, operation('topup', 'p', 1000));
  });

  it('creates the job with its charge', () => {
    const { outcomes } = fold(books, [start()]);
    expect(outcomes[0]).to.deep.include({ status: 'done' });
    expect(outcomes[0]?.job).to.include({ id: 'vid_1', phase: 'starting', version: 1 });
    expect(run(books, start())).to.equal('done');
    expect(books.jobs.get('vid_1')).to.deep.equal(outcomes[0]?.job);
    expect(balances(books)).to.deep.equal([985, 0, 15, 1000, 0]);
  });

  it('creates no job when the charge is refused', () => {
    expect(run(books, start(1001))).to.equal('insufficient');
    expect([...books.jobs]).to.deep.equal([]);
  });

  it('creates the job and the charge only once', () => {
    for (const status of ['done', 'exists', 'exists']) expect(run(books, start())).to.equal(status);
    expect(balances(books)).to.deep.equal([985, 0, 15, 1000, 0]);
    const { outcomes } = fold(newer(books), [start(), start()]);
    expect(outcomes.map(({ status, job }) => [status, job?.version])).to.deep.equal([
      ['exists', 1],
      ['exists', 1],
    ]);
  });

  it('fails a job together with the refund of its charge, only once', () => {
    run(books, start());
    expect(run(books, refund())).to.equal('done');
    expect(books.jobs.get('vid_1')).to.include({ phase: 'failed', error: 'It failed.', version: 2 });
    expect(balances(books)).to.deep.equal([1000, 0, 0, 1000, 0]);
    expect(run(books, refund())).to.equal('exists');
    expect(books.journal).to.have.length(3);
  });

  it('refunds nothing when the job has changed in the meantime or ended', () => {
    run(books, start());
    for (const phase of ['completed', 'running'] as const) {
      const job = { ...(books.jobs.get('vid_1') as object), phase, version: 2 };
      const changed = { ...books, jobs: new Map([['vid_1', job as never]]) };
      const { outcomes, ...written } = fold(changed, [refund()]);
      expect(outcomes[0]).to.deep.include({ status: 'stale_job', job });
      expect(outcomes[0]?.charge?.state).to.equal('settled');
      const nothing = {
        wallets: [],
        charges: [],
        jobs: [],
        payments: [],
        entries: [],
        budgets: [],
        idempotencyRecords: [],
        attempts: [],
      };
      expect(written).to.deep.equal(nothing);
    }
    const gone = fold({ ...books, jobs: new Map() }, [refund()]);
    expect([gone.outcomes[0]?.status, gone.entries.length]).to.deep.equal(['stale_job', 0]);
    expect(balances(books)).to.deep.equal([985, 0, 15, 1000, 0]);
  });

  it('sees the effects of earlier operations of the same batch', () => {
    const { outcomes, jobs, entries } = fold(books, [start(), refund(), refund(), start()]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['done', 'done', 'exists', 'exists']);
    expect(jobs.map(({ phase }) => phase)).to.deep.equal(['failed']);
    expect(entries.map(({ kind }) => kind)).to.deep.equal(['charge', 'refund']);
  });

  it('lists the jobs that it needs', () => {
    const operations: Operation[] = [start(), refund(), operation('refund', 'other', 0)];
    expect([...collectBatchKeys(operations).jobs]).to.deep.equal(['vid_1']);
  });
});

/** Copies the rows, as a store would read them again. */
function newer(books: Books): Books {
  return { ...books, wallets: new Map(books.wallets), charges: new Map(books.charges), jobs: new Map(books.jobs) };
}
