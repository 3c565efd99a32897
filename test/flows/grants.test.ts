// A grant in a whole gateway: it waits for the first top-up or opens the wallet, pays for calls, and ends by itself.
import { expect } from 'chai';
import { CHAT, send, until } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { setUpOwner } from '../../testkit/pages.ts';
import { startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { applied, grant, RUB, topup } from '../contract/store/context.ts';

describe('grants', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;

  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({ catalog: chatCatalog(upstream.url) });
  });
  after(async () => {
    await gateway.checkMoney();
    await gateway.stop();
    await upstream.close();
  });

  const balance = async ({ key }: TestAccount) => (await send(`${gateway.url}/api/v1/balance`, { key })).json;
  const call = ({ key }: TestAccount) => {
    const body = { model: 'model-a', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 10 };
    return send(`${gateway.url}${CHAT}`, { key, body });
  };

  it('are shown by the balance as what they are, and pay for calls once the wallet is open', async () => {
    const account = await gateway.account('0');
    expect(await balance(account)).not.to.have.any.keys('granted_rub', 'spendable_rub');
    await applied(gateway.store, grant(account.id, 300n * RUB));
    expect(await balance(account)).to.include({ balance_rub: 300, granted_rub: 300, spendable_rub: 0 });
    const refused = await call(account);
    expect([refused.status, JSON.stringify(refused.json).includes('never been topped up')]).to.deep.equal([402, true]);
    await applied(gateway.store, topup(account.id, 1000n * RUB));
    expect((await call(account)).status).to.equal(200);
    const { charged, granted, topped } = await gateway.wallet(account);
    expect([charged > 0n, granted, topped]).to.deep.equal([true, 300n * RUB, 1000n * RUB]);
    const left = 300 - Number(charged) / 1e6;
    expect(await balance(account)).to.include({
      balance_rub: 1000 + left,
      granted_rub: left,
      spendable_rub: 1000 + left,
    });
    const owner = await setUpOwner(gateway, account.id);
    const [last] = await gateway.store.ledger.charges(account.id, { limit: 1 });
    expect((await owner.get(`/account/calls/${last?.id}`)).text).to.match(/bonuses|бонусами/);
  });

  it('open a wallet, and leave it when their time is over', async () => {
    const account = await gateway.account('0');
    const end = Date.now() + 1500;
    await applied(gateway.store, grant(account.id, 5n * RUB, { opens: true, until: end }));
    expect((await call(account)).status).to.equal(200);
    const { charged } = await gateway.wallet(account);
    // Another gateway that starts on the store looks at once.
    await until(async () => Date.now() > end);
    const other = await startGateway({ catalog: chatCatalog(upstream.url), database: gateway.databaseUrl });
    await until(async () => (await gateway.wallet(account)).granted === charged);
    await other.stop();
    expect(await gateway.wallet(account)).to.include({ avail: 0n, charged });
    expect((await call(account)).json).to.have.nested.property('error.code', 'insufficient_balance');
  });
});
