// The attempts of a video: its upstream accepts a job long before anybody knows what it costs.
import { type Attempt, type NewAttempt, toAttemptRows } from '../../money/attempt.ts';
import type { Job } from '../../money/job-rules.ts';
import type { VideoRef } from '../../upstream/contract/provider.ts';
import { cleanVendorId } from '../booked-attempts.ts';

/** The attempts of a submission whose last one was accepted. */
export function markRunning(attempts: readonly NewAttempt[], { id }: VideoRef): readonly NewAttempt[] {
  const requestId = cleanVendorId(id);
  return replaceLast(attempts, (last) => ({ ...last, requestId, ending: 'running', certainty: 'possible' }));
}

/** The attempts of a job that has ended, from those that were booked while it ran. */
export function endJobAttempts(
  job: Job,
  rows: readonly Attempt[],
  { how, now }: { readonly how: 'completed' | 'failed'; readonly now: number },
): readonly NewAttempt[] {
  if (rows.length === 0) return [presumeJobAttempt(job, { how, now })];
  return replaceLast(rows.map(toNewAttempt), (last) => {
    // It was ended before, but the store's reply was lost.
    if (last.ending !== 'running') return last;
    const totalMs = Math.max(0, now - last.at);
    if (how === 'completed') return { ...last, totalMs, ending: 'answered', certainty: 'reported' };
    return { ...last, totalMs, ending: 'failed', certainty: 'possible' };
  });
}

export function toJobAttemptRows({ charge, wallet }: Job, attempts: readonly NewAttempt[]): readonly Attempt[] {
  return toAttemptRows({ charge, wallet }, attempts);
}

/** Its process died before it could book the attempt, or belonged to an earlier version. */
function presumeJobAttempt(
  { model, upstream, createdAt }: Job,
  { how, now }: { readonly how: 'completed' | 'failed'; readonly now: number },
): NewAttempt {
  const [ending, certainty] =
    how === 'completed' ? (['answered', 'reported'] as const) : (['lost', 'possible'] as const);
  const nothing = { upstreamModel: null, keyPlace: null, requestId: null, firstMs: null, usage: null, cost: null };
  return { model, upstream, ...nothing, at: createdAt, ending, certainty, totalMs: Math.max(0, now - createdAt) };
}

function toNewAttempt(row: Attempt): NewAttempt {
  const { charge: _charge, wallet: _wallet, number: _number, last: _last, mark: _mark, ...attempt } = row;
  return attempt;
}

function replaceLast(attempts: readonly NewAttempt[], change: (last: NewAttempt) => NewAttempt): readonly NewAttempt[] {
  const last = attempts.at(-1);
  return last ? [...attempts.slice(0, -1), change(last)] : attempts;
}
