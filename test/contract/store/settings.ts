// Facts remembered across starts.
import { expect } from 'chai';
import { newId, type StoreContext } from './context.ts';

export function settingContract(context: StoreContext): void {
  it('keeps the last value of a name', async () => {
    const { settings } = context.store;
    const [name, other] = [newId('name'), newId('name')];
    expect(await settings.get(name)).to.equal(undefined);
    await settings.set(name, 'on');
    expect(await settings.get(name)).to.equal('on');
    await settings.set(name, '');
    expect(await settings.get(name)).to.equal('');
    expect(await settings.get(other)).to.equal(undefined);
  });

  it('lists those whose names begin alike, in order of name', async () => {
    const { settings } = context.store;
    const prefix = `${newId('name')}/`;
    for (const name of [`${prefix}b`, `${prefix}a`, `${prefix}я`, prefix.slice(0, -1)]) await settings.set(name, name);
    const listed = (await settings.list(prefix)).map(({ name }) => name);
    expect(listed).to.deep.equal([`${prefix}a`, `${prefix}b`, `${prefix}я`]);
    expect((await settings.list()).map(({ name }) => name)).to.include.members([...listed, prefix.slice(0, -1)]);
  });

  it('replaces a value only if it is still the one that was read', async () => {
    const { settings } = context.store;
    const name = newId('name');
    const replace = (before: string | undefined, after: string) => settings.replace(name, { before, after });
    expect(await replace('on', 'off')).to.equal(false);
    expect(await settings.get(name)).to.equal(undefined);
    expect(await replace(undefined, 'on')).to.equal(true);
    expect(await replace(undefined, 'off')).to.equal(false);
    expect(await replace('off', 'dim')).to.equal(false);
    expect(await settings.get(name)).to.equal('on');
    expect(await replace('on', '')).to.equal(true);
    expect(await replace('', 'dim')).to.equal(true);
    // Sent again, because the answer was lost.
    expect(await replace('', 'dim')).to.equal(true);
    expect(await settings.get(name)).to.equal('dim');
  });

  it('is replaced by one of two at the same time', async () => {
    const stores = [context.store, await context.other()];
    for (const before of [undefined, 'on'] as const) {
      const name = newId('name');
      if (before !== undefined) await context.store.settings.set(name, before);
      const done = await Promise.all(
        stores.map(({ settings }, at) => settings.replace(name, { before, after: `${at}` })),
      );
      expect(done.filter(Boolean)).to.have.length(1);
      expect(await context.store.settings.get(name)).to.equal(`${done.indexOf(true)}`);
    }
  });

  it('lists all names in order', async () => {
    const { settings } = context.store;
    const first = newId('a');
    const second = newId('b');
    await settings.set(second, '2');
    await settings.set(first, '1');
    const listed = (await settings.list()).filter(({ name }) => [first, second].includes(name));
    expect(listed).to.deep.equal([
      { name: first, value: '1' },
      { name: second, value: '2' },
    ]);
  });

  it('is the same for every opener', async () => {
    const name = newId('name');
    await context.store.settings.set(name, 'Привет "мир"');
    expect(await (await context.other()).settings.get(name)).to.equal('Привет "мир"');
  });
}
