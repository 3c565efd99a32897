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
