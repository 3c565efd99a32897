// A service that starts on a backup: it does not know which cards were charged since, so it charges none by itself.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { requestRefund } from '../../lib/payments/operator.ts';
import { handleRestore, RESTORED, readRestoredAt } from '../../lib/payments/restored.ts';
import { markResumed, PROVIDER_OFF } from '../../lib/payments/topup-rules.ts';
import { BACKUP_SETTING } from '../../lib/store/backup-file.ts';
import { copyStore } from '../../lib/store/copy.ts';
import { openStore } from '../../lib/store/open.ts';
import type { AutoTopupRow } from '../../lib/store/ports/payments.ts';
import type { Store } from '../../lib/store/store.ts';
import { type Bank, startBank, TILLS } from '../../testkit/bank.ts';
import { until } from '../../testkit/client.ts';
import { createFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import { startGateway } from '../../testkit/gateway.ts';
import { STORES } from '../../testkit/stores.ts';
import { newWallet, RUB, rejection, type StoreDatabase } from '../contract/store/context.ts';
import { newAuto, newMethod } from '../contract/store/payments.ts';
import { useStage } from './service-stage.ts';

for (const kind of STORES) {
  describe(`a backup of ${kind.name}`, () => {
    let bank: Bank;
    let folder: string;
    let database: StoreDatabase;
    let store: Store;

    before(async function () {
      this.timeout(60_000);
      bank = await startBank();
      bank.charges = 'pay';
      folder = mkdtempSync(join(tmpdir(), 'tollgate-restored-'));
      database = await kind.create();
      store = await openStore(database.url, { inProcess: true });
    });
    after(async () => {
      await store.close();
      await database.remove();
      await bank.close();
      rmSync(folder, { recursive: true, force: true });
    });

    /** A wallet below the threshold of its automatic top-up. */
    async function newLowWallet(): Promise<string> {
      const wallet = await newWallet(store);
      const { id: method } = await store.payments.saveMethod(newMethod(wallet, { provider: 'till' }));
      const wish = { threshold: 2000n * RUB, amount: 500n * RUB, cap: 100_000n * RUB, method };
      await store.payments.changeAutoTopup(newAuto(wallet, wish));
      return wallet;
    }

    it('charges no card until its owner resumes the automatic top-up', async function () {
      this.timeout(120_000);
      const wallet = await newLowWallet();
      const file = join(folder, 'backup.db');
      await store.backup(file);
      const catalog = { payments: { till: { plugin: 'till', settings: { baseUrl: bank.url } } } };
      const start = () => startGateway({ catalog, env: { PAYMENTS_PATH: TILLS }, database: `sqlite:${file}` });
      let gateway = await start();
      const read = async () => (await gateway.store.payments.autoTopup(wallet)) as AutoTopupRow;
      const paused = await read();
      await gateway.stop();
      expect(paused).to.include({ enabled: true, reason: RESTORED, order: null });
      expect([paused.pausedAt === null, bank.payments.size]).to.deep.equal([false, 0]);
      gateway = await start();
      await gateway.store.payments.changeAutoTopup(markResumed(await read()));
      await gateway.stop();
      gateway = await start();
      // Where a stop has come between, another life goes on after its lease.
      await until(async () => bank.payments.size > 0 && (await read()).order === null, 90_000);
      expect((await read()).pausedAt).to.equal(null);
      await gateway.checkMoney();
      await gateway.stop();
    });

    it('is one as a copy of it, and has no open sessions or links; its source is none', async function () {
      this.timeout(60_000);
      const wallet = await newLowWallet();
      const session = { user: 'usr_1', createdAt: 1, seenAt: 1, expiresAt: 9e12, idleMs: 9e12, provenAt: null };
      await store.sessions.add({ hash: `s-${kind.name}`, ...session, address: '192.0.2.1', agent: 'x' });
      const link = { hash: `l-${kind.name}`, purpose: 'operator', user: null, account: null, expiresAt: 9e12 } as const;
      await store.sessions.addLink({ ...link, email: 'op@example.com' });
      const file = join(folder, 'again.db');
      await store.backup(file);
      expect(await handleRestore(store, Date.now())).to.equal(undefined);
      const backup = await openStore(`sqlite:${file}`, { readOnly: true, inProcess: true });
      const target = await kind.create();
      const copy = await openStore(target.url, { inProcess: true, unfinished: true });
      try {
        expect(await backup.sessions.get(`s-${kind.name}`)).to.equal(undefined);
        expect(await backup.sessions.link(link.hash)).to.equal(undefined);
        await copyStore({ from: backup, to: copy, live: false });
        const found = await handleRestore(copy, Date.now());
        expect(found).to.include({ paused: (await store.payments.page('autoTopups', { limit: 10 })).length });
        expect((await copy.payments.autoTopup(wallet))?.reason).to.equal(RESTORED);
        expect(await handleRestore(copy, Date.now())).to.equal(undefined);
      } finally {
        await backup.close();
        await copy.close();
        await target.remove();
      }
    });

    // Last: the store counts as restored from then on.
    it('pauses only what would charge a card, and again what changed meanwhile', async () => {
      const [low, changed, off, paused, waiting] = [
        await newLowWallet(),
        await newLowWallet(),
        await newLowWallet(),
        await newLowWallet(),
        await newLowWallet(),
      ];
      const { payments } = store;
      const read = async (wallet: string) => (await payments.autoTopup(wallet)) as AutoTopupRow;
      await payments.changeAutoTopup({ ...(await read(off)), enabled: false });
      await payments.changeAutoTopup({ ...(await read(paused)), pausedAt: 1, reason: 'declined' });
      await payments.changeAutoTopup({ ...(await read(waiting)), pausedAt: 1, reason: PROVIDER_OFF });
      const all = await payments.page('autoTopups', { limit: 100 });
      const wanted = all.filter(({ enabled, pausedAt }) => enabled && pausedAt === null).length + 1;
      let isRaced = false;
      const raced: Store['payments'] = {
        ...payments,
        // Its owner lowers the threshold between the read and the write.
        changeAutoTopup: async (row) => {
          if (row.id === changed && !isRaced) {
            isRaced = true;
            await payments.changeAutoTopup({ ...(await read(changed)), threshold: RUB });
          }
          return payments.changeAutoTopup(row);
        },
      };
      await store.settings.set(BACKUP_SETTING, 'a backup');
      expect(await handleRestore({ ...store, payments: raced }, 5)).to.deep.equal({
        ...{ backup: 'a backup', paused: wanted, asked: 0 },
      });
      expect(await read(low)).to.include({ pausedAt: 5, reason: RESTORED });
      expect(await read(changed)).to.include({ pausedAt: 5, reason: RESTORED, threshold: RUB });
      // It would have ended by itself once the provider is back.
      expect(await read(waiting)).to.include({ pausedAt: 5, reason: RESTORED });
      expect(await read(off)).to.include({ enabled: false, pausedAt: null });
      expect(await read(paused)).to.include({ pausedAt: 1, reason: 'declined' });
    });
  });
  describe(`refunds that a backup of ${kind.name} lacks`, () => {
    const { stage, service } = useStage(kind);
    let folder: string;

    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'tollgate-restored-'));
    });
    after(() => rmSync(folder, { recursive: true, force: true }));

    const start = (file: string) =>
      startGateway({
        catalog: { payments: { till: { plugin: 'till', settings: { baseUrl: stage.bank.url } } } },
        env: { PAYMENTS_PATH: TILLS },
        database: `sqlite:${file}`,
      });

    it('are taken from the wallets, whoever made them', async function () {
      this.timeout(120_000);
      const [ours, theirs, whole, kept] = [
        await stage.credited(service()),
        await stage.credited(service()),
        await stage.credited(service()),
        await stage.credited(service()),
      ];
      const file = join(folder, 'refunds.db');
      await stage.store.backup(file);
      const wish = { at: Date.now(), amount: 300n * RUB, reason: 'wish', refund: `rfd_${ours.id}` };
      await requestRefund(stage.store, ours.id, wish);
      await service().payments.poll(ours.id);
      stage.bank.giveBack(theirs.id, 200n * RUB);
      stage.bank.giveBack(whole.id, 1000n * RUB);
      const orders = [ours.id, theirs.id, whole.id, kept.id];
      expect(stage.bank.holds(orders)).to.equal(2500n * RUB);

      const gateway = await start(file);
      const { payments, ledger } = gateway.store;
      await until(async () => (await payments.list({ wallet: stage.wallet, isOpen: true, limit: 10 })).length === 0);
      const found = await Promise.all(orders.map(async (id) => (await payments.get(id))?.refunded));
      expect(found).to.deep.equal([300n * RUB, 200n * RUB, 1000n * RUB, 0n]);
      expect(await ledger.wallet(stage.wallet)).to.include({ topped: 2500n * RUB });
      await gateway.checkMoney();
      await gateway.stop();
      const again = await start(file);
      expect(await again.store.payments.list({ wallet: stage.wallet, isOpen: true, limit: 10 })).to.deep.equal([]);
      await again.stop();
    });

    it('are looked for by the next start if the store fails, and by the next poll', async () => {
      const { id } = await stage.credited(service());
      await stage.store.settings.set(BACKUP_SETTING, 'a backup');
      const faults = createFaultyStore(stage.store);
      for (const call of ['payments.page', 'payments.change', 'settings.set'] as const) {
        faults.next(call, refuse);
        await rejection(handleRestore(faults.store, Date.now()));
        expect(await readRestoredAt(stage.store), call).to.equal(0);
      }
      expect(await handleRestore(faults.store, Date.now())).to.include({ backup: 'a backup' });
      expect((await stage.payment(id)).dueAt).to.be.a('number');

      const other = stage.service('own_2', faults.store);
      stage.bank.hook = () => 503;
      stage.aheadMs = 60_000;
      faults.next('settings.get', refuse);
      await rejection(other.payments.poll(id));
      expect((await stage.payment(id)).dueAt).to.be.a('number');
      stage.bank.giveBack(id, 200n * RUB);
      stage.bank.hook = () => undefined;
      expect((await other.payments.poll(id))?.refunded).to.equal(200n * RUB);
    });

    it('are looked for as long as a provider may be down', async () => {
      const day = 24 * 3_600_000;
      const { id } = await stage.credited(service());
      const payment = await stage.payment(id);
      await stage.store.payments.put('payments', [{ ...payment, changedAt: Date.now() - 400 * day }]);
      await stage.store.settings.set(BACKUP_SETTING, 'a backup');
      await handleRestore(stage.store, Date.now());
      expect(await readRestoredAt(stage.store)).to.be.above(Date.now() - 60_000);
      stage.bank.hook = () => 503;
      for (const daysLater of [1, 20, 31]) {
        stage.aheadMs = daysLater * day;
        await service().payments.poll(id);
        expect((await stage.payment(id)).dueAt === null, `after ${daysLater} days`).to.equal(daysLater > 30);
      }
    });
  });
}
