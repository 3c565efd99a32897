// An owner's first page: charges of thirty days, how long the balance lasts, and the latest calls.
import { expect } from 'chai';
import { DAY_MS } from '../../../lib/base/durations.ts';
import { formatDay } from '../../../lib/money/days.ts';
import { setUpOwner } from '../../../testkit/pages.ts';
import { applied, giveBack, newId, RUB, reserve } from '../../contract/store/context.ts';
import { openPages, type Pages } from '../stage.ts';

describe('the overview of an owner', () => {
  let pages: Pages;
  let owner: Awaited<ReturnType<Pages['owner']>>;

  before(async () => {
    pages = await openPages();
  });
  beforeEach(async () => {
    owner = await addOwner(60);
  });
  after(() => pages.close());

  /** Of an account that is some days old and has 1,000 roubles. */
  async function addOwner(daysOld: number): Promise<typeof owner> {
    const store = pages.faults.real;
    const account = newId('acc');
    await store.accounts.create({ id: account, name: 'test', createdAt: Date.now() - daysOld * DAY_MS });
    const paid = { wallet: account, at: Date.now(), amount: 1000n * RUB, paymentId: newId('pay') };
    await applied(store, { kind: 'topup', ...paid });
    return { ...(await setUpOwner({ store, url: pages.url }, account)), account };
  }

  async function spend(rub: bigint, daysAgo: number, name = 'call', { model = 'm', key = 'key_1' } = {}) {
    const call = { kind: 'charge', chargeKind: 'image', model, prices: '{}', key } as const;
    const at = Date.now() - daysAgo * DAY_MS;
    const chargeId = `${name}-${owner.account}`;
    await applied(pages.faults.real, { ...call, wallet: owner.account, at, amount: rub * RUB, chargeId });
  }

  async function facts(): Promise<Readonly<Record<string, string>>> {
    const { text } = await owner.get('/account');
    const rows = text.matchAll(/<dt>([^<]+)<\/dt><dd>(?:<strong[^>]*>)?([^<]*)/g);
    return Object.fromEntries([...rows].map(([, name = '', value = '']) => [name, value]));
  }

  it('shows the charges of thirty days, and how long the balance lasts', async () => {
    await spend(300n, 31, 'old');
    await spend(500n, 29, 'last month');
    await spend(100n, 0, 'today');
    const shown = Object.values(await facts());
    expect(shown).to.include.members(['₽100.00', '₽600.00', 'about 15 days']);
  });

  it('lets one odd day not decide how long the balance lasts', async () => {
    await spend(300n, 1, 'odd');
    for (const daysAgo of [3, 5, 8]) await spend(10n, daysAgo, `usual ${daysAgo}`);
    expect(Object.values(await facts())).to.include.members(['₽330.00', 'about 502 days']);
    // Of less than a week nobody knows which day is odd.
    for (const [daysOld, left] of [
      [5.5, 'about 13 days'],
      [6.5, 'about 241 days'],
    ] as const) {
      owner = await addOwner(daysOld);
      await spend(300n, 1, 'odd');
      await spend(10n, 3, 'usual');
      expect(Object.values(await facts())).to.include.members(['₽310.00', left]);
    }
  });

  it('says that yesterday was unusually expensive, with the model and the key that cost most', async () => {
    const key = `key_shop${owner.account}`;
    const row = { id: key, account: owner.account, name: 'shop', last4: '9sMB', hash: newId('hash'), createdAt: 1 };
    await pages.faults.real.keys.add(row, 10);
    const unusual = async () =>
      /Yesterday was unusually expensive[\s\S]*?<\/p>/.exec((await owner.get('/account')).text)?.[0];
    for (let day = 2; day <= 15; day += 1) await spend(day % 2 === 0 ? 20n : 30n, day, `usual ${day}`);
    await spend(75n, 1, 'three times the median');
    expect(await unusual()).to.equal(undefined);
    await spend(6n, 1, 'more', { model: 'dear', key });
    await spend(80n, 1, 'most', { model: 'dear', key });
    const day = formatDay(Date.now() - DAY_MS, 'Europe/Moscow');
    expect(await unusual())
      .to.contain('₽161.00; a usual day costs about ₽25.00. Highest cost: model dear, key shop (…9sMB).')
      .and.to.contain(`href="/account/usage?from=${day}&amp;to=${day}&amp;by=model"`);
    expect((await owner.get('/account?lang=ru')).text).to.contain('Вчера потрачено необычно много');
    await owner.get('/account?lang=en');
  });

  it('calls no day unusual of an account that is too young, or of one that cost up to 50 RUB', async () => {
    await spend(50n, 1);
    expect((await owner.get('/account')).text).not.to.contain('unusually');
    owner = await addOwner(10);
    await spend(200n, 1);
    expect((await owner.get('/account')).text).not.to.contain('unusually');
  });

  it('draws thirty days by model or by key, and shows what cost most in a week, with links to the usage', async () => {
    await spend(100n, 10, 'before', { model: 'dear' });
    await spend(5n, 10, 'not since', { model: 'old' });
    await spend(30n, 6, 'last week', { model: 'cheap' });
    await spend(10n, 0, 'today', { model: 'dear', key: 'key_2' });
    const { text } = await owner.get('/account');
    const table = text.slice(text.indexOf('<h2>Models that cost most in 7 days</h2>'), text.indexOf('<h2>Keys</h2>'));
    const rows = [...table.matchAll(/by=key">(\w+)<\/a><\/td><td[^>]*>([^<]+)<\/td><td[^>]*>([^<]+)/g)];
    expect(rows.map(([, ...cells]) => cells)).to.deep.equal([
      ['cheap', '₽30.00', '75%'],
      ['dear', '₽10.00', '25%'],
    ]);
    const [from, to] = [6, 0].map((ago) => formatDay(Date.now() - ago * DAY_MS, 'Europe/Moscow'));
    expect(table).to.contain(`href="/account/usage?from=${from}&amp;to=${to}&amp;model=cheap&amp;by=key"`);
    const bars = (html: string) =>
      [...html.matchAll(/<a href="\/account\/usage\?from=[-\d]+&amp;to=[-\d]+" aria-label="[^"]*: ([^"]+)"/g)].map(
        ([, sum]) => sum,
      );
    expect(bars(text)).to.deep.equal(['₽105.00', '₽30.00', '₽10.00']);
    expect(text).to.contain('</span>dear</li>').and.not.to.contain('</span>key_2</li>');
    const byKey = (await owner.get('/account?by=key')).text;
    expect(bars(byKey)).to.deep.equal(bars(text));
    expect(byKey).to.contain('</span>key_2</li>').and.not.to.contain('</span>dear</li>');
    expect(byKey).to.contain('<h2>Models that cost most in 7 days</h2>').and.to.contain('₽30.00');
  });

  it('names the five models that cost most', async () => {
    for (const rub of [1n, 2n, 3n, 4n, 5n, 6n]) await spend(rub, 0, `of ${rub}`, { model: `model-${rub}` });
    const { text } = await owner.get('/account');
    const named = [...text.matchAll(/by=key">model-(\d)<\/a>/g)].map(([, rub]) => rub);
    expect(named).to.deep.equal(['6', '5', '4', '3', '2']);
  });

  it('counts the failed calls of today', async () => {
    expect(await facts()).not.to.have.property('Failed calls today');
    await spend(10n, 0, 'done');
    expect(await facts()).to.include({ 'Failed calls today': '0 of 1' });
    const [chargeId, at] = [newId('req'), Date.now()];
    const failed = [reserve(owner.account, { chargeId, at }), giveBack('release', owner.account, chargeId, { at })];
    await applied(pages.faults.real, ...failed);
    expect(await facts()).to.include({ 'Failed calls today': '1 of 2' });
  });

  it('handles no spending, and the singular of a day', async () => {
    expect(Object.values(await facts())).to.include.members(['₽0.00', 'no spending yet']);
    expect((await owner.get('/account')).text).to.not.contain('/account?by=key');
    await spend(960n, 1);
    expect(Object.values(await facts())).to.include.members(['₽40.00', 'about 1 day']);
  });

  it('counts the days of a younger account only', async () => {
    for (const [daysOld, left] of [
      [0, 'about 4 days'],
      [2.5, 'about 12 days'],
    ] as const) {
      owner = await addOwner(daysOld);
      await spend(200n, 0);
      expect(Object.values(await facts())).to.include.members(['₽200.00', left]);
    }
  });

  it('shows the latest ten calls, and no steps after the first call', async () => {
    expect((await owner.get('/account')).text).to.contain('Your first call, step by step');
    for (let number = 0; number < 11; number += 1) await spend(1n, 11 - number, `n${number}`);
    const { text } = await owner.get('/account');
    const ids = [...text.matchAll(/\/account\/calls\/n(\d+)-acc_\w+"/g)].map(([, number]) => Number(number));
    expect(ids).to.deep.equal([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(text).to.contain('<a href="/account/calls">All calls</a>').and.not.to.contain('Your first call');
  });

  it('marks finished steps', async () => {
    const done = async () => {
      const { text } = await owner.get('/account');
      return [...text.matchAll(/<li><a href="(\/account\/\w+)">[^<]*<\/a>( <strong>)?/g)]
        .filter(([, , mark]) => mark !== undefined)
        .map(([, path]) => path);
    };
    expect(await done()).to.deep.equal(['/account/wallet']);
    await owner.submit('/account/keys', { name: 'first' });
    expect(await done()).to.deep.equal(['/account/wallet', '/account/keys']);
  });
});
