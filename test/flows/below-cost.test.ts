// Prices below cost in a whole service: a first start is refused; a rate that moves leaves the old price, also over a
// restart, and operators get an email.
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { ask, CHAT, send, until } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { startMailServer } from '../../testkit/smtp.ts';
import { chatAnswer, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { rejection } from '../contract/store/context.ts';
import { makeUser } from '../contract/store/people.ts';

describe('a price below cost', function () {
  this.timeout(60_000);
  let upstream: TestUpstream;
  let gateway: TestGateway | undefined;

  beforeEach(async () => {
    upstream = await startUpstream(chatAnswer('hello', { input: 10_000, output: 400 }));
  });
  afterEach(async () => {
    await gateway?.stop();
    gateway = undefined;
    await upstream.close();
  });

  const catalogAt = (rub: string, more: object = {}) => ({
    rates: { USD: { rub, from: '2026-01-01' } },
    upstreams: { up: { plugin: 'openai-compatible', settings: { baseUrl: `${upstream.url}/v1`, apiKey: 'k' } } },
    models: [
      {
        ...{ id: 'model-a', type: 'text', provider: 'Test', price: { input: '100', output: '500' } },
        routes: [{ upstream: 'up', model: 'm', cost: { currency: 'USD', input: '1', output: '5' } }],
        ...more,
      },
    ],
  });

  it('refuses a first start, and names what to write', async () => {
    const refused = await rejection(startGateway({ catalog: catalogAt('101') }));
    expect(refused).to.be.instanceOf(OperatorError);
    expect((refused as Error).message).to.match(
      /models\.json: model model-a: price\.input is 100\.00 RUB, below the cost over up \(m\), 101\.00 RUB .*"loss": true$/,
    );
  });

  it('stays when a rate moves, over a restart too, until the catalog is edited', async () => {
    const mail = await startMailServer();
    const options = { env: { SMTP_URL: mail.url }, timings: { alertsEveryMs: 50 } };
    gateway = await startGateway({ catalog: catalogAt('100'), ...options });
    const operator = makeUser({ operator: true, language: 'en' });
    await gateway.store.users.add(operator);
    const { key } = await gateway.account();
    const charge = async () => {
      const reply = await send(`${gateway?.url}${CHAT}`, { key, body: ask('hi') });
      expect(reply.status, reply.text).to.equal(200);
      return reply.json.billing.charged_rub;
    };
    const dearer = catalogAt('150');
    try {
      gateway.writeCatalog(dearer);
      expect(await gateway.gateway.reload()).to.equal(true);
      expect(await charge()).to.equal(1.2);
      await until(() => mail.letters.length > 0);
      expect((await mail.letterTo(operator.email)).text).to.contain('model-a: input 100.00 < 150.00 RUB (up: m)');

      const { folder } = gateway;
      await gateway.gateway.stop();
      gateway = await startGateway({ catalog: dearer, folder, ...options });
      expect(await charge()).to.equal(1.2);

      gateway.writeCatalog(catalogAt('150', { onLoss: 'raise' }));
      expect(await gateway.gateway.reload()).to.equal(true);
      expect(await charge()).to.equal(1.8);
      await gateway.checkMoney();
      expect(mail.letters).to.have.length(1);
    } finally {
      await mail.stop();
    }
  });
});
