// Turns on a wallet: who is alone on it does not wait, two that write it leave each other time.
import { expect } from 'chai';
import { createWriteFairness, type WriteFairness, type WriteSlot } from '../../../lib/store/mongodb/write-fairness.ts';

const OTHERS_MS = 1000;

describe('turns on a wallet of MongoDB', () => {
  const real = { now: performance.now, random: Math.random, setTimeout: globalThis.setTimeout };
  let now: number;
  let pauses: number[];
  let turns: WriteFairness;

  beforeEach(() => {
    [now, pauses] = [50_000, []];
    performance.now = () => now;
    Math.random = () => 0.5;
    globalThis.setTimeout = ((work: () => void, ms: number) => {
      pauses.push(ms);
      now += ms;
      work();
    }) as unknown as typeof setTimeout;
    turns = createWriteFairness();
  });
  afterEach(() => {
    performance.now = real.now;
    Math.random = real.random;
    globalThis.setTimeout = real.setTimeout;
  });

  /** One whole turn; resolves to whether it was alone. */
  async function take(
    tookMs: number,
    seqs: readonly [number, number],
    meet?: (turn: WriteSlot) => void,
  ): Promise<boolean> {
    const turn = await turns.wait('w');
    turn.begin();
    meet?.(turn);
    now += tookMs;
    turn.end({ seqBefore: seqs[0], seqAfter: seqs[1] });
    return turn.alone;
  }

  it('are taken at once by who is alone', async () => {
    expect(await take(100, [0, 1])).to.equal(true);
    expect(await take(100, [1, 2])).to.equal(true);
    expect(pauses).to.deep.equal([]);
  });

  it('are shared for a second with a writer that was in the way', async () => {
    await take(100, [0, 1], (turn) => turn.conflict());
    expect(await take(100, [1, 2])).to.equal(false);
    expect(pauses).to.deep.equal([50]);
    now += OTHERS_MS - 250;
    expect(await take(0, [2, 3]), 'to the end of the second').to.equal(false);
    now += 1;
    expect(await take(0, [3, 4])).to.equal(true);
  });

  it('are shared with a writer whose entries are met, though it was not in the way', async () => {
    await take(100, [0, 1]);
    await take(100, [5, 6]);
    expect(pauses).to.deep.equal([]);
    expect(await take(100, [6, 7])).to.equal(false);
    expect(pauses).to.deep.equal([50]);
  });

  it('are not taken for shared when an attempt failed', async () => {
    const turn = await turns.wait('w');
    turn.end({ seqBefore: undefined, seqAfter: undefined });
    expect(await take(1, [7, 8])).to.equal(true);
    const failed = await turns.wait('w');
    failed.end({ seqBefore: undefined, seqAfter: undefined });
    expect(await take(1, [9, 10])).to.equal(true);
    expect(await take(1, [10, 11])).to.equal(true);
  });

  it('leave the others as much time as the last attempt of a turn takes on average', async () => {
    await take(100, [0, 1], (turn) => {
      now += 700;
      turn.conflict();
      turn.begin();
    });
    await take(300, [1, 2], (turn) => turn.conflict());
    await take(120, [2, 3]);
    expect(pauses).to.deep.equal([50, 60]);
  });

  it('of one wallet say nothing of another', async () => {
    await take(100, [0, 1], (turn) => turn.conflict());
    expect((await turns.wait('other')).alone).to.equal(true);
    expect(pauses).to.deep.equal([]);
  });
});
