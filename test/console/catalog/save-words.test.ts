// What a save would change, as a page shows it before.
import { expect } from 'chai';
import { changesTable, savedChanges } from '../../../lib/console/catalog/save-words.ts';

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

  it('that is done are folded away, and no more than a page of many saves can show', () => {
    const format = { number: String };
    const showSaved = (count: number) => {
      const abilities = Object.fromEntries(Array.from({ length: count }, (_, at) => [`ability${at}`, true]));
      return savedChanges({ language: 'en', format } as never, {}, makeModel('m', abilities) as never)?.text;
    };
    expect(showSaved(1)).to.contain('<details><summary>What changed</summary>').and.to.not.contain('more');
    expect(showSaved(100)).to.contain('ability97').and.to.contain('and 2 more').and.to.not.contain('ability98');
    expect(savedChanges({ language: 'en', format } as never, {}, {})).to.equal(undefined);
  });

  it('are said to be none', () => {
    expect(show({})).to.contain('Nothing changes.');
  });
});
