// Media: found when whole, read in parts, refused when taken, removed when expired, by however many at once.
import { randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { makeSecret } from '../../../lib/base/base62.ts';
import type { ByteRange, NewMedia } from '../../../lib/store/ports/media.ts';
import { type Store, StoreError } from '../../../lib/store/store.ts';
import { makeGate } from '../../../testkit/faulty-store.ts';
import { itLong, longer } from '../../../testkit/long.ts';
import { AT, newId, rejection, type StoreKind, useStore } from './context.ts';

const KIB = 1024;
/** Of a MiB each. */
const PIECES = longer(16, 64);

export function newMedia(more: Partial<NewMedia> = {}): NewMedia {
  const kind = { kind: 'image', mediaType: 'image/png' } as const;
  return { id: makeSecret(), account: newId('acc'), ...kind, createdAt: AT, expiresAt: AT + 1000, ...more };
}

/** Pieces of odd sizes, as networks have them. */
export async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7 + 3) % 100_003) {
    yield bytes.subarray(at, at + size);
  }
}

export async function bytesOf(store: Store, id: string, range?: ByteRange): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of store.media.read(id, range)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Whether the store says that it is well and there is no such file. */
export async function isGone(store: Store, id: string): Promise<boolean> {
  const error = await rejection(bytesOf(store, id));
  return error instanceof StoreError && error.blames === 'batch';
}

