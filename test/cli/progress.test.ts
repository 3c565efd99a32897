// The bar of commands that take long.
import { expect } from 'chai';
import { createBar } from '../../lib/cli/progress.ts';

describe('cli progress', () => {
  it('shows a bar to people only', () => {
    const shown: string[] = [];
    const write = (text: string | Uint8Array) => shown.push(String(text)) > 0;
    const bar = createBar({ isTTY: true, write });
    bar.show?.({ done: 50, total: 100, unit: 'entries' });
    bar.show?.({ done: 50, total: 100, unit: 'entries' });
    // More came while it was counted.
    bar.show?.({ done: 101, total: 100, unit: 'entries' });
    bar.end();
    expect(shown).to.deep.equal([
      `\r[${'#'.repeat(20)}${'.'.repeat(20)}] 50 of 100 entries`,
      `\r[${'#'.repeat(40)}] 101 of 100 entries`,
      '\r\x1b[K',
    ]);
    const silent = createBar({ isTTY: false, write });
    expect(silent.show).to.equal(undefined);
    silent.end();
    expect(shown).to.have.length(3);
  });
});
