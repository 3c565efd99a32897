import { expect } from 'chai';
import { auditLedger, readLastAudit } from '../../lib/ledger/last-audit.ts';
import { openFaultyStore } from '../../testkit/faulty-store.ts';

describe('the last audit', () => {
  it('counts all problems, including those that the report omits, until the next audit', async () => {
    const { real, close } = await openFaultyStore();
    expect(await readLastAudit(real)).to.equal(undefined);
    const startedAt = Date.now();
    const problem = { wallet: 'w', problem: 'p' };
    const report = { ok: false, wallets: 1, entries: 9, drift: -5n, problems: [problem, problem], more: 3 };
    expect(await auditLedger(real, async () => report)).to.equal(report);
    const last = await readLastAudit(real);
    expect(last).to.include({ problems: 5, drift: '-5' });
    expect(last?.at).to.be.within(startedAt, Date.now());
    await auditLedger(real);
    expect(await readLastAudit(real)).to.include({ problems: 0, drift: '0' });
    await close();
  });
});
