// Claims: when an owner counts as dead, and what is claimed first.
import { expect } from 'chai';
import { canJudgeOwners, compareDue } from '../../lib/store/claim.ts';

describe('claims', () => {
  for (const [apart, can] of [
    [0, true],
    [500, true],
    [-500, true],
    [501, false],
    [-501, false],
  ] as const) {
    it(`${can ? '' : 'do not '}tell the dead with a claimer whose clock is ${apart} ms of a lease of 1000 apart`, () => {
      expect(canJudgeOwners({ owner: 'own_1', leaseMs: 1000, limit: 1, at: 7000 + apart }, 7000)).to.equal(can);
    });
  }

  it('do not judge other owners without the claimer’s time', () => {
    expect(canJudgeOwners({ owner: 'own_1', leaseMs: 1000, limit: 1 }, 0)).to.equal(false);
  });

  it('return what has waited longest first, then by id', () => {
    const rows = [
      { id: 'c', dueAt: 7 },
      { id: 'a', dueAt: 9 },
      { id: 'b', dueAt: 7 },
      { id: 'd', dueAt: null },
      { id: 'e', dueAt: 1 },
    ];
    expect(rows.toSorted(compareDue).map(({ id }) => id)).to.deep.equal(['d', 'e', 'b', 'c', 'a']);
    expect(rows.toReversed().toSorted(compareDue)[2]?.id).to.equal('b');
  });
});
