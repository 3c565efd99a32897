// Days follow the account's time zone on every page: calls, usage and the overview agree with each other and with the
// times shown.
import { expect } from 'chai';
import { DAY_MS, HOUR_MS } from '../../lib/base/durations.ts';
import { findDayStart, findDayStartHour, findHourDay } from '../../lib/money/days.ts';
import { formatMoment } from '../../lib/money/period.ts';
import { send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { setUpOwner, type Visitor } from '../../testkit/pages.ts';
import { applied, RUB } from '../contract/store/context.ts';

describe('the days of an account', () => {
  let test: TestGateway;
  let account: TestAccount;
  let owner: Visitor & { email: string };

  before(async () => {
    test = await startGateway({ catalog: { upstreams: {}, models: [] } });
  });
  beforeEach(async () => {
    account = await test.account('10000');
    owner = await setUpOwner(test, account.id);
  });
  after(() => test.stop());

  async function live(zone: string, email = owner.email): Promise<void> {
    const user = await test.store.users.find(email);
    if (user) await test.store.users.change({ ...user, timeZone: zone });
  }

  async function pay(at: number, rub: bigint): Promise<void> {
    const call = { kind: 'charge', chargeKind: 'image', model: 'm', prices: '{}', key: account.keyId } as const;
    await applied(test.store, {
      ...call,
      wallet: account.id,
      at,
      amount: rub * RUB,
      chargeId: `c${rub}-${account.id}`,
    });
  }

  const chargedIn = (text: string) =>
    [...text.matchAll(/"\/account\/calls\/c(\d+)-acc_\w+/g)].map(([, rub]) => Number(rub));
  const readCsvRows = async (path: string) => (await owner.get(path)).text.trimEnd().split('\r\n').slice(1);
  async function facts(path: string): Promise<Readonly<Record<string, string>>> {
    const rows = (await owner.get(path)).text.matchAll(/<dt>([^<]+)<\/dt><dd>(?:<(?:strong|a)[^>]*>)*([^<]*)/g);
    return Object.fromEntries([...rows].map(([, name = '', value = '']) => [name, value]));
  }

  for (const zone of ['UTC', 'Europe/Moscow', 'Asia/Vladivostok', 'America/New_York']) {
    it(`start and end at midnight in ${zone}, in calls, usage and their files`, async () => {
      await live(zone);
      // The clocks of New York change on the day in the middle.
      const start = findDayStart('2026-03-08', zone);
      const end = findDayStart('2026-03-09', zone);
      for (const [at, rub] of [
        [start - 1, 1n],
        [start, 2n],
        [end - 1, 4n],
        [end, 8n],
      ] as const)
        await pay(at, rub);
      const range = 'from=2026-03-08&to=2026-03-08';
      const page = (await owner.get(`/account/calls?${range}`)).text;
      expect(chargedIn(page)).to.deep.equal([4, 2]);
      expect(page)
        .to.contain('8\u00a0Mar\u00a02026, 00:00:00')
        .and.to.contain('8\u00a0Mar\u00a02026, 23:59:59')
        .and.to.contain(zone);
      expect(page.replaceAll('\u00a0', ' ')).not.to.match(/[79] Mar 2026/);
      const files = await readCsvRows(`/account/calls.csv?${range}`);
      expect(files.map((row) => row.split(',')[0])).to.deep.equal([end - 1, start].map((at) => formatMoment(at, zone)));
      const days = await readCsvRows('/account/usage.csv?from=2026-03-07&to=2026-03-09');
      expect(days.map((row) => row.split(',').slice(0, 3).join())).to.deep.equal([
        ...['2026-03-07,1,1.00', '2026-03-08,2,6.00', '2026-03-09,1,8.00'],
      ]);
      expect(await facts(`/account/usage?${range}`)).to.include({ Calls: '2', Charged: '₽6.00' });
      expect((await owner.get('/account/usage')).text).not.to.contain('whole hours');
    });
  }

  it('start at the nearest whole hour in the usage of other zones, with a note', async () => {
    await live('Asia/Kolkata');
    const start = findDayStart('2026-03-08', 'Asia/Kolkata');
    for (const [minutes, rub] of [
      [-31, 1n],
      [-29, 2n],
      [1, 4n],
    ] as const)
      await pay(start + minutes * 60_000, rub);
    const range = 'from=2026-03-08&to=2026-03-08';
    expect(await facts(`/account/usage?${range}`)).to.include({ Charged: '₽6.00' });
    expect((await owner.get(`/account/usage?${range}`)).text).to.contain('up to half an hour before or after midnight');
    expect((await owner.get(`/account/usage?${range}&lang=ru`)).text).to.contain('в пределах получаса');
    expect(chargedIn((await owner.get(`/account/calls?${range}&lang=en`)).text), 'calls are exact').to.deep.equal([4]);
  });

  for (const zone of ['Europe/Moscow', 'Asia/Kathmandu', 'Pacific/Auckland']) {
    it(`cover the same thirty days on the overview, in usage and in the balance of a key, in ${zone}`, async () => {
      await live(zone);
      const now = Date.now();
      const today = findHourDay(now, zone);
      const startOfToday = findDayStartHour(today, zone);
      await pay(startOfToday - 1, 10n);
      await pay(now, 20n);
      const overview = await facts('/account');
      expect(overview).to.include({ 'Charged today': '₽20.00', 'Charged in 30 days': '₽30.00' });
      expect((await facts('/account/usage')).Charged).to.equal(overview['Charged in 30 days']);
      const balance = await send(`${test.url}/api/v1/balance`, { key: account.key });
      expect(balance.json.spent_30d_rub).to.equal(30);
      // Both start with the whole thirtieth day, not 720 hours ago.
      const first = findDayStartHour(findHourDay(startOfToday - 29 * DAY_MS + 2 * HOUR_MS, zone), zone);
      await pay(first - 1, 100n);
      await pay(first, 200n);
      const after = await facts('/account');
      expect(after['Charged in 30 days']).to.equal('₽230.00');
      expect((await facts('/account/usage')).Charged).to.equal('₽230.00');
    });
  }

  it('follow the time zone of the first owner, like budgets, for every user', async () => {
    const other = await setUpOwner(test, account.id, `other-${account.id}@example.com`);
    const members = await test.store.users.listAccountMembers(account.id);
    const users = await Promise.all(members.map(({ user }) => test.store.users.get(user)));
    const [first, second] = users.toSorted((one, two) => (one?.createdAt ?? 0) - (two?.createdAt ?? 0));
    await live('Asia/Vladivostok', first?.email);
    await live('America/New_York', second?.email);
    await pay(Date.UTC(2026, 2, 8, 14), 5n);
    for (const visitor of [owner, other]) {
      const { text } = await visitor.get('/account/calls?from=2026-03-09&to=2026-03-09');
      expect(chargedIn(text)).to.deep.equal([5]);
      expect(text).to.contain('9\u00a0Mar\u00a02026, 00:00:00').and.to.contain('Time zone: Asia/Vladivostok');
    }
  });
});
