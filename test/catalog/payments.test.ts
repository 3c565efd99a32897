import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { readShortfallRule } from '../../lib/catalog/payments.ts';
import { catalogOf, TEXT, variable } from './folder.ts';
import { CatalogStage, type LoadOptions } from './stage.ts';

const PLUGIN = `
export default {
  contract: 1,
  name: 'till',
  settings: (joi) => joi.object({
    shop: joi.string().default('shop'),
    live: joi.boolean().default(true),
    secret: joi.string().allow('').meta({ secret: true }),
  }),
  create: ({ shop, live }, host) => ({ shop, live, methods: ['card'], redirectHosts: [], name: host.upstream }),
};
`;

describe('payment providers of a catalog', () => {
  const stage = new CatalogStage();
  const { up } = stage;
  beforeEach(() => {
    stage.open();
    mkdirSync(join(tills(), 'till'), { recursive: true });
    writeFileSync(join(tills(), 'till', 'index.js'), PLUGIN);
    writeFileSync(join(tills(), 'package.json'), '{ "type": "module" }');
  });
  afterEach(() => stage.close());

  const tills = () => join(stage.folder.root, 'tills');
  const till = (settings: object, more: object = {}) => ({ plugin: 'till', settings, ...more });
  const REAL = till({ secret: 'a-long-secret' });
  const TRIAL = till({ live: false });

  /** Its upstream costs real money unless `one` says otherwise. */
  function write(payments: object, one: object = {}): void {
    stage.folder.write(catalogOf({ upstreams: { one: { ...up('key-of-one'), ...one } }, models: [TEXT], payments }));
  }

  async function load(payments: object, options: LoadOptions = {}, one = {}): Promise<readonly string[]> {
    write(payments, one);
    await stage.load({ paymentsPath: [tills()], ...options });
    return [...stage.live.payments().keys()];
  }

  async function mistake(payments: object, options: LoadOptions = {}): Promise<string> {
    const error: unknown = await load(payments, options).catch((thrown: unknown) => thrown);
    expect(error, String(error)).to.be.instanceOf(OperatorError);
    return (error as Error).message;
  }

  it('are created from the plugins of PAYMENTS_PATH, with their secrets kept out of the log', async () => {
    expect(await load({ main: REAL })).to.deep.equal(['main']);
    const payment = stage.live.payments().get('main');
    expect([payment?.provider.shop, payment?.shortfall]).to.deep.equal(['shop', 'suspend']);
    expect(stage.secrets).to.include('a-long-secret');
  });

  it('are switched off by an unset variable', async () => {
    const payments = { main: till({ secret: variable('TILL_SECRET') }), other: REAL };
    const unset: readonly Record<string, string>[] = [{}, { TILL_SECRET: '' }, { TILL_SECRET: ' \t' }];
    for (const env of unset) {
      expect(await load(payments, { env })).to.deep.equal(['other']);
      expect(stage.live.current().warnings).to.include('payments.main is off: not set or empty: TILL_SECRET');
      expect([...(stage.live.current().paymentsOff ?? [])]).to.deep.equal([['main', ['TILL_SECRET']]]);
      await stage.live.close();
    }
  });

  it('change with an edit, and stay as they are after a bad one', async () => {
    await load({ main: REAL });
    const before = stage.live.payments().get('main')?.provider;
    write({ main: REAL, second: till({ secret: 'another-secret', shop: 'second' }, { shortfall: 'keep' }) });
    expect(await stage.live.reload()).to.equal(true);
    expect(stage.live.payments().get('main')?.provider).to.equal(before);
    expect(stage.live.payments().get('second')?.shortfall).to.equal('keep');
    write({ main: REAL, second: TRIAL });
    expect(await stage.live.reload()).to.equal(false);
    expect([...stage.live.payments().keys()]).to.deep.equal(['main', 'second']);
    write({});
    expect(await stage.live.reload()).to.equal(true);
    expect(stage.live.payments().size).to.equal(0);
  });

  for (const [name, settings] of Object.entries({
    'an empty secret': { secret: '' },
    'a blank secret': { secret: '  ' },
    'no secret': {},
  })) {
    it(`are refused with real money and ${name}`, async () => {
      expect(await mistake({ main: till(settings) })).to.match(
        /models\.json: payments\.main: it takes real money, but has an empty secret or none$/,
      );
    });
  }

  it('are refused if play money and real money are mixed, in either order', async () => {
    const words = /models\.json: payments\.trial: its money is not real, and main takes real money/;
    expect(await mistake({ main: REAL, trial: TRIAL })).to.match(words);
    expect(await mistake({ trial: TRIAL, main: REAL })).to.match(words);
    expect(await load({ trial: TRIAL }, {}, { sandbox: true })).to.deep.equal(['trial']);
  });

  it('are refused if play money would pay for real models, at a start and by an edit', async () => {
    const words =
      /models\.json: payments\.trial: its money is not real, and the upstream one costs real money: .*SANDBOX=on/;
    expect(await mistake({ trial: TRIAL })).to.match(words);
    expect(await mistake({ trial: TRIAL }, { sandbox: true })).to.match(words);
    await load({ trial: TRIAL }, { sandbox: true }, { sandbox: true });
    write({ trial: TRIAL });
    expect(await stage.live.reload()).to.equal(false);
    expect([...stage.live.payments().keys()]).to.deep.equal(['trial']);
    expect(stage.lines.at(-1)).to.match(/old one stays in force: .*payments\.trial: its money is not real/);
  });

  it('are switched off with a warning if they are sandbox-only beside a real upstream', async () => {
    const trial = { ...TRIAL, sandbox: true };
    expect(await load({ trial }, { sandbox: true })).to.deep.equal([]);
    expect(stage.live.current().warnings).to.include(
      'payments.trial is off: its money is not real, and the upstream one costs real money',
    );
    expect(await load({ trial }, { sandbox: true }, { sandbox: true })).to.deep.equal(['trial']);
  });

  it('accept no real money in the sandbox', async () => {
    const words = /payments\.main: it takes real money, which the sandbox must not/;
    expect(await mistake({ main: REAL }, { sandbox: true })).to.match(words);
    expect(await load({ trial: { ...TRIAL, sandbox: true } }, { sandbox: false })).to.deep.equal([]);
  });

  it('are refused with a name that cannot be part of a path, and with an unknown plugin', async () => {
    expect(await mistake({ 'Main/1': REAL })).to.match(/payments\.Main\/1/);
    expect(await mistake({ main: { plugin: 'purse' } })).to.match(
      /payment provider main: unknown plugin purse, neither shipped nor in PAYMENTS_PATH$/,
    );
  });

  it('may not use the variables of the service', async () => {
    const payments = { main: till({ secret: variable('DATABASE_URL') }) };
    expect(await mistake(payments)).to.match(/payments\.main\.settings\.secret: DATABASE_URL belongs to the service/);
  });

  it('have a shortfall rule, whether or not they are switched on', () => {
    const off = till({ secret: variable('TILL_SECRET') }, { shortfall: 'keep' });
    write({ main: REAL, off });
    const rules = ['main', 'off', 'gone'].map((name) => readShortfallRule(stage.configOf({}), name));
    expect(rules).to.deep.equal(['suspend', 'keep', 'suspend']);
  });
});
