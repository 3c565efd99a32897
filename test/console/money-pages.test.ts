// Pages about money: they show their own account only, agree with the ledger, and write CSV for spreadsheets.
import { expect } from 'chai';
import { send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { setUpOperator, setUpOwner } from '../../testkit/pages.ts';

describe('pages about money', () => {
  let test: TestGateway;
  let account: TestAccount;
  let foreign: TestAccount;
  let owner: Awaited<ReturnType<typeof setUpOwner>>;
  const ids: string[] = [];
  let foreignId: string;

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
    account = await test.account();
    foreign = await test.account();
    owner = await setUpOwner(test, account.id);
    for (const text of ['Hello!', 'Translate: tree', '[[fail]]']) ids.push(await callAs(account, text));
    foreignId = await callAs(foreign, 'Hello!');
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
  });

  async function callAs({ key }: TestAccount, content: string): Promise<string> {
    const body = { model: 'sandbox-lite', messages: [{ role: 'user', content }] };
    const { headers } = await send(`${test.url}/api/v1/messages`, { key, body });
    return String(headers['x-request-id']);
  }

  it('show the calculation of a price, and link every call', async () => {
    const list = await owner.get('/account/calls');
    for (const id of ids) expect(list.text).to.contain(`/account/calls/${id}`);
    expect(list.text).not.to.contain(foreignId);
    const call = await owner.get(`/account/calls/${ids[0]}`);
    expect(call.status).to.equal(200);
    expect(call.text).to.match(/Input tokens: \d+ × ₽[\d,.]+ per 1M tokens = ₽/);
    const sums = [...call.text.matchAll(/<li>[^<]* = ₽([\d.]+)<\/li>/g)].map(([, sum]) => Number(sum));
    const [, together] = /<li>Total: ₽([\d.]+)<\/li>/.exec(call.text) ?? [];
    expect([sums.length, sums.reduce((one, other) => one + other, 0)]).to.deep.equal([2, Number(together)]);
    expect(call.text).to.contain('Charged: ₽0.50').and.to.contain('A total below ₽0.50 is charged as ₽0.50');
  });

  it('suggest the next step where a list is empty', async () => {
    const { id } = await test.account('0');
    const newcomer = await setUpOwner(test, id, 'nothing@example.com');
    expect((await newcomer.get('/account/calls')).text)
      .to.contain('This account has not made any calls yet. <a href="/account/playground">')
      .and.not.to.contain('Download CSV');
    expect((await newcomer.get('/account/calls?kind=video')).text)
      .to.contain('No calls match. <a href="/account/calls">')
      .and.not.to.contain('This account has made no calls');
  });

  it('show nothing of another account, whatever the path and query', async () => {
    for (const path of [
      `/account/calls/${foreignId}`,
      ...[
        '',
        '/keys',
        '/wallet',
        '/usage',
        '/usage.csv',
        '/calls',
        '/calls.csv',
        '/models',
        '/settings',
        '/settings/export',
      ].map((place) => `/account${place}?account=${foreign.id}`),
    ]) {
      expect((await owner.get(path)).status, path).to.equal(404);
    }
    const before = await owner.get(`/account/calls?before=${foreignId}`);
    expect(before.text).not.to.contain(`/account/calls/${foreignId}`);
    const filtered = await owner.get(`/account/calls?key=${foreign.keyId}`);
    expect(filtered.text).to.contain('No calls match.');
  });

  it('say which calls are archived', async () => {
    const before = Date.UTC(2026, 0, 2);
    for (const path of ['/account/calls', '/account/wallet']) {
      expect((await owner.get(path)).text, path).not.to.contain('have been archived');
    }
    const statementOf = async (month: string) => (await owner.get(`/account/statement.csv?month=${month}`)).status;
    expect(await statementOf('2026-01')).to.equal(200);
    const { id: wallet, status: _status, ...sums } = await test.wallet(account);
    const counts = { calls: 0, entries: 0, charged: 0n, first: null, last: null };
    const times = { before, startedAt: before };
    await test.store.archives.put({ id: 'arc_1', file: '/gone.gz', ...times, state: 'done', sha256: 'ab', ...counts });
    await test.store.archives.open({ wallet, ...sums, overshoot: 0n, lasting: 1, budgets: [], kept: null }, 0);
    for (const path of ['/account/calls', '/account/wallet']) {
      expect((await owner.get(path)).text, path).to.match(/Calls that ended before 2\sJan\s2026 have been archived/);
    }
    expect([await statementOf('2026-01'), await statementOf('2026-02')], 'no file is incomplete').to.deep.equal([
      404, 200,
    ]);
  });

  it('find a call by its request id, but none of another account', async () => {
    const found = await owner.get(`/account/calls?id=%20${ids[1]}`);
    expect([found.status, found.headers.location]).to.deep.equal([303, `/account/calls/${ids[1]}`]);
    const ofReply = await owner.get(`/account/calls?id=chatcmpl_${ids[1]}`);
    expect([ofReply.status, ofReply.headers.location]).to.deep.equal([303, `/account/calls/${ids[1]}`]);
    for (const id of [foreignId, 'req_none']) {
      const none = await owner.get(`/account/calls?id=${id}`);
      expect([
        none.status,
        none.text.includes('No charge has this ID.'),
        none.text.includes(ids[1] ?? ''),
      ]).to.deep.equal([...[200, true, false]]);
    }
  });

  it('filter calls, and ignore invalid filters', async () => {
    const of = async (query: string) =>
      (await owner.get(`/account/calls.csv?${query}`)).text.trim().split('\r\n').length - 1;
    expect(await of('')).to.equal(3);
    expect(await of('state=settled')).to.equal(2);
    expect(await of('state=released')).to.equal(1);
    expect(await of('kind=image')).to.equal(0);
    expect(await of(`key=${account.keyId}&model=sandbox-lite`)).to.equal(3);
    expect(await of('from=2099-01-01')).to.equal(0);
    expect(await of('from=2026-02-31&to=x&kind=__proto__&state=constructor&key=')).to.equal(3);
  });

  it('sum up the charges of the wallet, in pages and in CSV', async () => {
    const wallet = await test.wallet(account);
    const page = await owner.get('/account/usage');
    expect(page.text).to.contain(`₽${(Number(wallet.charged) / 1e6).toFixed(2)}`);
    const csv = await owner.get('/account/usage.csv?by=model');
    const [head, row] = csv.text
      .trim()
      .split('\r\n')
      .map((line) => line.split(','));
    expect(head?.slice(0, 4)).to.deep.equal(['model', 'calls', 'charged_rub', 'refunded_rub']);
    expect(row?.slice(0, 2)).to.deep.equal(['sandbox-lite', '3']);
    expect(Number(row?.[2]) * 1e6).to.equal(Number(wallet.charged));
  });

  it('write CSV in the format of Russian spreadsheets', async () => {
    const csv = await owner.get('/account/usage.csv?by=model&lang=ru');
    expect(csv.headers['content-type']).to.equal('text/csv; charset=utf-8');
    expect(csv.headers['content-disposition']).to.match(/^attachment; filename="usage-acc_\w+\.csv"$/);
    expect(csv.text.charCodeAt(0)).to.equal(0xfeff);
    expect(csv.text)
      .to.match(/\r\nsandbox-lite;3;\d+,\d+;/)
      .and.to.match(/\r\nВсего;3;\d+,\d+;.*\r\n$/);
    const calls = (await owner.get('/account/calls.csv?lang=ru')).text.split('\r\n');
    expect(calls[0]).to.contain(';Входные токены;');
    expect(calls[1]).to.match(/^\d\d\.\d\d\.\d{4} \d\d:\d\d:\d\d;req_\w+;key_\w+;test key \(…\S{4}\);[а-я]+;/);
    await owner.get('/account?lang=en');
  });

  it('show the entries of the wallet, page by page', async () => {
    const first = await owner.get('/account/wallet');
    expect(first.text).to.contain('payment').and.to.contain('₽999.00');
    expect((await owner.get('/account/wallet?before=2')).text).not.to.contain('hold returned');
    for (const before of ['0', '-1', 'x', '9'.repeat(30)]) {
      expect((await owner.get(`/account/wallet?before=${before}`)).status).to.equal(200);
    }
  });

  it('estimate the cost of a call like the ledger', async () => {
    const page = await owner.get('/account/models?model=sandbox-lite&characters=4000000&answer=0&max=512');
    expect(page.status).to.equal(200);
    expect(page.text).to.contain('<dt>Held</dt>');
    for (const query of [
      'model=none',
      'model=smart',
      'model=__proto__',
      'characters=-1&max=1e9',
      'seconds=99999999999',
    ]) {
      expect((await owner.get(`/account/models?${query}`)).status, query).to.equal(200);
    }
    const readPrice = async (query: string) =>
      /<strong class="big">([^<]+)</.exec((await owner.get(`/account/models?${query}`)).text)?.[1];
    expect(await readPrice('model=sandbox-image&images=3')).to.equal('₽15.00');
    // A million tokens; the answer does not count.
    expect(await readPrice('model=sandbox-embedding&characters=4000000&answer=4000')).to.equal('₽40.00');
    expect((await owner.get('/account/models')).text).to.match(/sandbox-embedding[^₽]*₽40\.00</);
    const plain = await readPrice('model=sandbox-heavy&characters=4000&answer=0');
    const seen = await readPrice('model=sandbox-heavy&characters=4000&answer=0&images=2');
    // A thousand tokens of text, and two thousand of images.
    expect([plain, seen]).to.deep.equal(['₽1.50', '₽4.50']);
  });

  it('let an operator find any call, and verify the ledger', async () => {
    const operator = await setUpOperator(test);
    const found = await operator.get(`/admin/ledger?id=${foreignId}`);
    expect(found.text).to.contain(foreign.id);
    expect((await operator.get('/admin/ledger?id=req_none')).status).to.equal(404);
    const verified = await operator.submit('/admin/ledger', {});
    expect(verified.text).to.contain('Everything adds up');
    // Sums are also accepted in Russian notation.
    const path = `/admin/accounts/${foreign.id}`;
    const before = (await test.wallet(foreign)).avail;
    const done = { status: 303, location: `${path}?done=done` };
    const forms: readonly Record<string, string>[] = [
      { change: 'topup', amount: '1 000,50', payment: 'bank-1' },
      { change: 'adjust', amount: '−0,25', reason: 'a test' },
    ];
    for (const form of forms) {
      const { status, headers } = await operator.submit(path, form);
      expect({ status, location: headers.location }, form.change).to.deep.equal(done);
    }
    expect((await test.wallet(foreign)).avail - before).to.equal(1_000_250_000n);
  });
});
