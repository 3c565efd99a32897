// Fair writes to a wallet: a single writer does not wait, two writers leave each other time.
import { expect } from 'chai';
import { createWriteFairness, type WriteFairness, type WriteSlot } from '../../../lib/store/mongodb/write-fairness.ts';

const OTHERS_MS = 1000;

describe('fair writes to a wallet of MongoDB', () => {
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

  /** One write; resolves to whether it was alone. */
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

  it('do not wait without another writer', async () => {
    expect(await take(100, [0, 1])).to.equal(true);
    expect(await take(100, [1, 2])).to.equal(true);
    expect(pauses).to.deep.equal([]);
  });

  it('pause for a second after a conflict with another writer', async () => {
    await take(100, [0, 1], (turn) => turn.conflict());
    expect(await take(100, [1, 2])).to.equal(false);
    expect(pauses).to.deep.equal([50]);
    now += OTHERS_MS - 250;
    expect(await take(0, [2, 3]), 'to the end of the second').to.equal(false);
    now += 1;
    expect(await take(0, [3, 4])).to.equal(true);
  });

  it('pause if another writer’s entries appear without a conflict', async () => {
    await take(100, [0, 1]);
    await take(100, [5, 6]);
    expect(pauses).to.deep.equal([]);
    expect(await take(100, [6, 7])).to.equal(false);
    expect(pauses).to.deep.equal([50]);
  });

  it('pause as long as the last attempts took on average', async () => {
    await take(100, [0, 1], (turn) => {
      now += 700;
      turn.conflict();
      turn.begin();
    });
    await take(300, [1, 2], (turn) => turn.conflict());
    await take(120, [2, 3]);
    expect(pauses).to.deep.equal([50, 60]);
  });

  it('are independent for each wallet', async () => {
    await take(100, [0, 1], (turn) => turn.conflict());
    expect((await turns.wait('other')).alone).to.equal(true);
    expect(pauses).to.deep.equal([]);
  });
});
