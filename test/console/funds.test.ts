// Money that cannot be spent yet is never shown as available, and prices are shown with the minimum of a call.
import { expect } from 'chai';
import { send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { setUpOperator, setUpOwner, type Visitor } from '../../testkit/pages.ts';

describe('the spendable money of a wallet', () => {
  let test: TestGateway;
  let operator: Visitor;

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on' } });
    operator = await setUpOperator(test);
  });
  after(() => test.stop());

  async function given(): Promise<{ account: TestAccount; owner: Visitor }> {
    const account = await test.account('0');
    const wish = { change: 'adjust', amount: '250', reason: 'a bonus' };
    expect((await operator.submit(`/admin/accounts/${account.id}`, wish)).status).to.equal(303);
    return { account, owner: await setUpOwner(test, account.id) };
  }

  const factsIn = (text: string): Readonly<Record<string, string>> =>
    Object.fromEntries(
      [...text.matchAll(/<dt>([^<]+)<\/dt><dd>(.*?)<\/dd>/gs)].map(([, name = '', value = '']) => [
        name,
        value.replaceAll(/<[^>]+>/g, '').replaceAll('\u00a0', ' '),
      ]),
    );

  it('excludes a bonus before the first payment, on every page, in both languages', async () => {
    const { account, owner } = await given();
    const pages: readonly (readonly [Visitor, string])[] = [
      [owner, '/account'],
      [owner, '/account/wallet'],
      [owner, '/account/playground'],
      [operator, `/admin/accounts/${account.id}`],
    ];
    for (const [visitor, path] of pages) {
      expect(factsIn((await visitor.get(`${path}?lang=ru`)).text), path).to.include({
        Доступно: '0,00 ₽',
        Бонус: '250,00 ₽ станет доступно после первого платежа от 1 000,00 ₽',
      });
      expect(factsIn((await visitor.get(`${path}?lang=en`)).text), path).to.include({
        Available: '₽0.00',
        Bonus: '₽250.00 can be spent after the first payment of at least ₽1,000.00',
      });
    }
    expect((await owner.get('/account/playground')).text).to.contain(
      'The bonus becomes available after the first payment',
    );
    const balance = await send(`${test.url}/api/v1/balance`, { key: account.key });
    expect(balance.json.balance_rub, 'as the API says it').to.equal(250);
  });

  it('includes it after the first payment', async () => {
    const { account, owner } = await given();
    await operator.submit(`/admin/accounts/${account.id}`, { change: 'topup', amount: '1000', payment: 'first' });
    for (const path of ['/account', '/account/wallet', '/account/playground']) {
      const facts = factsIn((await owner.get(path)).text);
      expect(facts, path).to.include({ Available: '₽1,250.00' });
      expect(facts).not.to.have.property('Bonus');
    }
  });

  it('is shown with the minimum of a text call, wherever prices are', async () => {
    const { owner } = await given();
    const models = async (query: string) =>
      (await owner.get(`/account/models?${query}`)).text.replaceAll('\u00a0', ' ');
    const [en, ru] = [await models('lang=en'), await models('lang=ru')];
    expect(en).to.contain('A call to a text or embedding model costs at least ₽0.50');
    expect(ru).to.contain('стоит не меньше 0,50 ₽');
    expect(en.indexOf('at least'), 'above the table').to.be.below(en.indexOf('<table'));
    expect(ru.indexOf('не меньше')).to.be.below(ru.indexOf('<table'));
    const small = 'model=sandbox-lite&characters=10&answer=10&max=1';
    expect(factsIn(await models(`${small}&lang=ru`))).to.include({ 'Примерная стоимость': '0,50 ₽ минимум за запрос' });
    expect(factsIn(await models(`${small}&lang=en`))).to.include({ 'Estimated cost': '₽0.50 minimum per call' });
    const large = await models('model=sandbox-heavy&characters=4000000&answer=4000');
    expect(factsIn(large)['Estimated cost']).not.to.contain('minimum');
    expect(factsIn(await models('model=sandbox-image'))['Estimated cost']).not.to.contain('minimum');
    const issued = await owner.submit('/account/keys', { name: 'first' });
    expect(issued.text).to.contain('A text call costs at least ₽0.50');
    expect(factsIn((await owner.get('/account/playground?kind=text')).text)).to.include({
      'Minimum per call': '₽0.50',
    });
    expect(factsIn((await owner.get('/account/playground?kind=image')).text)).not.to.have.property('Minimum per call');
  });
});
