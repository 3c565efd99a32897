// Who of the waiting bodies gets the memory that has become free, and when.
import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setImmediate as waitOneTick } from 'node:timers/promises';
import { expect } from 'chai';
import { isFault } from '../../lib/base/faults.ts';
import { readBody, readPieces } from '../../lib/http/body.ts';
import { createMemoryQuota, type MemoryQuota, type MemoryReservation } from '../../lib/http/memory-quota.ts';

const MIB = 1024 * 1024;

describe('bodies that wait for memory', () => {
  const { signal } = new AbortController();
  const briefly = { signal, waitMsMax: 50 };
  let quota: MemoryQuota;
  let admitted: string[];

  beforeEach(() => {
    quota = createMemoryQuota({ bytesMax: 8 * MIB, ownerBytesMax: 4 * MIB });
    admitted = [];
  });

  function wait(name: string, owner: string, mib: number): { share: MemoryReservation; done: Promise<unknown> } {
    const share = quota.reserve(owner);
    const done = Promise.resolve(share.takeInTurn(mib * MIB, briefly)).then(
      () => void admitted.push(name),
      (error: unknown) => void admitted.push(`${name}: ${isFault(error) && error.data?.code}`),
    );
    return { share, done };
  }

  it('are admitted in order, but for those of a key that holds all it may', async () => {
    const [one, other] = [quota.reserve('a'), quota.reserve('b')];
    one.take(4 * MIB);
    other.take(3 * MIB);
    const waiting = [wait('of a', 'a', 1), wait('first', 'c', 2), wait('second', 'd', 2)];
    await waitOneTick();
    expect(admitted).to.deep.equal([]);
    other.releaseAll();
    await waiting[1]?.done;
    expect(admitted).to.deep.equal(['first']);
    waiting[1]?.share.releaseAll();
    await waiting[2]?.done;
    expect(admitted).to.deep.equal(['first', 'second']);
    one.releaseAll();
    await waiting[0]?.done;
    expect(quota.used()).to.equal(3 * MIB);
  });

  it('leave what was parsed from a body to the call that has read it', async () => {
    const share = quota.reserve('a');
    share.take(4 * MIB);
    quota.reserve('b').take(3 * MIB);
    const { done } = wait('next', 'c', 3);
    share.releaseAll();
    await Promise.resolve();
    share.take(2 * MIB);
    await done;
    expect(admitted).to.deep.equal(['next: no_room']);
  });

  it('are refused in time; a hundred and first, and a fifty-first of one key, at once', async () => {
    quota.reserve('a').take(4 * MIB);
    quota.reserve('b').take(2 * MIB);
    const queue = (owner: string) => Array.from({ length: 50 }, (_, at) => wait(`${owner}${at}`, owner, 2));
    const waiting = queue('a');
    expect(() => quota.reserve('a').takeInTurn(2 * MIB, briefly)).to.throw('Too many large requests');
    expect(() => quota.reserve('a').check(2 * MIB)).to.throw('Too many large requests');
    waiting.push(...queue('b'));
    expect(() => quota.reserve('c').takeInTurn(2 * MIB, briefly)).to.throw('Too many large requests');
    // Whoever fits need not wait.
    expect(quota.reserve('c').takeInTurn(MIB, briefly)).to.equal(undefined);
    await Promise.all(waiting.map(({ done }) => done));
    const refused = (owner: string) => Array.from({ length: 50 }, (_, at) => `${owner}${at}: no_room`);
    expect(admitted).to.deep.equal([...refused('a'), ...refused('b')]);
    expect(quota.used()).to.equal(7 * MIB);
  });

  describe('are not read before', () => {
    const announced = () =>
      Object.assign(new EventEmitter(), { headers: { 'content-length': `${MIB}` }, readableLength: 0 });

    it('in one piece or in several', async () => {
      for (const read of [readBody, readPieces]) {
        const request = announced();
        const [other, reservation] = [quota.reserve('a'), quota.reserve('a')];
        other.take(4 * MIB);
        let got = 0;
        const onChunk = (chunk: Buffer) => {
          got += chunk.length;
        };
        const reading = read(request as unknown as IncomingMessage, { signal, reservation, onChunk });
        await waitOneTick();
        expect(request.listenerCount('data')).to.equal(0);
        other.releaseAll();
        await waitOneTick();
        expect(quota.used()).to.equal(MIB);
        request.emit('data', Buffer.alloc(MIB));
        request.emit('end');
        expect((await reading)?.length ?? got).to.equal(MIB);
        reservation.releaseAll();
      }
    });

    it('nor at all if the call ends, or if there never is so much room', async () => {
      const request = announced() as unknown as IncomingMessage;
      quota.reserve('a').take(4 * MIB);
      const ending = new AbortController();
      const reading = readBody(request, { signal: ending.signal, reservation: quota.reserve('a') });
      const reason = new Error('the end');
      ending.abort(reason);
      expect(await reading.catch((error: unknown) => error)).to.equal(reason);
      expect(quota.used()).to.equal(4 * MIB);
      expect(() => quota.reserve('b').takeInTurn(4 * MIB + 1, briefly)).to.throw('Too many large requests');
    });
  });
});
