// Attempts at upstreams in a copy of a store.
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { type Attempt, toAttemptRows } from '../../lib/money/attempt.ts';
import { StoreError } from '../../lib/store/store.ts';
import { type FaultyStore, lose } from '../../testkit/faulty-store.ts';
import { newAttempt, rejection } from '../contract/store/context.ts';
import { newJob } from '../contract/store/jobs.ts';
import { addCalls, useCopies } from './copies.ts';

describe('copy of attempts', () => {
  let source: FaultyStore;
  let target: FaultyStore;
  let wallet: string;
  const { copy, breakOff } = useCopies((opened) => {
    ({ source, target, wallet } = opened);
  });

  beforeEach(() => addCalls({ source, wallet }));

  it('copies all attempts, even those of a job that ended after its charge', async () => {
    const job = await newJob(source.real, wallet);
    const of = { charge: job.charge, wallet };
    const running = newAttempt({ ending: 'running', certainty: 'possible' });
    await source.real.attempts.put(toAttemptRows(of, [running]));
    target.next('attempts.put', lose);
    expect(await rejection(copy())).to.be.instanceOf(StoreError);
    const page = { limit: 10 };
    // The job ends after the journal was copied.
    source.next('jobs.page', async (list) => {
      await source.real.attempts.put(toAttemptRows(of, [{ ...running, ending: 'answered', certainty: 'reported' }]));
      return list();
    });
    expect(await copy(true)).to.include({ resumed: true });
    const wanted = await source.real.attempts.page(page);
    expect(wanted.map(({ ending }) => ending)).to.have.members(['failed', 'answered', 'answered']);
    expect(await target.real.attempts.page(page)).to.deep.equal(wanted);
  });

  it('refuses a target with other attempts', async () => {
    await copy();
    await breakOff();
    const [row] = (await target.real.attempts.page({ limit: 1 })) as [Attempt];
    await target.real.attempts.put([{ ...row, number: 9 }]);
    const error = await rejection(copy());
    expect(error).to.be.instanceOf(OperatorError).with.property('message').that.includes('the list of attempts');
  });
});
