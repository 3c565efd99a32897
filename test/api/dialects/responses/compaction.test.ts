// What a compaction keeps of a conversation beside its summary.
import { expect } from 'chai';
import { listKept } from '../../../../lib/api/dialects/responses/compaction.ts';

describe('what a compaction keeps', () => {
  it('is at most 256 KiB, the latest first', () => {
    const sayIn = (bytes: number) => {
      const message = { type: 'message', role: 'user', content: '' };
      return { ...message, content: 'a'.repeat(bytes - JSON.stringify(message).length) };
    };
    const kept = (...sizes: readonly number[]) => listKept(sizes.map(sayIn)).length;
    expect(kept(256 * 1024)).to.equal(1);
    expect(kept(256 * 1024 + 1)).to.equal(0);
    expect(kept(100, 256 * 1024 - 100, 100)).to.equal(2);
  });
});
