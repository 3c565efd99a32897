// The threads of a store keep their process alive while a call is running, and no longer.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { useFolder } from './folder.ts';

const CHILD = new URL('./thread-child.ts', import.meta.url).pathname;

describe('a process with a store that nobody closes', () => {
  const folder = useFolder();

  it('ends after its last call is answered, and not before', async () => {
    const args = ['--disable-warning=ExperimentalWarning', CHILD, folder.file()];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 20_000, killSignal: 'SIGKILL' });
    expect(stdout).to.equal('written\n');
  });
});
