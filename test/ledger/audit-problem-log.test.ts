// The problem log of an audit: the first problems per wallet and in total, and how many there are.
import { expect } from 'chai';
import { createProblemLog } from '../../lib/ledger/audit.ts';

describe('the problem log of an audit', () => {
  it('keeps twenty problems per wallet, and a thousand in total', () => {
    const notes = createProblemLog();
    for (let count = 0; count < 21; count += 1) notes.report('first', `problem ${count}`, 2n);
    expect(notes.read()).to.deep.include({ ok: false, drift: 42n, more: 1 });
    expect(notes.read().problems.at(-1)).to.deep.equal({ wallet: 'first', problem: 'problem 19' });
    for (let count = 0; count < 981; count += 1) notes.report(`wallet ${count}`, 'a problem');
    const { problems, more, drift } = notes.read();
    expect([problems.length, more, drift]).to.deep.equal([1000, 2, 42n]);
    expect(problems.at(-1)).to.deep.equal({ wallet: 'wallet 979', problem: 'a problem' });
  });

  it('is ok for a store without problems', () => {
    expect(createProblemLog().read()).to.deep.equal({ ok: true, drift: 0n, problems: [], more: 0 });
  });
});
