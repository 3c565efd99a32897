// Exposure: the amount that running calls may cost above their holds cannot be held or charged by other calls.
import { expect } from 'chai';
import { createEmptyWallet, decide, type Operation, type Wallet } from '../../lib/money/decide.ts';
import { operation } from '../ledger/books.ts';

describe('a new hold or charge', () => {
  it('does not spend what running calls may cost above their holds', () => {
    const wallet: Wallet = { ...createEmptyWallet('w'), avail: 10n, topped: 10n };
    for (const kind of ['reserve', 'charge'] as const) {
      const begun = (amount: bigint, exposed: bigint, excess?: bigint) =>
        decide({ wallet, charge: undefined, prior: undefined, exposed }, {
          ...operation(kind, 'c', 1),
          amount,
          ...(excess !== undefined && { excess }),
        } as Operation);
      expect(begun(6n, 4n).status).to.equal('done');
      expect(begun(6n, 5n)).to.deep.equal({ status: 'insufficient', wallet, exposed: 5n });
      expect(begun(11n, 0n)).to.deep.equal({ status: 'insufficient', wallet });
      const alone = begun(10n, 0n, 500n);
      expect([alone.status, alone.charge?.excess]).to.deep.equal(['done', kind === 'reserve' ? 500n : undefined]);
    }
  });
});
