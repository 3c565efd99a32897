// What an answer takes of the memory that all clients share, and how it waits for it.
import { expect } from 'chai';
import { isFault } from '../../lib/base/faults.ts';
import { createMemoryQuota, type MemoryQuota } from '../../lib/http/memory-quota.ts';
import { AnswerMemory } from '../../lib/stream/answer-memory.ts';

const MIB = 1024 * 1024;

describe('the memory of an answer', () => {
  let quota: MemoryQuota;
  /** The answers that go on, or fail, in this order. */
  let told: string[];

  beforeEach(() => {
    quota = createMemoryQuota({ bytesMax: 96 * MIB, ownerBytesMax: 48 * MIB });
    told = [];
  });

  const answer = (owner = 'key') => new AnswerMemory(quota, owner);
  const held = () => quota.used() / MIB;
  const codeOf = (error: unknown) => (isFault(error) ? String(error.data?.code) : 'another error');

  /** Reads so much of an event; true if the answer may read on. */
  function read(memory: AnswerMemory, mebibytes: number, name = ''): boolean {
    memory.noteEvent(mebibytes * MIB);
    return settle(memory, name);
  }

  function settle(memory: AnswerMemory, name: string): boolean {
    const wait = memory.waitForRoom();
    wait?.then(
      () => told.push(name),
      (error: unknown) => told.push(`${name} ${codeOf(error)}`),
    );
    return wait === undefined;
  }

  /** The event has ended, and was an image. */
  function keep(memory: AnswerMemory, mebibytes: number, name = ''): boolean {
    memory.noteEvent(0);
    memory.holdImage(mebibytes * MIB);
    return settle(memory, name);
  }

  const hear = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return told.splice(0);
  };

  it('counts a long event as it grows, and no more once it has ended', () => {
    const memory = answer();
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
      memory.noteEvent(chars);
      expect(memory.waitForRoom()).to.equal(undefined);
      expect(held(), String(chars)).to.equal(mebibytes);
    }
  });

  it('reserves nothing for an answer without images and long events', () => {
    let reserved = 0;
    const memory = new AnswerMemory(
      {
        reserveAnswer(owner) {
          reserved += 1;
          return quota.reserveAnswer(owner);
        },
      },
      'key',
    );
    read(memory, 1);
    memory.releaseAll();
    expect(reserved).to.equal(0);
    read(memory, 2);
    expect(reserved).to.equal(1);
  });

  it('counts images until the end of the call, in the place of their events', () => {
    const memory = answer();
    read(memory, 3);
    memory.noteEvent(0);
    memory.holdImage(2 * MIB);
    // What another image of the same event needs is still there.
    expect(held()).to.equal(3);
    memory.holdImage(7);
    settle(memory, '');
    expect(quota.used()).to.equal(2 * MIB + 7);
    memory.releaseAll();
    expect(held()).to.equal(0);
  });

  it('fails at once what never fits', () => {
    const memory = answer();
    expect(keep(memory, 30)).to.equal(true);
    expect(read(memory, 18)).to.equal(true);
    expect(() => read(memory, 19))
      .to.throw()
      .and.satisfy((error: unknown) => codeOf(error) === 'no_room_for_answer');
    expect(() => memory.holdImage(19 * MIB)).to.throw();
    memory.releaseAll();
    expect(held()).to.equal(0);
  });

  it('waits for room, and goes on as soon as there is some', async () => {
    const [one, two] = [answer(), answer()];
    keep(one, 40);
    expect(read(two, 8)).to.equal(true);
    expect(read(two, 9, 'two')).to.equal(false);
    expect(two.isWaiting).to.equal(true);
    expect(await hear()).to.deep.equal([]);
    one.releaseAll();
    expect(await hear()).to.deep.equal(['two']);
    expect([two.isWaiting, held()]).to.deep.equal([false, 9]);
  });

  it('waits for bodies, too', async () => {
    const body = quota.reserve('key');
    body.take(40 * MIB);
    const memory = answer();
    expect(read(memory, 9, 'one')).to.equal(false);
    body.releaseAll();
    expect(await hear()).to.deep.equal(['one']);
  });

  it('lets any number of events that grow at once end one after the other', async () => {
    const open = new Map(Array.from({ length: 60 }, (_, at) => [String(at), { memory: answer(), size: 1 }]));
    const ended: string[] = [];
    const grow = (name: string) => {
      const { memory, size } = open.get(name) as { memory: AnswerMemory; size: number };
      for (let next = size + 1; next <= 27; next += 1) {
        open.set(name, { memory, size: next });
        if (!read(memory, next, name)) return;
      }
      keep(memory, 27);
      memory.releaseAll();
      ended.push(name);
    };
    // The steps of all, in turns.
    for (const [name, { memory }] of open) if (read(memory, 2, name)) open.set(name, { memory, size: 2 });
    const stuck = new Set((told.length === 0 && (await hear())) || []);
    expect(stuck.size).to.equal(0);
    for (const [name, { memory }] of open) if (!memory.isWaiting) grow(name);
    for (let names = await hear(); names.length > 0; names = await hear()) for (const name of names) grow(name);
    expect(ended).to.have.length(60);
    expect(held()).to.equal(0);
  });

  it('gives the memory that becomes free to the key that has least', async () => {
    const [hog, body] = [answer('hog'), quota.reserve('other')];
    keep(hog, 40);
    body.take(44 * MIB);
    const [greedy, modest] = [answer('hog'), answer('modest')];
    expect(read(greedy, 8, 'greedy')).to.equal(false);
    expect(read(modest, 8, 'modest')).to.equal(false);
    body.releaseAll();
    expect(await hear()).to.deep.equal(['modest', 'greedy']);
  });

  it('leaves other keys their memory while one waits', () => {
    const hogs = Array.from({ length: 30 }, () => answer('hog'));
    for (const hog of hogs) read(hog, 3);
    expect(hogs.filter(({ isWaiting }) => isWaiting)).to.have.length.above(10);
    expect(read(answer('other'), 28)).to.equal(true);
  });

  it('breaks a deadlock of answers that hold images and wait for more, by failing the last', async () => {
    const all = Array.from({ length: 4 }, () => answer());
    for (const one of all) keep(one, 12);
    const [one, two, three, four] = all as [AnswerMemory, AnswerMemory, AnswerMemory, AnswerMemory];
    for (const [at, memory] of [one, two, three].entries()) expect(read(memory, 6, String(at))).to.equal(false);
    expect(await hear()).to.deep.equal([]);
    expect(read(four, 6, '3')).to.equal(false);
    expect(await hear()).to.deep.equal(['3 no_room_for_answer']);
    four.releaseAll();
    expect(await hear()).to.deep.equal(['0']);
    one.releaseAll();
    expect(await hear()).to.include('1');
  });

  it('breaks a deadlock that the end of another answer leaves, and one of several keys', async () => {
    const small = answer('a');
    const [a, b, c] = [answer('a'), answer('b'), answer('c')];
    keep(a, 30);
    keep(b, 30);
    keep(c, 23);
    keep(small, 1);
    expect([read(a, 6, 'a'), read(b, 6, 'b'), read(c, 6, 'c')]).to.deep.equal([false, false, false]);
    expect(await hear()).to.deep.equal([]);
    small.releaseAll();
    expect(await hear()).to.deep.equal(['c no_room_for_answer']);
    c.releaseAll();
    expect(await hear()).to.have.members(['a', 'b']);
  });

  it('forgets an answer that ends while it waits', async () => {
    const [one, two, three] = [answer(), answer(), answer()];
    keep(one, 40);
    expect([read(two, 9, 'two'), read(three, 8, 'three')]).to.deep.equal([false, false]);
    two.releaseAll();
    expect(await hear()).to.deep.equal(['three']);
    one.releaseAll();
    expect(held()).to.equal(8);
  });

  it('tells a listener how long it waits', async () => {
    const heard: string[] = [];
    const [one, two] = [answer(), answer()];
    two.listener = { onWait: () => heard.push('wait'), onRoom: () => heard.push('room') };
    keep(one, 40);
    read(two, 9, 'two');
    expect(heard).to.deep.equal(['wait']);
    one.releaseAll();
    await hear();
    expect(heard).to.deep.equal(['wait', 'room']);
  });

  it('waits for the room of a small image, which is not counted before', async () => {
    const [one, two] = [answer(), answer()];
    keep(one, 47.5);
    expect(keep(two, 0.75, 'two')).to.equal(false);
    one.releaseAll();
    expect(await hear()).to.deep.equal(['two']);
    expect(held()).to.equal(0.75);
  });
});
