// Stores that each release left behind open in this version, at two gateways at once: nothing is lost, the books balance,
// paid calls are answered, and a copy into the other kind of store is whole.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type AuditReport, verifyLedger } from '../../lib/ledger/audit.ts';
import { foldUsage } from '../../lib/ledger/usage-fold.ts';
import { copyStore } from '../../lib/store/copy.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Store } from '../../lib/store/store.ts';
import { ask, CHAT, send, until } from '../../testkit/client.ts';
import { chatCatalog, startGateway } from '../../testkit/gateway.ts';
import { itLong } from '../../testkit/long.ts';
import { MONGODB, SQLITE } from '../../testkit/stores.ts';
import { startUpstream } from '../../testkit/upstream.ts';
import type { StoreDatabase } from '../contract/store/context.ts';
import { type Contents, readContents } from './contents.ts';
import { CALLER, KEY, PICTURE } from './everything.ts';
import { listReleases, readExpected } from './fixture.ts';
import { listOldStores, project } from './old-stores.ts';

/** People sign in again on a backup of MongoDB and on a copy; checkpoints and sums of usage are made anew there. */
const NOT_COPIED = [
  'sessions',
  'links',
  'attempts',
  'checkpoints',
  'usageCursors',
  'usageHours',
  'usageDays',
  'usageWeeks',
];
/** Tells that it is a backup or a copy. */
const CHANGED = 'settings';

describe('a release', () => {
  it('leaves stores behind for the tests of later versions', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    if (!/^0|-/.test(version)) expect(listReleases()).to.include(version);
  });
});

for (const release of listReleases()) {
  for (const old of listOldStores(release, PICTURE)) {
    describe(`the ${old.name} store of release ${release}`, () => {
      // A copy and calls are the same on any store that opens with all it had.
      const itOnce = old.name === 'sqlite' ? it : itLong;
      const expected = readExpected(release, `${old.name === 'sqlite' ? 'sqlite' : 'mongodb'}-expected`);
      let database: StoreDatabase;
      let store: Store;

      before(async () => {
        database = await old.createBare();
        await old.restore(database);
        const [first, second] = await Promise.all([openStore(database.url), openStore(database.url)]);
        await second.close();
        store = first;
      });
      after(async () => {
        await store?.close();
        await database.remove();
      });

      function expectContents(now: Contents, { without = [] as readonly string[] } = {}): void {
        for (const [name, rows] of Object.entries(expected)) {
          if (without.includes(name)) continue;
          const found = project(now[name], rows);
          if (name === CHANGED) expect(Object.keys(found as object), name).to.include.members(Object.keys(rows));
          else expect(found, name).to.deep.equal(rows);
        }
      }

      it('has everything that it had, in the schema of a new store', async () => {
        expectContents(await readContents(store), { without: old.name === 'backup' ? NOT_COPIED : [] });
        expect((await verifyLedger(store)).problems).to.deep.equal([]);
        const fresh = await old.createBare();
        try {
          await (await openStore(fresh.url)).close();
          expect(await old.schema(database)).to.deep.equal(await old.schema(fresh));
          expect(await old.version(database)).to.equal(old.newest);
        } finally {
          await fresh.remove();
        }
      });

      itLong('is copied whole into the other kind of store', async () => {
        const target = await (old.name === 'mongodb' ? SQLITE : MONGODB).create();
        const copy = await openStore(target.url);
        try {
          await copyStore({ from: store, to: copy, live: false });
          expectContents(await readContents(copy), { without: NOT_COPIED });
          expect((await verifyLedger(copy)).problems).to.deep.equal([]);
        } finally {
          await copy.close();
          await target.remove();
        }
      });

      itOnce('answers paid calls', async () => {
        const upstream = await startUpstream();
        const gateway = await startGateway({ catalog: chatCatalog(upstream.url), database: database.url });
        try {
          const before = await store.ledger.wallet(CALLER);
          const { status } = await send(`${gateway.url}${CHAT}`, { key: KEY, body: ask('Hello') });
          expect(status).to.equal(200);
          const after = await store.ledger.wallet(CALLER);
          expect((after?.charged ?? 0n) > (before?.charged ?? 0n)).to.equal(true);
          // Its jobs may be past their deadline by now: the gateway ends them, which is then folded.
          let problems: AuditReport['problems'] = [];
          const balances = async () => {
            ({ problems } = await verifyLedger(store));
            for (const { wallet } of problems) await foldUsage(store, wallet);
            return problems.length === 0;
          };
          await until(balances).catch(() => undefined);
          expect(problems).to.deep.equal([]);
        } finally {
          await gateway.stop();
          await upstream.close();
        }
      });
    });
  }
}
