// A worker of a test: what its mode says it does when it starts, and when it is told to stop.
import { type ToWorker, WORKER_VARIABLE } from '../../lib/workers/messages.ts';

export type Mode = 'listens' | 'fails' | 'waits' | 'stays' | 'stops badly';

const mode = process.env.POOL_WORKER_MODE as Mode;

if (mode === 'fails') process.exit(3);
if (mode === 'stays') process.on('SIGTERM', () => undefined);
process.on('message', ({ kind }: ToWorker) => {
  if (kind === 'stop' && mode !== 'stays') process.exit(mode === 'stops badly' ? 4 : 0);
  if (kind === 'scrape') process.send?.({ kind: 'scraped', metrics: [] });
});
// The terms as they came, and the flags of Node, in the place of what a gateway tells.
const report = { terms: JSON.parse(process.env[WORKER_VARIABLE] ?? ''), flags: process.execArgv };
if (mode === 'waits') process.on('SIGTERM', () => process.exit(0));
else process.send?.({ kind: 'ready', report });
process.send?.({ kind: 'hits', id: process.pid, hits: [['generate', 5, 'key_1']] });
