// The use counters: nothing lost, nothing counted twice, and the count shown is exact while batches are under way.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createKeyUsageCounter } from '../../lib/accounts/key-usage-counter.ts';
import type { Batch } from '../../lib/store/ports/batches.ts';
import type { KeyUse } from '../../lib/store/ports/keys.ts';

/** Rows as a store keeps them; a test can hold a batch back or let it fail. */
function createRows() {
  const rows = new Map<string, { requestsCount: number; lastUsedAt: number | null }>();
  const written = new Set<string>();
  const rig = {
    batches: [] as (readonly KeyUse[])[],
    before: async () => {},
    after: async () => {},
    read: (id: string) => ({ id, ...(rows.get(id) ?? { requestsCount: 0, lastUsedAt: null }) }),
    use: async (uses: readonly KeyUse[], batch?: Batch) => {
      rig.batches.push(uses);
      await rig.before();
      const name = `${batch?.writer} ${batch?.number}`;
      if (written.has(name)) return;
      written.add(name);
      for (const { id, count, lastUsedAt } of uses) {
        const row = rig.read(id);
        rows.set(id, {
          requestsCount: row.requestsCount + count,
          lastUsedAt: Math.max(row.lastUsedAt ?? 0, lastUsedAt),
        });
      }
      await rig.after();
    },
  };
  return rig;
}

