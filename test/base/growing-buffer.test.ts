// The memory that a growing buffer takes for any length, and that it loses no bytes.
import { expect } from 'chai';
import { createGrowingBuffer } from '../../lib/base/growing-buffer.ts';

const KIB = 1024;

describe('growing buffer', () => {
  /** What is asked for when pieces of these lengths arrive. */
  function taken(lengths: readonly number[], options: { announced?: number; bytesMax?: number } = {}) {
    const { announced, bytesMax = 1000 * KIB } = options;
    const asked: number[] = [];
    const room = createGrowingBuffer({ announced, bytesMax, take: (bytes) => asked.push(bytes) });
    const pieces = lengths.map((length, at) => Buffer.alloc(length, at + 1));
    for (const piece of pieces) room.append(piece);
    expect(room.content().equals(Buffer.concat(pieces))).to.equal(true);
    return asked;
  }

  it('is allocated once if the length is announced', () => {
    expect(taken([1, 5, 94], { announced: 100 })).to.deep.equal([100]);
  });

  it('starts with room for several chunks and doubles when full', () => {
    expect(taken([1, 64 * KIB - 1])).to.deep.equal([64 * KIB]);
    expect(taken([1, 64 * KIB])).to.deep.equal([64 * KIB, 64 * KIB + 2]);
    expect(taken([100 * KIB, 150 * KIB])).to.deep.equal([200 * KIB, 300 * KIB]);
  });

  it('never exceeds the maximum length', () => {
    expect(taken([600 * KIB, 400 * KIB])).to.deep.equal([1000 * KIB]);
    expect(taken([10, 20], { bytesMax: 30 })).to.deep.equal([30]);
  });

  it('is empty at first and takes no memory', () => {
    expect(taken([])).to.deep.equal([]);
    expect(taken([0])).to.deep.equal([]);
  });

  it('passes on a refusal of memory and keeps the bytes received', () => {
    let isFull = false;
    const take = () => {
      if (isFull) throw new Error('full');
    };
    const room = createGrowingBuffer({ announced: undefined, bytesMax: 1000 * KIB, take });
    room.append(Buffer.from('some'));
    isFull = true;
    expect(() => room.append(Buffer.alloc(64 * KIB))).to.throw('full');
    expect(room.content().toString()).to.equal('some');
  });
});
