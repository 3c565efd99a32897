// The list of calls: its paging and export, the days of its range, and what its links keep.
import { expect } from 'chai';
import { createAccounts } from '../../../lib/accounts/accounts.ts';
import { DAY_MS, MINUTE_MS } from '../../../lib/base/durations.ts';
import { formatMoment } from '../../../lib/money/period.ts';
import { USAGE_UNITS } from '../../../lib/money/usage-units.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../../testkit/gateway.ts';
import { setUpMember, setUpOwner, type Visitor } from '../../../testkit/pages.ts';

const PATH = '/account/calls';
/** More than one page of the list, and one read of the export. */
const CALLS = 1002;
const BATCH = 100;
const STARTED_AT = Date.UTC(2026, 2, 1);

describe('the list of calls', () => {
  let test: TestGateway;
  let account: TestAccount;
  let owner: Visitor;

  before(async () => {
    test = await startGateway({ catalog: { upstreams: {}, models: [] } });
    account = await test.account();
    owner = await setUpOwner(test, account.id);
    await pay(Array.from({ length: CALLS }, (_, at) => ({ id: `call-${at}`, at: STARTED_AT + at * MINUTE_MS })));
  });
  after(() => test.stop());

  async function pay(
    calls: readonly { readonly id: string; readonly at: number }[],
    model = 'm-1',
    key = account.keyId,
  ): Promise<void> {
    const shared = { wallet: account.id, key, model, prices: '{}', amount: 10_000n };
    const kinds = { kind: 'charge', chargeKind: 'image' } as const;
    const ops = calls.map(({ id, at }) => ({ ...kinds, ...shared, at, chargeId: id }));
    for (let from = 0; from < ops.length; from += BATCH) {
      await test.store.ledger.apply(ops.slice(from, from + BATCH));
    }
  }

  const idsIn = (text: string) => [...text.matchAll(/href="\/account\/calls\/(call-\d+)"/g)].map(([, id]) => id);
  const linkIn = (text: string, mark: RegExp) =>
    [...text.matchAll(/<a href="([^"]+)"([^>]*)>/g)]
      .find(([, , more = '']) => mark.test(more))?.[1]
      ?.replaceAll('&amp;', '&');
  const readCsvRows = async (path: string) => {
    const [head = '', ...rows] = (await owner.get(path)).text.trimEnd().split('\r\n');
    return { head, rows: rows.map((row) => row.split(',')) };
  };
  /** Newest first. */
  const newest = (count: number, from = CALLS) => Array.from({ length: count }, (_, at) => `call-${from - 1 - at}`);

  it('shows the most expensive first, among those of the filter', async () => {
    const at = STARTED_AT + CALLS * MINUTE_MS;
    const other = await test.account();
    const buyer = await setUpOwner(test, other.id, 'buyer@example.com');
    const shared = { kind: 'charge', chargeKind: 'image', wallet: other.id, key: other.keyId, prices: '{}' } as const;
    const amounts = [3n, 9n, 1n, 9n, ...Array<bigint>(60).fill(2n)];
    const ops = amounts.map((amount, place) => ({
      ...{ ...shared, model: place === 2 ? 'm-2' : 'm-1', amount: amount * 10_000n, at: at + place },
      chargeId: `call-90${1000 + place}`,
    }));
    await test.store.ledger.apply(ops);
    const show = async (query: string) => (await buyer.get(`${PATH}?${query}`)).text;
    const sorted = await show('sort=price&lang=en');
    expect(idsIn(sorted).slice(0, 4)).to.deep.equal(['call-901003', 'call-901001', 'call-901000', 'call-901063']);
    expect(idsIn(sorted)).to.have.length(50);
    expect(sorted).to.contain('The 50 most expensive of the newest 64 calls.').and.to.not.contain('rel="next"');
    expect(sorted).to.contain(`<a href="${PATH}">Newest first</a>`);
    expect(sorted).to.contain('<input type="hidden" name="sort" value="price">');
    const few = await show('sort=price&model=m-2&lang=ru');
    expect(idsIn(few)).to.deep.equal(['call-901002']);
    expect(few).to.contain(`<a href="${PATH}?model=m-2">Сначала новые</a>`).and.to.not.contain('Самые дорогие');
    expect(await show('lang=en')).to.contain(`<a href="${PATH}?sort=price">Most expensive first</a>`);
  });

  it('shows fifty per page, with a link while there may be more', async () => {
    const first = await owner.get(`${PATH}?kind=image&lang=en`);
    expect(idsIn(first.text)).to.deep.equal(newest(50));
    const older = linkIn(first.text, /rel="next"/) ?? '';
    expect(older).to.equal(`${PATH}?kind=image&before=call-${CALLS - 50}&upTo=${CALLS + 1}`);
    const second = await owner.get(older);
    expect(idsIn(second.text)).to.deep.equal(newest(50, CALLS - 50));
    // The export has all calls, whichever page links to it.
    expect(linkIn(second.text, /download/)).to.equal(`${PATH}.csv?kind=image`);
    const last = await owner.get(`${PATH}?kind=image&before=call-2`);
    expect([idsIn(last.text), linkIn(last.text, /rel="next"/)]).to.deep.equal([['call-1', 'call-0'], undefined]);
    // After a full page that was the last one.
    expect((await owner.get(`${PATH}?before=call-0`)).text).to.contain('No calls match.');
  });

  it('exports every call once, newest first', async () => {
    const { head, rows } = await readCsvRows(`${PATH}.csv`);
    expect(head).to.equal(`time,request_id,key_id,key,kind,model,state,held_rub,charged_rub,${USAGE_UNITS},member`);
    expect(rows.map(([, id]) => id)).to.deep.equal(newest(CALLS));
    const time = formatMoment(STARTED_AT, 'Europe/Moscow');
    const key = (await test.store.keys.list(account.id))[0];
    const named = [account.keyId, `test key (…${key?.last4})`, 'image', 'm-1', 'settled'];
    const none = USAGE_UNITS.map(() => '');
    expect(rows.at(-1)).to.deep.equal([time, 'call-0', ...named, '0.01', '0.01', ...none, '']);
  });

  it('says to owners whose key a call was made with', async () => {
    const member = await setUpMember(test, { account: account.id, role: 'member' }, 'ira@example.com');
    const accounts = createAccounts({ store: test.store, keyPrefix: 'tg-' });
    const { id: key } = await accounts.issueKey(account.id, 'laptop', {}, member.id);
    await pay([{ id: 'call-ira', at: STARTED_AT + CALLS * MINUTE_MS }], 'm-3', key);
    const readTexts = (who: Visitor) =>
      Promise.all(
        [`${PATH}?model=m-3`, '/account/usage', `${PATH}/call-ira`, '/account'].map(
          async (path) => (await who.get(path)).text,
        ),
      );
    const [list = '', usage = '', call = '', overview = ''] = await readTexts(owner);
    for (const text of [list, overview])
      expect(text).to.match(/<td[^>]*>laptop \(….{4}\) <span class="hint">ira@example.com<\/span><\/td>/);
    for (const text of [list, usage]) expect(text).to.match(/<option value="[^"]+">laptop \(….{4}\), ira@example.com</);
    expect(call).to.contain('<dt>Member</dt><dd>ira@example.com</dd>');
    const { rows } = await readCsvRows(`${PATH}.csv?model=m-3`);
    expect(rows.map((row) => row.at(-1))).to.deep.equal(['ira@example.com']);
    const [, , theirs = '', ...more] = await readTexts(member);
    expect(theirs).to.contain('laptop').and.not.to.contain('<dt>Member');
    for (const text of more) expect(text).not.to.contain('ira@example.com<');
  });

  it('filters by whole days in the owner’s zone, including the last', async () => {
    const day = Date.UTC(2025, 4, 9, 21);
    const times = [day - 1, day, day + DAY_MS, day + 2 * DAY_MS - 1, day + 2 * DAY_MS];
    await pay(
      times.map((at, number) => ({ id: `range-${number}`, at })),
      'm-2',
    );
    const numbers = async (query: string) =>
      (await readCsvRows(`${PATH}.csv?model=m-2&${query}`)).rows.map(([, id]) => Number(id?.replace('range-', '')));
    expect(await numbers('from=2025-05-10&to=2025-05-11')).to.deep.equal([3, 2, 1]);
    expect(await numbers('from=2025-05-11')).to.deep.equal([4, 3, 2]);
    expect(await numbers('to=2025-05-09')).to.deep.equal([0]);
    expect(await numbers('from=2025-05-32&to=2025-02-30')).to.deep.equal([4, 3, 2, 1, 0]);
    expect(await numbers('from=2025-5-11&to=2025-05-09T')).to.deep.equal([4, 3, 2, 1, 0]);
  });

  it('shows its filters, and keeps the account in its form', async () => {
    const query = `from=2026-03-01&to=2026-03-02&key=${account.keyId}&model=m-1&kind=image&state=settled`;
    const { text } = await owner.get(`${PATH}?${query}&account=${account.id}`);
    for (const part of [
      'name="from" type="date" autocomplete="off" value="2026-03-01"',
      'name="to" type="date" autocomplete="off" value="2026-03-02"',
      `<option value="${account.keyId}" selected>`,
      '<option value="image" selected>',
      '<option value="settled" selected>',
      `<input type="hidden" name="account" value="${account.id}">`,
    ]) {
      expect(text).to.contain(part);
    }
  });
});