describe('the usage counter of keys', () => {
  it('writes one batch for all keys and then counts from the row', async () => {
    const rows = createRows();
    const uses = createKeyUsageCounter({ store: rows });
    uses.countUse('a');
    uses.countUse('a');
    uses.countUse('b');
    expect([uses.pending('a'), uses.pending('b'), uses.pending('c')]).to.deep.equal([2, 1, 0]);
    expect(await uses.flush()).to.equal(true);
    expect(rows.batches).to.have.length(1);
    expect(rows.batches[0]?.map(({ id, count }) => [id, count])).to.deep.equal([
      ['a', 2],
      ['b', 1],
    ]);
    expect(uses.pending('a')).to.equal(0);
    expect(uses.usage(rows.read('a')).requestsCount).to.equal(2);
    await uses.flush();
    expect(rows.batches).to.have.length(1);
    await uses.close();
  });

  it('flushes by itself at the configured interval, and only if there are counts', async () => {
    const rows = createRows();
    const uses = createKeyUsageCounter({ store: rows, flushMs: 20 });
    uses.countUse('a');
    await sleep(70);
    expect(rows.batches).to.have.length(1);
    uses.countUse('a');
    await sleep(70);
    expect(rows.batches).to.have.length(2);
    await uses.close();
  });

  it('shows the exact count for rows read before, during and after a batch', async () => {
    const rows = createRows();
    const fixed = 1_000_000;
    const uses = createKeyUsageCounter({ store: rows, clock: () => fixed });
    const expected = (row: ReturnType<typeof rows.read>, count: number) =>
      expect(uses.usage(row).requestsCount).to.equal(count);
    const fresh = rows.read('a');
    uses.countUse('a');
    expected(fresh, 1);
    const written = Promise.withResolvers<void>();
    const proceed = Promise.withResolvers<void>();
    rows.after = () => {
      written.resolve();
      return proceed.promise;
    };
    const flushed = uses.flush();
    uses.countUse('a');
    expected(fresh, 2);
    await written.promise;
    const during = rows.read('a');
    expect(during.requestsCount).to.equal(1);
    expected(fresh, 2);
    expected(during, 2);
    proceed.resolve();
    await flushed;
    expected(fresh, 2);
    expected(during, 2);
    rows.after = async () => {};
    await uses.flush();
    for (const row of [fresh, during, rows.read('a')]) expected(row, 2);
    uses.countUse('a');
    for (const row of [fresh, during, rows.read('a')]) expected(row, 3);
    expect(uses.usage(rows.read('a')).lastUsedAt).to.be.within(fixed, fixed + 5);
    await uses.close();
    expect(rows.read('a').requestsCount).to.equal(3);
  });

  it('counts a batch once if the store’s answer was lost, and shows it once meanwhile', async () => {
    const rows = createRows();
    const uses = createKeyUsageCounter({ store: rows });
    const fresh = rows.read('a');
    for (let call = 0; call < 7; call += 1) uses.countUse('a');
    rows.after = () => Promise.reject(new Error('lost'));
    expect(await uses.flush()).to.equal(false);
    uses.countUse('a');
    for (const row of [fresh, rows.read('a')]) expect(uses.usage(row).requestsCount).to.equal(8);
    expect(await uses.flush(), 'the first is confirmed, the answer to the next is lost').to.equal(false);
    rows.after = async () => {};
    await uses.close();
    expect(rows.batches.map(([use]) => use?.count)).to.deep.equal([7, 7, 1, 1]);
    expect(rows.read('a').requestsCount).to.equal(8);
    expect(uses.usage(rows.read('a')).requestsCount).to.equal(8);
  });

  it('keeps a failed batch and sends it before the next', async () => {
    const rows = createRows();
    const errors: unknown[] = [];
    const uses = createKeyUsageCounter({ store: rows, onError: (error) => errors.push(error) });
    rows.before = () => Promise.reject(new Error('locked'));
    const fresh = rows.read('a');
    for (let round = 1; round <= 3; round += 1) {
      uses.countUse('a');
      const flushed = uses.flush();
      uses.countUse('a');
      expect(await flushed).to.equal(false);
      expect(uses.pending('a')).to.equal(round * 2);
      expect(uses.usage(fresh).requestsCount).to.equal(round * 2);
    }
    expect(errors).to.have.length(3);
    rows.before = async () => {};
    expect(await uses.flush()).to.equal(true);
    expect(rows.read('a').requestsCount).to.equal(6);
    expect(uses.usage(fresh).requestsCount).to.equal(6);
    await uses.close();
    expect(rows.read('a').requestsCount).to.equal(6);
  });

  it('retries by the timer, and writes the rest on close, after the running batch', async () => {
    const rows = createRows();
    const uses = createKeyUsageCounter({ store: rows, flushMs: 10 });
    let failures = 3;
    rows.before = async () => {
      await sleep(5);
      if (failures-- > 0) throw new Error('locked');
    };
    for (let call = 0; call < 50; call += 1) {
      uses.countUse(`key${call % 7}`);
      await sleep(2);
    }
    await uses.close();
    const total = [0, 1, 2, 3, 4, 5, 6].reduce((sum, key) => sum + rows.read(`key${key}`).requestsCount, 0);
    expect(total).to.equal(50);
    expect(failures).to.be.below(0);
  });

  it('writes on close what was counted during a running batch', async () => {
    const rows = createRows();
    const uses = createKeyUsageCounter({ store: rows });
    const gate = Promise.withResolvers<void>();
    rows.before = () => gate.promise;
    uses.countUse('a');
    const flushing = uses.flush();
    uses.countUse('a');
    const closing = uses.close();
    gate.resolve();
    await Promise.all([flushing, closing]);
    expect(rows.read('a').requestsCount).to.equal(2);
  });

  it('drops tallies that every row includes, and stops without tallies', async () => {
    const rows = createRows();
    let now = 1_000_000;
    const uses = createKeyUsageCounter({ store: rows, flushMs: 5, clock: () => now });
    const stale = rows.read('a');
    uses.countUse('a');
    await sleep(30);
    expect(uses.usage(stale).requestsCount).to.equal(1);
    now += 5001;
    await sleep(30);
    expect(uses.usage(stale).requestsCount).to.equal(0);
    await uses.close();
  });

  it('counts what each of several writers sends, and has nothing to send without uses', async () => {
    const rows = createRows();
    const all = [createKeyUsageCounter({ store: rows }), createKeyUsageCounter({ store: rows })];
    for (const uses of all) {
      expect(await uses.flush()).to.equal(true);
      uses.countUse('a');
      await uses.flush();
    }
    expect([rows.read('a').requestsCount, rows.batches.length]).to.deep.equal([2, 2]);
    for (const uses of all) await uses.close();
  });

  it('drops the older of several tallies, and writes nothing by itself once it is closed', async () => {
    const rows = createRows();
    let now = 1_000_000;
    const uses = createKeyUsageCounter({ store: rows, flushMs: 5, clock: () => now });
    const stale = rows.read('a');
    uses.countUse('a');
    await uses.flush();
    now += 3000;
    uses.countUse('a');
    await uses.flush();
    expect(uses.usage(stale).requestsCount).to.equal(2);
    now += 2001;
    await sleep(30);
    expect(uses.usage(stale).requestsCount).to.equal(1);
    await uses.close();
    const idle = createKeyUsageCounter({ store: rows, flushMs: 5 });
    await idle.close();
    for (const each of [uses, idle]) each.countUse('a');
    await sleep(30);
    expect([uses.pending('a'), idle.pending('a'), rows.batches.length]).to.deep.equal([1, 1, 2]);
  });

  it('shows no usage of an unused key', () => {
    const uses = createKeyUsageCounter({ store: createRows() });
    expect(uses.usage({ id: 'a', requestsCount: 0, lastUsedAt: null })).to.deep.equal({
      requestsCount: 0,
      lastUsedAt: null,
    });
  });
});
