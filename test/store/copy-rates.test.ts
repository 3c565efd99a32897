// Copies of the history of exchange rates.
import { expect } from 'chai';
import { type FaultyStore, lose } from '../../testkit/faulty-store.ts';
import { AT, RUB, rejection } from '../contract/store/context.ts';
import { useCopies } from './copies.ts';

describe('copy of rates', () => {
  let from: FaultyStore;
  let to: FaultyStore;

  const { copy } = useCopies((opened) => {
    ({ source: from, target: to } = opened);
  });

  it('has all of them under their numbers, also after an interruption', async () => {
    const rate = { currency: 'USD', rub: 80n * RUB, from: '2026-11-01', at: AT };
    await from.real.rates.record([rate]);
    await from.real.rates.record([{ ...rate, rub: 81n * RUB, at: AT + 1 }]);
    to.next('rates.put', lose);
    expect(await rejection(copy())).to.have.property('message', 'lost by the test');
    expect(await copy()).to.include({ resumed: true });
    const copied = await to.real.rates.list();
    expect(copied.map(({ seq, rub }) => [seq, rub])).to.deep.equal([
      [1, 80n * RUB],
      [2, 81n * RUB],
    ]);
    expect(copied).to.deep.equal(await from.real.rates.list());
  });
});
