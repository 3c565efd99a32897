// What the bare address of the service answers.
import { expect } from 'chai';
import { send } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { setUpOperator, setUpOwner } from '../../testkit/pages.ts';

describe('the bare address', () => {
  let test: TestGateway;

  before(async () => {
    test = await startGateway({ catalog: { upstreams: {}, models: [] } });
  });
  after(() => test.stop());

  it('leads a browser to the pages, where it signs in', async () => {
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
    const { status, headers } = await send(`${test.url}/`, { headers: { accept } });
    expect([status, headers.location]).to.deep.equal([302, '/account']);
    const pages = await send(`${test.url}/account`, { headers: { accept } });
    expect(pages.headers.location).to.equal('/login?next=%2Faccount');
    const owner = await setUpOwner(test, (await test.account()).id);
    expect((await owner.get('/account')).status).to.equal(200);
    const operator = await setUpOperator(test);
    expect((await operator.get('/account')).headers.location).to.equal('/admin');
  });

  it('tells a program that it is nothing of the API', async () => {
    for (const accept of ['*/*', 'application/json']) {
      const { status, json } = await send(`${test.url}/`, { headers: { accept } });
      expect([status, json.error.code]).to.deep.equal([404, 'not_found']);
    }
  });
});
