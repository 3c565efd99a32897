// How long replies with images wait for the memory that they share.
import { expect } from 'chai';
import { ReplyQueue } from '../../../lib/calls/images/reply-queue.ts';
import type { AnswerShare } from '../../../lib/stream/answer-memory.ts';

describe('the queue of long replies', () => {
  const queue = new ReplyQueue(10);
  let shares: AnswerShare[];
  let told: string[];

  beforeEach(() => {
    shares = [];
    told = [];
  });
  afterEach(() => {
    for (const share of shares) share.releaseAll();
  });

  function open(): AnswerShare {
    const share = queue.reserveAnswer();
    shares.push(share);
    return share;
  }

  /** Whether it may go on at once. */
  function read(share: AnswerShare, bytes: number, name = ''): boolean {
    const room = share.hold({ kept: 0, open: bytes });
    void room?.then(() => told.push(name));
    return room === undefined;
  }

  const hear = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return told.splice(0);
  };

  it('lets the oldest go on, and the others as far as there is room', () => {
    const [oldest, other] = [open(), open()];
    expect([read(oldest, 4), read(other, 6), read(other, 7), read(oldest, 100)]).to.deep.equal([
      true,
      true,
      false,
      true,
    ]);
  });

  it('goes on with the next once there is room, in order', async () => {
    const [oldest, next, last] = [open(), open(), open()];
    read(oldest, 8);
    expect([read(next, 9, 'next'), read(last, 5, 'last')]).to.deep.equal([false, false]);
    oldest.releaseAll();
    expect(await hear()).to.deep.equal(['next']);
    next.releaseAll();
    expect(await hear()).to.deep.equal(['last']);
  });

  it('is not held up by a call whose next reply is short', async () => {
    const [oldest, next] = [open(), open()];
    read(oldest, 8);
    read(next, 20, 'next');
    expect(read(oldest, 0)).to.equal(true);
    expect(await hear()).to.deep.equal(['next']);
  });
});