export function mediaContract(kind: StoreKind): void {
  const context = useStore(kind);
  const write = async (bytes: Uint8Array, more: Partial<NewMedia> = {}) =>
    context.store.media.write(newMedia(more), piecesOf(bytes));
  /** What other tests have left is not counted. */
  beforeEach(async () => {
    while ((await context.store.media.clean(Number.MAX_SAFE_INTEGER, 100)) > 0);
  });

  for (const size of [0, 1, 100 * KIB, 512 * KIB, 512 * KIB + 1, 1300 * KIB]) {
    it(`are read as they were written: ${size} bytes`, async () => {
      const bytes = randomBytes(size);
      const media = newMedia({ kind: 'video', mediaType: 'video/mp4' });
      const stored = await context.store.media.write(media, piecesOf(bytes));
      expect(stored).to.deep.equal({ ...media, bytes: size });
      expect(await context.store.media.get(media.id)).to.deep.equal(stored);
      expect((await bytesOf(context.store, media.id)).equals(bytes)).to.equal(true);
    });
  }

  it('are read in ranges, including both ends, up to their end', async () => {
    const bytes = randomBytes(1300 * KIB);
    const { id } = await write(bytes);
    const edge = 512 * KIB;
    const ranges = [
      [0, 0],
      [5, 9],
      [edge - 1, edge],
      [edge, edge],
      [edge - 1, 2 * edge],
      [bytes.length - 1, bytes.length - 1],
      [bytes.length - 3, bytes.length + 5],
    ];
    for (const [first = 0, last = 0] of ranges) {
      const part = await bytesOf(context.store, id, { first, last });
      expect(part.equals(bytes.subarray(first, last + 1)), `${first}-${last}`).to.equal(true);
    }
  });

  it('are found by their account, the newest first, until they expire', async () => {
    const account = newId('acc');
    const make = (at: number, more: Partial<NewMedia> = {}) =>
      write(Buffer.from('a'), { account, createdAt: AT + at, expiresAt: AT + at + 1000, ...more });
    const made = [await make(0), await make(10), await make(20), await make(30)];
    await make(40, { account: newId('acc') });
    const find = (now: number, from: number, limit = 10) =>
      context.store.media.latest(account, { now: AT + now, from: AT + from, limit });
    expect(await find(40, 10)).to.deep.equal([made[3], made[2], made[1]]);
    expect(await find(40, 0, 1)).to.deep.equal([made[3]]);
    expect(await find(1010, 0)).to.deep.equal([made[3], made[2]]);
    expect(await context.store.media.latest(newId('acc'), { now: AT, from: 0, limit: 9 })).to.deep.equal([]);
  });

  it('are read by another process, and partly by a reader that stops', async () => {
    const bytes = randomBytes(1300 * KIB);
    const { id } = await write(bytes);
    const other = await context.other();
    for await (const chunk of other.media.read(id)) {
      expect(bytes.subarray(0, chunk.length).equals(chunk)).to.equal(true);
      break;
    }
    expect((await bytesOf(other, id)).equals(bytes)).to.equal(true);
  });

  it('are not found before they are complete, and are not cleaned while being written', async () => {
    const gate = makeGate();
    const begun = makeGate();
    const media = newMedia();
    async function* slow() {
      yield randomBytes(600 * KIB);
      begun.open();
      await gate.opened;
      yield randomBytes(600 * KIB);
    }
    const writing = context.store.media.write(media, slow());
    await begun.opened;
    const other = await context.other();
    expect(await other.media.get(media.id)).to.equal(undefined);
    expect(await other.media.page({ limit: 100 })).to.deep.equal([]);
    expect(await isGone(other, media.id)).to.equal(true);
    expect(await other.media.clean(Number.MAX_SAFE_INTEGER, 100)).to.equal(0);
    gate.open();
    expect((await writing).bytes).to.equal(1200 * KIB);
    expect((await bytesOf(other, media.id)).length).to.equal(1200 * KIB);
  });

  it('leave nothing if their source breaks off, and can be written again', async () => {
    const media = newMedia();
    const broken = new Error('the source broke off');
    async function* breaking() {
      yield randomBytes(700 * KIB);
      throw broken;
    }
    expect(await rejection(context.store.media.write(media, breaking()))).to.equal(broken);
    expect(await context.store.media.get(media.id)).to.equal(undefined);
    expect(await isGone(context.store, media.id)).to.equal(true);
    const bytes = randomBytes(10);
    await context.store.media.write(media, piecesOf(bytes));
    expect((await bytesOf(context.store, media.id)).equals(bytes)).to.equal(true);
  });

  it('stay unchanged if another file is written with their id, whose source is not read', async () => {
    const bytes = randomBytes(10);
    const media = await write(bytes);
    let isRead = false;
    async function* other() {
      isRead = true;
      yield randomBytes(20);
    }
    const again = context.store.media.write({ ...newMedia(), id: media.id }, other());
    expect(await rejection(again))
      .to.be.instanceOf(StoreError)
      .with.property('blames', 'batch');
    expect(isRead).to.equal(false);
    expect(await context.store.media.get(media.id)).to.deep.equal(media);
    expect((await bytesOf(context.store, media.id)).equals(bytes)).to.equal(true);
  });

  it('are written however long it takes', async () => {
    const { now } = performance;
    const media = newMedia();
    async function* slow() {
      for (let minutes = 2; minutes <= 6; minutes += 2) {
        yield randomBytes(300 * KIB);
        performance.now = () => now.call(performance) + minutes * 60_000;
      }
    }
    await context.store.media.write(media, slow()).finally(() => {
      performance.now = now;
    });
    expect((await bytesOf(context.store, media.id)).length).to.equal(900 * KIB);
  });

  itLong('are not written whole in memory', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const piece = Buffer.alloc(1024 * KIB, 7);
    const held = () => {
      collectGarbage();
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    const before = held();
    let most = 0;
    async function* long() {
      for (let count = 0; count < PIECES; count += 1) {
        if (count % 8 === 7) most = Math.max(most, held() - before);
        yield piece;
      }
    }
    const { id, bytes } = await context.store.media.write(newMedia(), long());
    expect(bytes).to.equal(PIECES * piece.length);
    expect(most).to.be.below(0.625 * PIECES * piece.length);
    const end = await bytesOf(context.store, id, { first: bytes - 1, last: bytes - 1 });
    expect([...end]).to.deep.equal([7]);
  })?.timeout(60_000);

  it('exist until they expire, and are removed by the next cleanup', async () => {
    const { store } = context;
    const early = await write(randomBytes(10));
    const late = await write(randomBytes(10), { expiresAt: AT + 2000 });
    expect(await store.media.clean(AT + 999, 100)).to.equal(0);
    expect(await store.media.get(early.id)).to.deep.equal(early);
    expect(await store.media.clean(AT + 1000, 100)).to.equal(1);
    expect(await store.media.get(early.id)).to.equal(undefined);
    expect(await isGone(store, early.id)).to.equal(true);
    expect(await store.media.get(late.id)).to.deep.equal(late);
    expect((await bytesOf(store, late.id)).length).to.equal(10);
  });

  it('are cleaned once by concurrent cleanups, up to the limit', async () => {
    const { store } = context;
    const made = [];
    for (let count = 0; count < 12; count += 1) made.push(await write(randomBytes(100)));
    expect(await store.media.clean(AT + 5000, 2)).to.equal(2);
    const stores = [store, await context.other(), await context.other(2)];
    const removed = await Promise.all(stores.map((each) => each.media.clean(AT + 5000, 100)));
    expect(removed.reduce((sum, count) => sum + count, 0)).to.equal(10);
    for (const { id } of made) expect(await store.media.get(id)).to.equal(undefined);
  });

  it('are read page by page, in order of id', async () => {
    const made = [];
    for (let count = 0; count < 5; count += 1) made.push(await write(randomBytes(10)));
    made.sort((a, b) => (a.id < b.id ? -1 : 1));
    const { media } = context.store;
    expect(await media.page({ limit: 2 })).to.deep.equal(made.slice(0, 2));
    expect(await media.page({ after: made[1]?.id ?? '', limit: 10 })).to.deep.equal(made.slice(2));
    expect(await media.page({ after: made[4]?.id ?? '', limit: 10 })).to.deep.equal([]);
  });
}
