// The audit of marks: finds rows of accounts, memberships, keys, payments, saved methods, automatic top-ups, jobs and
// archives whose values were changed outside the service, although they are stored only once.
import type { WrongMarks } from '../store/ports/wrong-marks.ts';
import type { Store } from '../store/store.ts';
import { type PageStart, walkFound } from '../store/walks.ts';
import type { ReportProblem } from './audit-rules.ts';

type Parts = Pick<Store, 'accounts' | 'users' | 'keys' | 'payments' | 'jobs' | 'archives'>;

type ReadWrongMarks = (page: PageStart) => Promise<WrongMarks>;

const ROWS_PER_PAGE = 500;

export async function checkMarks(
  { accounts, users, keys, payments, jobs, archives }: Parts,
  report: ReportProblem,
): Promise<void> {
  const readers: readonly (readonly [string, ReadWrongMarks])[] = [
    ['account', (page) => accounts.findWrongMarks(page)],
    ['membership', (page) => users.findWrongMarks(page)],
    ['key', (page) => keys.findWrongMarks(page)],
    ['payment', (page) => payments.findWrongMarks('payments', page)],
    ['saved method', (page) => payments.findWrongMarks('methods', page)],
    ['consent', (page) => payments.findWrongMarks('consents', page)],
    ['automatic top-up of', (page) => payments.findWrongMarks('autoTopups', page)],
    ['job', (page) => jobs.findWrongMarks(page)],
    ['opening of', (page) => archives.findWrongMarks('openings', page)],
    ['archive', (page) => archives.findWrongMarks('archives', page)],
  ];
  for (const [name, read] of readers) {
    const wrong = walkFound((after) => read({ after, limit: ROWS_PER_PAGE }));
    for await (const { id, wallet } of wrong) report(wallet, `${name} ${id}: its mark says other values`);
  }
}
