// The usage page while sums are far behind the journal, on both stores: it shows what is counted and says so, and the
// rest is counted in the background.
import { expect } from 'chai';
import type { Membership } from '../../lib/gateway.ts';
import { foldSteps } from '../../lib/ledger/usage-fold.ts';
import { until } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { setUpOwner } from '../../testkit/pages.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { appliedInBatches, charge, RUB } from '../contract/store/context.ts';

/** More than a page counts by itself. */
const CALLS = 1200;

/** A gateway without the background chore: nothing is counted before a page is opened. */
const MEMBER: Membership = {
  isFirst: false,
  limiter: {
    hit() {
      throw new Error('no call is made');
    },
  },
};

for (const kind of longer([SQLITE], STORES)) {
  describe(`the page of usage that is still being counted on ${kind.name}`, function () {
    this.timeout(60_000);
    let database: Awaited<ReturnType<typeof kind.create>>;
    let test: TestGateway;

    before(async () => {
      database = await kind.create();
      const catalog = { upstreams: {}, models: [] };
      test = await startGateway({ catalog, database: database.url, member: MEMBER });
    });
    after(async () => {
      await test?.stop();
      await database?.remove();
    });

    /** The owner of calls that another process wrote. */
    async function setUpBehind() {
      const { id } = await test.account('10000');
      const owner = await setUpOwner(test, id);
      const at = Date.now();
      await appliedInBatches(
        test.store,
        Array.from({ length: CALLS }, () => charge(id, { amount: RUB, at })),
      );
      return { owner, id };
    }

    it('shows the figures counted so far, and soon all of them', async () => {
      const { owner } = await setUpBehind();
      const page = async () => (await owner.get('/account/usage?lang=en')).text;
      expect(await page())
        .to.contain('still being counted')
        .and.to.match(/Done: 0\u00a0%\./)
        .and.to.contain('id="figures" data-again')
        .and.to.contain('/static/live.js')
        .and.to.contain('>Refresh</a>')
        .and.not.to.contain('usage.csv');
      await until(async () => !(await page()).includes('still being counted'), 30_000);
      expect(await page())
        .to.contain('1,200.00')
        .and.to.contain('/account/usage.csv')
        .and.not.to.contain('data-again');
    });

    it('says in Russian that it is incomplete', async () => {
      const { owner } = await setUpBehind();
      expect((await owner.get('/account/usage?lang=ru&by=model')).text)
        .to.contain('ещё подсчитываются')
        .and.to.match(/Готово: 0\u00a0%\./)
        .and.to.contain('href="/account/usage?by=model"');
    });

    it('says up to when the counted part reaches', async () => {
      const { owner, id } = await setUpBehind();
      for await (const _ of foldSteps(test.store, id)) break;
      // The first step counts the top-up and 399 calls.
      expect((await owner.get('/account/usage?lang=en')).text)
        .to.match(/Done: 33\u00a0%, up to [^;<]*\d\d:\d\d[^;<]*; later calls are still missing\./)
        .and.to.contain('399.00');
    });

    it('serves no incomplete CSV', async () => {
      const { owner } = await setUpBehind();
      const table = () => owner.get('/account/usage.csv?by=kind&lang=en');
      const { status, headers } = await table();
      expect([status, headers['retry-after']]).to.deep.equal([503, '10']);
      await until(async () => (await table()).status === 200, 30_000);
      const [, row = ''] = (await table()).text.split('\r\n');
      expect(row.split(',').slice(0, 3)).to.deep.equal(['video', '1200', '1200.00']);
    });
  });
}
