// Whether writing to a full pipe blocks, after a process that inherits it was started.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';

const STDOUT = new URL('../../lib/platform/stdout.ts', import.meta.url);

describe('keepStdoutFromBlocking', () => {
  it('makes writes to a full pipe fail instead of wait, also after another process has inherited it', async () => {
    const program = `import { spawnSync } from 'node:child_process';
      import { writeSync } from 'node:fs';
      import { keepStdoutFromBlocking } from '${STDOUT}';
      keepStdoutFromBlocking();
      spawnSync('true', { stdio: 'inherit' });
      keepStdoutFromBlocking();
      try {
        for (;;) writeSync(1, Buffer.alloc(65_536));
      } catch ({ code }) {
        process.exit(code === 'EAGAIN' ? 7 : 8);
      }`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: 8000,
    });
    const [code] = await once(child, 'exit');
    child.stdout.destroy();
    expect(code).to.equal(7);
  });
});
