// Copies of papers for companies: numbers go on, and no credit is lost or made twice.
import { expect } from 'chai';
import type { FaultyStore } from '../../testkit/faulty-store.ts';
import { AT, newId, RUB } from '../contract/store/context.ts';
import { newPaper } from '../contract/store/papers.ts';
import { useCopies } from './copies.ts';

describe('copy of papers', () => {
  let from: FaultyStore;
  let to: FaultyStore;
  const { copy } = useCopies((opened) => {
    ({ source: from, target: to } = opened);
  });

  it('has them all, and is to credit what the copied ledger has not', async () => {
    const account = await from.wallet();
    const { number: _number, version: _version, ...draft } = newPaper({ account });
    const invoice = await from.real.papers.issue(draft);
    const [booked, late] = ['bank:1', 'bank:2'].map((id) => newPaper({ kind: 'payment', id, state: 'credited' }));
    await from.real.papers.put([booked, late] as never);
    const op = { kind: 'topup', wallet: account, at: AT, amount: 1500n * RUB, paymentId: 'bank:1' } as const;
    await from.real.ledger.apply([op]);
    await copy();
    expect(await to.real.papers.get('invoice', invoice.id)).to.deep.equal(invoice);
    expect(await to.real.papers.get('payment', 'bank:1')).to.deep.equal(booked);
    expect(await to.real.papers.get('payment', 'bank:2')).to.deep.equal({ ...late, state: 'claimed' });
    const next = await to.real.papers.issue({ ...draft, id: newId('inv') });
    expect(next.number).to.equal((invoice.number ?? 0) + 1);
  });
});
