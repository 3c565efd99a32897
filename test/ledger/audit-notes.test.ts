// What an audit notes of a damaged store: the first problems of each wallet and of all, and how many there are.
import { expect } from 'chai';
import { createNotes } from '../../lib/ledger/audit.ts';

describe('the notes of an audit', () => {
  it('keep twenty problems of a wallet, and a thousand of all', () => {
    const notes = createNotes();
    for (let count = 0; count < 21; count += 1) notes.found('first', `problem ${count}`, 2n);
    expect(notes.read()).to.deep.include({ ok: false, drift: 42n, more: 1 });
    expect(notes.read().problems.at(-1)).to.deep.equal({ wallet: 'first', problem: 'problem 19' });
    for (let count = 0; count < 981; count += 1) notes.found(`wallet ${count}`, 'a problem');
    const { problems, more, drift } = notes.read();
    expect([problems.length, more, drift]).to.deep.equal([1000, 2, 42n]);
    expect(problems.at(-1)).to.deep.equal({ wallet: 'wallet 979', problem: 'a problem' });
  });

  it('are content with a store without problems', () => {
    expect(createNotes().read()).to.deep.equal({ ok: true, drift: 0n, problems: [], more: 0 });
  });
});
