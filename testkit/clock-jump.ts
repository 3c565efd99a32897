// Preloaded into a service with `--import`: its clock jumps an hour ahead with every SIGUSR2.
import { isMainThread } from 'node:worker_threads';
import { HOUR_MS } from '../lib/base/durations.ts';
import { takeClock } from './clock.ts';

if (isMainThread) {
  const clock = takeClock();
  let hours = 0;
  process.on('SIGUSR2', () => {
    hours += 1;
    clock.set(hours * HOUR_MS);
  });
}
