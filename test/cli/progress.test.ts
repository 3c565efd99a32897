// The progress bar of long commands.
import { expect } from 'chai';
import { createBar, withBar } from '../../lib/cli/progress.ts';

describe('cli progress', () => {
  it('shows a bar on terminals only', () => {
    const shown: string[] = [];
    const write = (text: string | Uint8Array) => shown.push(String(text)) > 0;
    const bar = createBar({ isTTY: true, write });
    bar.show?.({ done: 50, total: 100, unit: 'entries' });
    bar.show?.({ done: 50, total: 100, unit: 'entries' });
    // More came while it was counted.
    bar.show?.({ done: 150, total: 100, unit: 'entries' });
    bar.end();
    expect(shown).to.deep.equal([
      `\r[${'#'.repeat(20)}${'.'.repeat(20)}] 50 of 100 entries`,
      `\r[${'#'.repeat(40)}] 150 of 100 entries`,
      '\r\x1b[K',
    ]);
    const silent = createBar({ isTTY: false, write });
    expect(silent.show).to.equal(undefined);
    silent.end();
    expect(shown).to.have.length(3);
    createBar({ isTTY: true, write }).show?.({ done: 0, total: 0, unit: 'entries' });
    expect(shown.at(-1)).to.equal(`\r[${'#'.repeat(40)}] 0 of 0 entries`);
  });

  it('removes the bar after success and failure', async () => {
    const { stderr } = process;
    const { isTTY, write } = stderr;
    const shown: string[] = [];
    const ends: unknown[] = [];
    try {
      Object.assign(stderr, { isTTY: true, write: (text: string) => shown.push(text) > 0 });
      for (const fails of [false, true]) {
        const work = withBar(async (onProgress) => {
          onProgress?.({ done: 1, total: 2, unit: 'entries' });
          if (fails) throw new Error('it failed');
          return 'done';
        });
        ends.push(await work.catch((error: Error) => error.message));
      }
    } finally {
      Object.assign(stderr, { isTTY, write });
    }
    expect(ends).to.deep.equal(['done', 'it failed']);
    const bar = `\r[${'#'.repeat(20)}${'.'.repeat(20)}] 1 of 2 entries`;
    expect(shown).to.deep.equal([bar, '\r\x1b[K', bar, '\r\x1b[K']);
  });
});
