// The process that a plugin is checked in: runs its checks one after the other and reports each to the supervisor.
import { OperatorError } from '../../base/operator-error.ts';
import type { Check } from './subject.ts';

/** What the process sends to its supervisor. */
export type WorkerMessage =
  | { readonly type: 'refused'; readonly reason: string; readonly isOperators: boolean }
  | { readonly type: 'listed'; readonly checks: readonly { group: string; name: string; unchecked?: string }[] }
  | { readonly type: 'ended'; readonly at: number; readonly reason?: string }
  | { readonly type: 'alive' }
  | { readonly type: 'lost'; readonly reason: string }
  | { readonly type: 'done' };

export type Suite = 'provider' | 'payment';

/** No check takes longer, also on a busy machine. */
const CHECK_MS_MAX = 60_000;

const [, , suite, folder = ''] = process.argv;

process.on('uncaughtException', (error: unknown) => {
  void sendToSupervisor({ type: 'lost', reason: describeUnhandled(error) }).then(() => process.exit(1));
});
// Nobody waits for a verdict any more.
process.on('disconnect', () => process.exit());
process.on('message', () => void sendToSupervisor({ type: 'alive' }));
void sendToSupervisor({ type: 'alive' });
await main();
await sendToSupervisor({ type: 'done' });
process.disconnect?.();

async function main(): Promise<void> {
  let checks: readonly Check[];
  try {
    checks = await collect();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return sendToSupervisor({ type: 'refused', reason, isOperators: error instanceof OperatorError });
  }
  await sendToSupervisor({
    type: 'listed',
    checks: checks.map(({ group, name, unchecked }) => ({
      group,
      name,
      ...(unchecked !== undefined && { unchecked }),
    })),
  });
  for (const [at, check] of checks.entries()) {
    const reason = await run(check);
    await sendToSupervisor({ type: 'ended', at, ...(reason !== undefined && { reason }) });
  }
}

async function collect(): Promise<readonly Check[]> {
  if (suite === 'payment') return (await import('./payment.ts')).collectPaymentChecks(folder);
  return (await import('./check.ts')).collectChecks(folder, { thorough: true });
}

function describeUnhandled(error: unknown): string {
  const [place] = (error instanceof Error && /^\s+at .+/m.exec(error.stack ?? '')) || [''];
  return `nobody handles an error, which may be of a promise that is not awaited: ${error}\n${place}`;
}

/** Resolves to why the check failed; undefined if it passed. */
async function run(check: Check): Promise<string | undefined> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () =>
      reject(new Error(`the check has no end after ${CHECK_MS_MAX / 1000} s: a call hangs, or each takes too long`)),
    CHECK_MS_MAX,
  );
  try {
    await Promise.race([check.run(), late]);
    return undefined;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).trim();
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves when it is on its way, so that a plugin that blocks the process cannot hold it back. */
function sendToSupervisor(message: WorkerMessage): Promise<void> {
  return new Promise((resolve) => process.send?.(message, undefined, undefined, () => resolve()));
}
