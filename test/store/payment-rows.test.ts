// Rows of payments as databases return them: flags are numbers, and numbers may be bigints.
import { expect } from 'chai';
import { fromCells, PAYMENT_FIELDS, toCells } from '../../lib/store/payment-rows.ts';

describe('rows of payments', () => {
  const names = Object.keys(PAYMENT_FIELDS.payments);
  const rowWith = (name: string, cell: unknown) =>
    fromCells(
      'payments',
      names.map((each) => (each === name ? cell : null)),
    ) as unknown as Record<string, unknown>;

  for (const [cell, flag] of [
    [true, true],
    [false, false],
    [1, true],
    [0, false],
    [1n, true],
    [0n, false],
  ] as const) {
    it(`have the flag ${flag} for ${typeof cell} ${cell}`, () => {
      expect(rowWith('test', cell).test).to.equal(flag);
    });
  }

  it('have numbers instead of bigints, except for money', () => {
    expect(rowWith('createdAt', 5n).createdAt).to.equal(5);
    expect(rowWith('amount', 5n).amount).to.equal(5n);
    expect(rowWith('facts', 'x').facts).to.equal('x');
  });

  it('store flags as numbers', () => {
    const row = rowWith('test', 1) as never;
    expect(toCells('payments', row)[names.indexOf('test')]).to.equal(1);
  });
});
