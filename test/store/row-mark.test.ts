// The marks by which an audit finds rows that were changed outside the store, page by page.
import { expect } from 'chai';
import { listWrongMarks, markRow } from '../../lib/store/row-mark.ts';

const makeRow = (id: string) => ({ id, wallet: `wallet of ${id}` });
const ROWS = [
  { row: makeRow('a'), mark: markRow(makeRow('a')) },
  { row: makeRow('b'), mark: 'of other values' },
  { row: makeRow('c'), mark: null },
];

describe('a page of marked rows', () => {
  it('names the next page only if it is full', () => {
    expect(listWrongMarks(ROWS, 3).next).to.equal('c');
    expect(listWrongMarks(ROWS, 4)).not.to.have.property('next');
    expect(listWrongMarks([], 3)).to.deep.equal({ found: [] });
  });

  it('has what does not fit its mark, and passes over what an earlier version wrote without one', () => {
    expect(listWrongMarks(ROWS, 9).found).to.deep.equal([{ id: 'b', wallet: 'wallet of b' }]);
  });
});
