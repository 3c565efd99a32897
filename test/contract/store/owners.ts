// The processes on a store: each is alive as long as it renews.
import { expect } from 'chai';
import { AT, newId, type StoreKind, useStore } from './context.ts';

export function ownerContract(kind: StoreKind): void {
  const context = useStore(kind);
  const forget: string[] = [];
  const newOwner = () => {
    const id = newId('own');
    forget.push(id);
    return id;
  };
  afterEach(async () => {
    for (const id of forget.splice(0)) await context.store.owners.remove(id);
  });

  it('counts the other owners that are alive', async () => {
    const { owners } = context.store;
    const [first, second, third] = [newOwner(), newOwner(), newOwner()];
    expect(await owners.renew({ id: first, until: AT + 10_000, now: AT })).to.equal(0);
    expect(await owners.renew({ id: second, until: AT + 10_000, now: AT })).to.equal(1);
    expect(await owners.renew({ id: third, until: AT + 10_000, now: AT })).to.equal(2);
    expect(await owners.renew({ id: first, until: AT + 11_000, now: AT + 1000 })).to.equal(2);
  });

  it('does not count itself, or those that stopped renewing', async () => {
    const { owners } = context.store;
    const [first, second] = [newOwner(), newOwner()];
    await owners.renew({ id: first, until: AT + 10_000, now: AT });
    await owners.renew({ id: second, until: AT + 20_000, now: AT });
    expect(await owners.renew({ id: second, until: AT + 30_000, now: AT + 10_001 })).to.equal(0);
    expect(await owners.renew({ id: first, until: AT + 30_000, now: AT + 15_000 }), 'back again').to.equal(1);
  });

  it('forgets one that leaves, also twice', async () => {
    const { owners } = context.store;
    const [first, second] = [newOwner(), newOwner()];
    await owners.renew({ id: first, until: AT + 10_000, now: AT });
    await owners.renew({ id: second, until: AT + 10_000, now: AT });
    await owners.remove(second);
    await owners.remove(second);
    expect(await owners.renew({ id: first, until: AT + 10_000, now: AT })).to.equal(0);
  });

  it('is shared by all openers', async () => {
    const other = await context.open();
    const [first, second] = [newOwner(), newOwner()];
    await context.store.owners.renew({ id: first, until: AT + 10_000, now: AT });
    expect(await other.owners.renew({ id: second, until: AT + 10_000, now: AT })).to.equal(1);
  });
}
