// Writes many lines to a standard output shared with other processes.
import { createLog } from '../../lib/http/log.ts';

const log = createLog({ level: 'info', keyPrefix: 'tg-', isShared: true });
for (let round = 0; round < 40; round += 1) {
  for (let line = 0; line < 150; line += 1) log.info({ process: process.pid, text: 'x'.repeat(200 + line) }, 'line');
  await new Promise((resolve) => setTimeout(resolve, 2));
}
await log.written();
