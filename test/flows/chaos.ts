// What has to hold while upstreams fail in turn: no call fails, each is charged once, and the ledger adds up.
import { expect } from 'chai';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import { type ChaosReport, type ChaosUpstreams, chaosCatalog, runChaos, startUpstreams } from '../../testkit/chaos.ts';
import { COST } from '../../testkit/chaos-faults.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';

const ACCOUNTS = 4;

export interface ChaosTest {
  readonly perSecond: number;
  readonly seconds: number;
  /** What is late by more than this counts as silent. */
  readonly firstTokenMs: number;
  /** So many different faults have to be met. */
  readonly faultsMin: number;
}

export function describeChaos({ perSecond, seconds, firstTokenMs, faultsMin }: ChaosTest): void {
  describe(`${perSecond} calls a second for ${seconds} s while upstreams fail in turn`, function () {
    this.timeout((seconds + 60) * 1000);
    let upstreams: ChaosUpstreams;
    let gateway: TestGateway;
    let accounts: TestAccount[];
    let report: ChaosReport;

    before(async () => {
      upstreams = await startUpstreams();
      const env = { FIRST_TOKEN_TIMEOUT_MS: `${firstTokenMs}` };
      gateway = await startGateway({ catalog: chaosCatalog(upstreams.urls), env });
      accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => gateway.account('100000')));
      report = await runChaos({ upstreams, gateway, accounts, perSecond, seconds });
    });
    after(async () => {
      await gateway.stop();
      await upstreams.close();
    });

    it('fails no call, since one route always works', () => {
      expect(report.failures.length, report.failures.slice(0, 3).join('\n')).to.equal(0);
      // A machine with other work may not keep the rate.
      expect(report.calls).to.be.above((perSecond * seconds) / 2);
    });

    it(`meets at least ${faultsMin} faults`, async () => {
      const { met } = await upstreams.report();
      expect(met.size).to.be.at.least(faultsMin);
    });

    it('asks no upstream twice for one answer', async () => {
      expect((await upstreams.report()).answers).to.equal(report.calls);
    });

    it('charges each call once, by what it used', async () => {
      expect(new Set(report.charges).size).to.equal(report.calls);
      for (const id of report.charges) {
        const charge = await gateway.store.ledger.charge(id);
        expect([charge?.state, charge?.charged]).to.deep.equal(['settled', COST]);
      }
      const wallets = await Promise.all(accounts.map(gateway.wallet));
      const charged = wallets.reduce((sum, wallet) => sum + wallet.charged, 0n);
      expect(charged).to.equal(BigInt(report.calls) * COST);
    });

    it('leaves a ledger without drift and without holds', async () => {
      const { ok, drift, problems } = await verifyLedger(gateway.store);
      expect({ ok, drift, problems }).to.deep.equal({ ok: true, drift: 0n, problems: [] });
      await gateway.checkMoney();
    });
  });
}
