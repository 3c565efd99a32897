// Versions of the catalog's part that operators write on pages: each number is taken once.
import { expect } from 'chai';
import { AT, newId, type StoreContext } from './context.ts';

export function catalogVersionContract(context: StoreContext): void {
  const version = (seq: number) => ({ seq, at: AT + seq, user: newId('usr'), note: `n${seq}`, text: `{"n":${seq}}` });

  it('are numbered, listed from the latest, and kept as they are', async () => {
    const { catalogVersions } = context.store;
    const first = (await catalogVersions.last()) + 1;
    const rows = [0, 1, 2].map((at) => version(first + at));
    for (const row of rows) expect(await catalogVersions.add(row)).to.equal(true);
    expect(await catalogVersions.last()).to.equal(first + 2);
    expect(await catalogVersions.get(first)).to.deep.equal(rows[0]);
    expect(await catalogVersions.get(first + 9)).to.equal(undefined);
    expect(await catalogVersions.page({ limit: 2 })).to.deep.equal([rows[2], rows[1]]);
    expect(await catalogVersions.page({ before: first + 1, limit: 1 })).to.deep.equal([rows[0]]);
    expect(await catalogVersions.add({ ...version(first), text: '{}' })).to.equal(false);
    expect(await catalogVersions.get(first)).to.deep.equal(rows[0]);
  });

  it('are taken by one of several that save at once, and copied repeatedly', async () => {
    const stores = [context.store, await context.other()];
    const seq = (await context.store.catalogVersions.last()) + 1;
    const rows = stores.map(() => version(seq));
    const taken = await Promise.all(stores.map(({ catalogVersions }, at) => catalogVersions.add(rows[at] as never)));
    expect(taken.filter(Boolean)).to.have.length(1);
    expect(await context.store.catalogVersions.get(seq)).to.deep.equal(rows[taken.indexOf(true)]);
    const copied = [version(seq + 1), version(seq)];
    for (const _ of [1, 2]) await context.store.catalogVersions.put(copied);
    await context.store.catalogVersions.put([]);
    expect(await context.store.catalogVersions.page({ limit: 2 })).to.deep.equal(copied);
  });
}
