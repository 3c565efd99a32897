// What an answer takes of the memory that all clients share.
import { expect } from 'chai';
import { isFault } from '../../lib/base/faults.ts';
import { createMemoryQuota } from '../../lib/http/memory-quota.ts';
import { AnswerMemory } from '../../lib/stream/answer-memory.ts';

const MIB = 1024 * 1024;

describe('the memory of an answer', () => {
  const start = () => {
    const quota = createMemoryQuota({ bytesMax: 32 * MIB, ownerBytesMax: 16 * MIB });
    const share = quota.reserve('key');
    return { quota, share, memory: new AnswerMemory(share) };
  };
  const refusal = (work: () => void) => {
    try {
      work();
      return undefined;
    } catch (error) {
      return isFault(error) && error.data?.code;
    }
  };

  it('counts a long event as it grows, and no more once it has ended', () => {
    const { quota, memory } = start();
    const rows = [
      [MIB, 0],
      [MIB + 1, 2],
      [5 * MIB, 5],
      [5 * MIB + 1, 6],
      [10, 0],
      [2 * MIB, 2],
      [0, 0],
    ] as const;
    for (const [chars, mebibytes] of rows) {
      memory.holdEvent(chars);
      expect(quota.used() / MIB, String(chars)).to.equal(mebibytes);
    }
  });

  it('counts images until the end of the call', () => {
    const { quota, share, memory } = start();
    memory.holdEvent(3 * MIB);
    memory.holdImage(2 * MIB);
    memory.holdEvent(0);
    memory.holdImage(7);
    expect(quota.used()).to.equal(2 * MIB + 7);
    share.releaseAll();
    expect(quota.used()).to.equal(0);
  });

  it('refuses what does not fit, of the event and of images', () => {
    const { quota, share, memory } = start();
    memory.holdImage(14 * MIB);
    expect(refusal(() => memory.holdImage(2 * MIB + 1))).to.equal('no_room_for_answer');
    expect(refusal(() => memory.holdEvent(4 * MIB))).to.equal('no_room_for_answer');
    expect(quota.used()).to.equal(16 * MIB);
    share.releaseAll();
    memory.holdEvent(0);
    expect(quota.used()).to.equal(0);
  });
});
