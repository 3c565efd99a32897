// Health, the start, a reload, metrics and the list of models count the same models, and an edit says what it switches off.
import { expect } from 'chai';
import { send, until } from '../../testkit/client.ts';
import { scrape } from '../../testkit/exposition.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { readLogLines } from '../../testkit/log-lines.ts';
import { smartCatalog } from '../../testkit/smart.ts';

/** Nobody is asked. */
const NOWHERE = 'http://127.0.0.1:9';

describe('counts of models', () => {
  let test: TestGateway;

  before(async () => {
    test = await startGateway({ catalog: smartCatalog(NOWHERE, { off: ['heavy'] }), env: { METRICS_PORT: '0' } });
  });
  after(() => test.stop());

  const lines = () => readLogLines(test);
  async function reload(catalog: object) {
    const reloads = () => lines().filter(({ msg }) => msg === 'the catalog was reloaded');
    const before = reloads().length;
    test.writeCatalog(catalog);
    await until(() => reloads().length > before);
    return reloads().at(-1);
  }

  it('match the list, with smart and without models that have no route', async () => {
    const { key } = await test.account();
    const { json: list } = await send(`${test.url}/api/v1/models`, { key });
    expect(list.data.map(({ id }: { id: string }) => id)).to.deep.equal(['small', 'middle', 'smart']);
    expect((await send(`${test.url}/readyz`)).json).to.deep.equal({ status: 'ok', store: true, models: 3 });
    const { models, metricsUrl = '' } = test.gateway.facts;
    expect(models).to.have.length(3);
    expect((await scrape(metricsUrl)).sum('tollgate_models')).to.equal(3);
    expect(await reload({ ...smartCatalog(NOWHERE, { off: ['standard', 'heavy'] }) })).to.include({ models: 2 });
    expect((await send(`${test.url}/readyz`)).json.models).to.equal(2);
  });

  it('are zero, and the service is not ready, when no upstream is left; an edit that switches one off is a warning', async () => {
    const { json } = await send(`${test.url}/readyz`);
    expect(json.status).to.equal('ok');
    const before = lines().length;
    const catalog = smartCatalog(NOWHERE) as { upstreams: { down: object } };
    expect(await reload({ ...catalog, upstreams: { up: catalog.upstreams.down } })).to.include({ models: 0 });
    const warnings = lines()
      .slice(before)
      .filter(({ upstream }) => upstream !== undefined);
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.deep.include({
      level: 'warn',
      upstream: 'up',
      variables: ['TOLLGATE_TEST_UNSET_API_KEY'],
    });
    const { status, json: ready } = await send(`${test.url}/readyz`);
    expect([status, ready]).to.deep.equal([503, { status: 'unavailable', store: true, models: 0 }]);
  });
});
