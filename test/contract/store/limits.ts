// Counting windows that several processes share.
import { expect } from 'chai';
import { AT, newId, type StoreContext } from './context.ts';

const MINUTE = 60_000;

export function limitContract(context: StoreContext): void {
  it('opens a window with the first hit and counts until it ends', async () => {
    const { limits } = context.store;
    const bucket = newId('key');
    const endsAt = AT + MINUTE;
    expect(await limits.hit(bucket, MINUTE, AT)).to.deep.equal({ bucket, endsAt, count: 1 });
    expect(await limits.hit(bucket, MINUTE, AT + 1)).to.deep.equal({ bucket, endsAt, count: 2 });
    expect(await limits.hit(bucket, MINUTE, endsAt - 1)).to.deep.equal({ bucket, endsAt, count: 3 });
    const next = { bucket, endsAt: endsAt + MINUTE, count: 1 };
    expect(await limits.hit(bucket, MINUTE, endsAt)).to.deep.equal(next);
  });

  it('counts buckets separately, with the window length of the hit', async () => {
    const { limits } = context.store;
    const short = newId('key');
    const long = newId('key');
    expect((await limits.hit(short, 1000, AT)).endsAt).to.equal(AT + 1000);
    expect((await limits.hit(long, MINUTE, AT)).endsAt).to.equal(AT + MINUTE);
    expect((await limits.hit(short, 1000, AT + 999)).count).to.equal(2);
    expect((await limits.hit(long, MINUTE, AT + 999)).count).to.equal(2);
  });

  it('replaces a window that ends more than two windows ahead, because the clock was set back', async () => {
    const { limits } = context.store;
    const bucket = newId('key');
    const endsAt = AT + MINUTE;
    await limits.hit(bucket, MINUTE, AT);
    const slightly = AT - MINUTE;
    expect(await limits.hit(bucket, MINUTE, slightly)).to.deep.equal({ bucket, endsAt, count: 2 });
    const far = slightly - 1;
    expect(await limits.hit(bucket, MINUTE, far)).to.deep.equal({ bucket, endsAt: far + MINUTE, count: 1 });
    expect((await limits.hit(bucket, MINUTE, far + 1)).count).to.equal(2);
  });

  it('counts every hit of several openers exactly once', async () => {
    const openers = [context.store, await context.other()];
    const bucket = newId('key');
    const hits = Array.from({ length: 40 }, (_, index) => openers[index % 2]?.limits.hit(bucket, MINUTE, AT));
    const counts = (await Promise.all(hits)).map((window) => window?.count ?? 0);
    expect(counts.toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: 40 }, (_, index) => index + 1));
  });

  it('lists open windows, including the hits sent before', async () => {
    const { limits } = context.store;
    const bucket = newId('key');
    const ended = newId('key');
    const hits = [limits.hit(ended, 10, AT), ...Array.from({ length: 5 }, () => limits.hit(bucket, MINUTE, AT))];
    const windows = await limits.open(AT + 10);
    await Promise.all(hits);
    expect(windows.find((window) => window.bucket === bucket)).to.deep.equal({ bucket, endsAt: AT + MINUTE, count: 5 });
    expect(windows.find((window) => window.bucket === ended)).to.equal(undefined);
    for (const letter of ['b', 'c', 'a']) await limits.hit(newId(letter), MINUTE, AT);
    const buckets = (await limits.open(AT)).map((window) => window.bucket);
    expect(buckets, 'in order').to.deep.equal(buckets.toSorted());
  });

  describe('merge', () => {
    const openAt = async (now: number, bucket: string) =>
      (await context.store.limits.open(now)).find((window) => window.bucket === bucket);

    it('adds to open windows and creates missing ones', async () => {
      const { limits } = context.store;
      const known = newId('key');
      const fresh = newId('key');
      await limits.hit(known, MINUTE, AT);
      await limits.merge(
        [
          { bucket: known, endsAt: AT + MINUTE, count: 4 },
          { bucket: fresh, endsAt: AT + 500, count: 7 },
        ],
        AT + 1,
      );
      expect(await openAt(AT + 1, known)).to.deep.equal({ bucket: known, endsAt: AT + MINUTE, count: 5 });
      expect(await openAt(AT + 1, fresh)).to.deep.equal({ bucket: fresh, endsAt: AT + 500, count: 7 });
      expect((await limits.hit(fresh, MINUTE, AT + 2)).count).to.equal(8);
    });

    it('counts a repeated batch once', async () => {
      const { limits } = context.store;
      const bucket = newId('key');
      const writer = newId('writer');
      const send = (number: number) =>
        limits.merge([{ bucket, endsAt: AT + MINUTE, count: 12 }], AT, { writer, number });
      await send(1);
      await send(1);
      expect((await openAt(AT, bucket))?.count).to.equal(12);
      await send(2);
      await send(2);
      expect((await openAt(AT, bucket))?.count).to.equal(24);
    });

    it('merges two windows of a bucket into one that starts with the first hit of both', async () => {
      const { limits } = context.store;
      const early = newId('key');
      const late = newId('key');
      await limits.hit(early, MINUTE, AT);
      await limits.hit(late, MINUTE, AT + 100);
      await limits.merge(
        [
          { bucket: early, endsAt: AT + MINUTE + 50, count: 1 },
          { bucket: late, endsAt: AT + MINUTE + 50, count: 1 },
        ],
        AT + 200,
      );
      expect((await openAt(AT + 200, early))?.endsAt).to.equal(AT + MINUTE);
      expect((await openAt(AT + 200, late))?.endsAt).to.equal(AT + MINUTE + 50);
    });

    it('drops ended windows on both sides', async () => {
      const { limits } = context.store;
      const mine = newId('key');
      const theirs = newId('key');
      await limits.hit(mine, 10, AT);
      await limits.merge(
        [
          { bucket: mine, endsAt: AT + MINUTE, count: 2 },
          { bucket: theirs, endsAt: AT + 20, count: 9 },
        ],
        AT + 20,
      );
      expect(await openAt(AT, mine)).to.deep.equal({ bucket: mine, endsAt: AT + MINUTE, count: 2 });
      expect(await openAt(AT, theirs)).to.equal(undefined);
      await limits.merge([], AT + 20);
    });
  });
}
