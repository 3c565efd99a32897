// The processes on a store: each is alive as long as it renews, by the store's clock.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { newId, type StoreContext } from './context.ts';

const LONG_MS = 60_000;
/** Longer than two steps of a test take on a busy machine. */
const SHORT_MS = 600;

export function ownerContract(context: StoreContext): void {
  const forget: string[] = [];
  const newOwner = () => {
    const id = newId('own');
    forget.push(id);
    return id;
  };
  afterEach(async () => {
    for (const id of forget.splice(0)) await context.store.owners.remove(id);
  });
  const renew = (id: string, leaseMs = LONG_MS, alone = false) => context.store.owners.renew({ id, leaseMs, alone });
  const othersOf = async (id: string) => (await renew(id)).others;

  it('counts the other live owners', async () => {
    const first = newOwner();
    const second = newOwner();
    const third = newOwner();
    expect(await othersOf(first)).to.equal(0);
    expect(await othersOf(second)).to.equal(1);
    expect(await othersOf(third)).to.equal(2);
    expect(await othersOf(first)).to.equal(2);
  });

  it('does not count itself or owners that stopped renewing', async () => {
    const first = newOwner();
    const second = newOwner();
    await renew(first, SHORT_MS);
    expect(await othersOf(second)).to.equal(1);
    await sleep(SHORT_MS + 20);
    expect(await othersOf(second)).to.equal(0);
    expect(await othersOf(first), 'back again').to.equal(1);
    expect(await othersOf(second)).to.equal(1);
  });

  it('tells which owners count in memory, by their last report', async () => {
    const first = newOwner();
    const second = newOwner();
    const third = newOwner();
    expect(await renew(first, LONG_MS, true)).to.include({ others: 0, alone: 0 });
    await renew(second, SHORT_MS, true);
    expect(await renew(third)).to.include({ others: 2, alone: 2 });
    await sleep(SHORT_MS + 20);
    expect(await renew(third), 'only of the living').to.include({ others: 1, alone: 1 });
    await renew(first, LONG_MS, false);
    expect(await renew(third)).to.include({ others: 1, alone: 0 });
  });

  it('counts another owner’s workers, and not its own', async () => {
    const first = newOwner();
    const second = newOwner();
    const workers = [`${first}-1`, `${first}-2`];
    forget.push(...workers);
    for (const id of workers) await renew(id, LONG_MS, true);
    expect(await renew(first)).to.include({ others: 0, alone: 0 });
    expect(await renew(second)).to.include({ others: 3, alone: 2 });
    expect(await renew(first)).to.include({ others: 1, alone: 0 });
    expect(await renew(workers[0] as string)).to.include({ others: 3, alone: 1 });
  });

  it('returns the time of the store', async () => {
    const id = newOwner();
    const before = Date.now();
    const first = (await renew(id)).now;
    const second = (await renew(id)).now;
    // The server of a test is on this machine.
    expect(first).to.be.within(before - 5, Date.now() + 5);
    expect(second).to.be.within(first, Date.now() + 5);
  });

  it('removes an owner that leaves, even twice', async () => {
    const first = newOwner();
    const second = newOwner();
    await renew(first);
    await renew(second);
    await context.store.owners.remove(second);
    await context.store.owners.remove(second);
    expect(await othersOf(first)).to.equal(0);
  });

  it('is shared by all openers', async () => {
    const other = await context.other();
    const first = newOwner();
    const second = newOwner();
    await renew(first);
    expect(await other.owners.renew({ id: second, leaseMs: LONG_MS, alone: false })).to.include({ others: 1 });
  });
}
