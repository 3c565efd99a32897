// The bounds of automatic top-ups: valid entries, and mistakes reported by file and field.
import { expect } from 'chai';
import { listCatalogFiles, readCatalogFiles } from '../../lib/catalog/files.ts';
import { readTopupBounds } from '../../lib/catalog/topup-bounds.ts';
import { type CatalogFolder, catalogOf, makeFolder, mistakeOf } from './folder.ts';

const RUB = 1_000_000n;

describe('bounds of automatic top-ups', () => {
  let folder: CatalogFolder;
  beforeEach(() => {
    folder = makeFolder();
  });
  afterEach(() => folder.remove());
  const read = () => readCatalogFiles(listCatalogFiles(folder.catalog), ['*']);
  const boundsOf = (autoTopup: unknown) => {
    folder.write(catalogOf({ autoTopup }));
    return readTopupBounds(read().autoTopup);
  };

  it('default to three orders a day and the limits of the payment provider', () => {
    folder.write(catalogOf());
    const { perDay, threshold, amount, cap } = readTopupBounds(read().autoTopup);
    expect([perDay, threshold, amount.min, cap.min]).to.deep.equal([
      3,
      { min: RUB / 100n, max: 1_000_000n * RUB },
      RUB / 100n,
      RUB / 100n,
    ]);
    expect(boundsOf({})).to.deep.equal(readTopupBounds());
  });

  it('can each be set in the catalog', () => {
    expect(boundsOf({ perDay: 1 })).to.deep.equal({ ...readTopupBounds(), perDay: 1 });
    // No more than owners consent to.
    expect(boundsOf({ perDay: 20 })).to.deep.equal({ ...readTopupBounds(), perDay: 3 });
    const sums = { threshold: { max: '500' }, amount: { min: '100', max: '5000.50' }, cap: { max: '20000' } };
    const { threshold, amount, cap } = boundsOf(sums);
    expect(threshold).to.deep.equal({ min: RUB / 100n, max: 500n * RUB });
    expect(amount).to.deep.equal({ min: 100n * RUB, max: 5000n * RUB + RUB / 2n });
    expect(cap.max).to.equal(20_000n * RUB);
    const most = boundsOf({ amount: { max: '1000000000' } });
    expect(most.amount.max).to.equal(1_000_000_000n * RUB);
    const one = boundsOf({ amount: { min: '100', max: '100' }, cap: { max: '100' } });
    expect([one.amount.min, one.amount.max, one.cap.max]).to.deep.equal(Array(3).fill(100n * RUB));
  });

  for (const [name, autoTopup, says] of [
    ['no orders', { perDay: 0 }, /autoTopup\.perDay must be greater than or equal to 1/],
    ['orders without end', { perDay: 25 }, /autoTopup\.perDay must be less than or equal to 24/],
    ['half an order', { perDay: 1.5 }, /autoTopup\.perDay must be an integer/],
    ['a number that is text', { perDay: '3' }, /autoTopup\.perDay must be a number/],
    ['a sum that is a number', { amount: { max: 500 } }, /autoTopup\.amount\.max must be a string/],
    ['a sum of nothing', { cap: { max: '0' } }, /autoTopup\.cap\.max must be a decimal string of whole kopecks/],
    ['a sum above all', { cap: { max: '1000000000.01' } }, /autoTopup\.cap\.max must be a decimal string/],
    ['a fraction of a kopeck', { amount: { min: '0.001' } }, /autoTopup\.amount\.min must be a decimal string/],
    ['a sum in words', { threshold: { min: 'much' } }, /autoTopup\.threshold\.min must be a decimal string/],
    [
      'ends the wrong way round',
      { amount: { min: '2', max: '1.99' } },
      /autoTopup\.amount\.min must be at most autoTopup\.amount\.max/,
    ],
    [
      'a cap that no order fits in',
      { amount: { min: '1000' }, cap: { max: '999' } },
      /autoTopup\.cap\.max must be at least autoTopup\.amount\.min/,
    ],
    ['a field nobody knows', { daily: 3 }, /autoTopup\.daily is not allowed/],
  ] as const) {
    it(`are refused with ${name}, by file and field`, () => {
      folder.write(catalogOf({ autoTopup }));
      expect(mistakeOf(read)).to.match(new RegExp(`models\\.json: ${says.source}`));
    });
  }

  it('can be defined once only', () => {
    folder.write(catalogOf({ autoTopup: { perDay: 2 } }), 'a.json');
    folder.write({ autoTopup: { perDay: 2 } }, 'b.json');
    expect(mistakeOf(read)).to.match(/b\.json: autoTopup is defined twice$/);
  });
});
