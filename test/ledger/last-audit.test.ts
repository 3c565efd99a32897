import { expect } from 'chai';
import { auditLedger, lastAuditOf } from '../../lib/ledger/last-audit.ts';
import { openFaultyStore } from '../../testkit/faulty-store.ts';

describe('last audit', () => {
  it('counts all problems, also those that the report leaves out, until the next one', async () => {
    const { real, close } = await openFaultyStore();
    expect(await lastAuditOf(real)).to.equal(undefined);
    const startedAt = Date.now();
    const problem = { wallet: 'w', problem: 'p' };
    const report = { ok: false, wallets: 1, entries: 9, drift: -5n, problems: [problem, problem], more: 3 };
    expect(await auditLedger(real, async () => report)).to.equal(report);
    const last = await lastAuditOf(real);
    expect(last).to.include({ problems: 5, drift: '-5' });
    expect(last?.at).to.be.within(startedAt, Date.now());
    await auditLedger(real);
    expect(await lastAuditOf(real)).to.include({ problems: 0, drift: '0' });
    await close();
  });
});
