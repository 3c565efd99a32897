// An owner's first page: charges of thirty days, how long the balance lasts, and the latest calls.
import { expect } from 'chai';
import { DAY_MS } from '../../../lib/base/durations.ts';
import { setUpOwner } from '../../../testkit/pages.ts';
import { applied, newId, RUB } from '../../contract/store/context.ts';
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

  async function spend(rub: bigint, daysAgo: number, name = 'call'): Promise<void> {
    const call = { kind: 'charge', chargeKind: 'image', model: 'm', prices: '{}', key: 'key_1' } as const;
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
    expect(shown).to.include.members(['₽100.00', '₽600.00', 'about 5 days']);
  });

  it('handles no spending, and the singular of a day', async () => {
    expect(Object.values(await facts())).to.include.members(['₽0.00', 'no spending yet']);
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
