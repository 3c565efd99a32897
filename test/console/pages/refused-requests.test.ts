// Refused requests, from a request with a key to the page of its owner, a member and an operator.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { startGateway, type TestGateway } from '../../../testkit/gateway.ts';
import { setUpMember, setUpOperator, setUpOwner, type Visitor } from '../../../testkit/pages.ts';
import { newManagementKey } from '../../contract/store/management.ts';

describe('the page of refused requests', () => {
  let test: TestGateway;
  let owner: Visitor;
  let account: Awaited<ReturnType<TestGateway['account']>>;
  const read = async (visitor: Visitor, path: string) => (await visitor.get(path)).text.replace(/\s+/g, ' ');

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
    account = await test.account('0');
    owner = await setUpOwner(test, account.id);
  });
  after(() => test.stop());

  it('says that there are none', async () => {
    expect(await read(owner, '/account/calls/refused?lang=en')).to.contain(
      'No request was refused in the last 7 days.',
    );
  });

  it('says that it shows the latest two hundred rows, if there are more', async () => {
    const { id } = await test.account('0');
    const visitor = await setUpOwner(test, id);
    const hour = Date.now();
    const refusal = { account: id, key: 'key', hour, count: 1, status: 400, message: 'No.' };
    const rows = Array.from({ length: 201 }, (_, at) => ({ ...refusal, code: `code_${at}`, lastAt: hour - at }));
    await test.store.refusals.add(rows.slice(0, 200));
    const readPage = () => read(visitor, '/account/calls/refused?lang=en');
    expect(await readPage())
      .to.contain('code_199<')
      .and.not.to.contain('Only the latest');
    await test.store.refusals.add(rows.slice(200));
    expect(await readPage())
      .to.contain('Only the latest 200 rows')
      .and.not.to.contain('code_200<');
  });

  it('names the management keys of an account', async () => {
    const { id } = await test.account('0');
    const visitor = await setUpOwner(test, id);
    const key = newManagementKey({ account: id, name: 'Nightly sums', last4: 'zzz9' });
    await test.store.management.addKey(key);
    const hour = Date.now();
    const refusal = { account: id, key: key.id, hour, code: 'no', count: 1, lastAt: hour, status: 403, message: 'No.' };
    await test.store.refusals.add([refusal]);
    const text = await read(visitor, '/account/calls/refused?lang=en');
    expect(text).to.contain('Nightly sums').and.not.to.contain(key.id);
  });

  it('lists what a key was refused, with the message of the API and how often', async () => {
    const call = (body: object) =>
      fetch(`${test.url}/api/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const unknown = { model: 'sandbox-<b>', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 };
    for (const status of [400, 400]) expect((await call(unknown)).status).to.equal(status);
    expect((await call({ ...unknown, model: 'sandbox-lite' })).status).to.equal(402);
    expect((await fetch(`${test.url}/api/v1/models`, { headers: { 'x-api-key': account.key } })).status).to.equal(200);
    let page = '';
    while (!page.includes('402 <code>')) {
      await sleep(200);
      page = await read(owner, '/account/calls/refused?lang=en');
    }
    expect(page).to.match(/400 <code>unknown_model<\/code><br>Unknown model `sandbox-&lt;b&gt;`[^<]*<\/td><td[^>]*>2</);
    expect(page).to.match(/402 <code>never_topped_up<\/code>/);
    expect(await read(owner, '/account/calls?lang=en')).to.contain(
      '<a href="/account/calls/refused">Refused requests</a>',
    );
    const member = await setUpMember(test, { account: account.id, role: 'member' });
    expect(await read(member, '/account/calls/refused?lang=en')).to.contain('No request was refused');
    const operator = await setUpOperator(test);
    const path = `/admin/accounts/${account.id}`;
    expect(await read(operator, `${path}?lang=en`)).to.contain(`<a href="${path}/refused">Refused requests</a>`);
    expect(await read(operator, `${path}/refused?lang=en`)).to.contain('<code>unknown_model</code>');
    expect((await operator.get('/admin/accounts/acc_none/refused')).status).to.equal(404);
  });
});
