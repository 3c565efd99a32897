// The error examples in the API document equal the replies of a running gateway.
import { expect } from 'chai';
import { ask, CHAT, MESSAGES, send } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';

describe('examples of errors in the API document', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({ catalog: chatCatalog('http://127.0.0.1:9') });
  });
  after(() => gateway.stop());

  for (const [path, response] of [
    [MESSAGES, 'Error402'],
    [CHAT, 'ChatError402'],
  ] as const) {
    it(`name the page where money is added, like ${path}`, async () => {
      const page = `${gateway.url}/account/wallet`;
      const { key } = await gateway.account('0');
      const { status, text } = await send(gateway.url + path, { key, body: ask('hi') });
      expect([status, text.includes(page)], text).to.deep.equal([402, true]);
      const document = JSON.parse((await send(`${gateway.url}/openapi.json`)).text);
      const { examples } = document.components.responses[response].content['application/json'];
      expect(Object.keys(examples)).to.have.members(['never_topped_up', 'insufficient_balance']);
      for (const example of Object.values(examples)) expect(JSON.stringify(example)).to.contain(page);
      expect(examples.never_topped_up.value).to.have.all.keys(Object.keys(JSON.parse(text)));
    });
  }
});
