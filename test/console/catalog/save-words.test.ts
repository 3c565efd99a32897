// What a save would change, as a page shows it before.
import { expect } from 'chai';
import { changesTable } from '../../../lib/console/catalog/save-words.ts';

describe('the changes of a save', () => {
  const show = (after: object) => changesTable({ language: 'en' } as never, {}, after as never).text;
  const makeModel = (id: string, more: object) => ({ models: [{ id, type: 'text', ...more }] });

  it('are open while they are few, and folded away when many', () => {
    const few = show(makeModel('m', { provider: 'Test' }));
    expect(few).to.contain('<details open><summary>What changes</summary>').and.to.contain('models.m.provider');
    const abilities = Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`ability${at}`, true]));
    const many = show(makeModel('m', abilities));
    expect(many).to.contain('<details><summary>What changes</summary>').and.to.contain('models.m.ability10');
  });

  it('are said to be none', () => {
    expect(show({})).to.contain('Nothing changes.');
  });
});
