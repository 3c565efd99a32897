// The steps of a shutdown, each with a time limit, so that none keeps the process from ending.
import { fault } from '../base/faults.ts';
import type { LiveCalls } from '../http/live-calls.ts';
import type { Log } from '../http/log.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** How long the ledger may take to finish once every call has ended. */
const LEDGER_DRAIN_MS = 5_000;
/** How long closing the store may take; another process's lock could otherwise delay it for many times that. */
const CLOSE_MS = 5_000;

/** A shutdown may be asked for in several places: the first begins it, and all wait for the same end. */
export function once(work: () => Promise<void>): () => Promise<void> {
  let end: Promise<void> | undefined;
  return () => {
    end ??= work();
    return end;
  };
}

export async function endCalls(calls: LiveCalls, drainMs: number): Promise<void> {
  await calls.drain(drainMs);
  // Also ends calls whose request was still arriving.
  calls.endAll(fault('shutting_down'));
  await calls.drain(LEDGER_DRAIN_MS);
}

export async function endLedger(ledger: Ledger, log: Log): Promise<void> {
  const left = await ledger.drain(LEDGER_DRAIN_MS);
  if (left > 0)
    log.error({ left }, 'stopped before the store confirmed everything; open holds will be returned in full');
}

export async function closeAll(closes: readonly (() => Promise<void>)[], log: Log): Promise<void> {
  if (!(await endsWithin(closeInOrder(closes), CLOSE_MS))) log.error('the store did not close in time; exiting anyway');
}

async function closeInOrder(closes: readonly (() => Promise<void>)[]): Promise<void> {
  for (const close of closes) await close();
}

/** Resolves to whether the work ends in time; rejects if it fails in time. */
async function endsWithin(work: Promise<void>, withinMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), withinMs);
  });
  const ended = work.then(() => true);
  ended.catch(() => undefined);
  return Promise.race([ended, late]).finally(() => clearTimeout(timer));
}
