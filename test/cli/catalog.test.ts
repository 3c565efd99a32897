// `tollgate catalog check`, in both modes, on valid and invalid catalogs.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { openStore } from '../../lib/store/open.ts';
import { createRig, expectRefusal, parseObject, type Rig, runCommand } from './command.ts';

/** A variable that no environment has. */
const UNSET = ['$', '{TOLLGATE_TEST_UNSET_API_KEY}'].join('');

const model = {
  id: 'text-1',
  type: 'text',
  provider: 'Someone',
  routes: [{ upstream: 'one', model: 'their-1' }],
  price: { input: '40', output: '240' },
};

function catalogOf(apiKey: string, price: object = model.price) {
  const settings = { baseUrl: 'http://127.0.0.1:9/v1', apiKey };
  return {
    upstreams: {
      one: { plugin: 'openai-compatible', settings },
      two: { plugin: 'openai-compatible', settings: { ...settings, apiKey: UNSET } },
    },
    models: [{ ...model, price }],
    smart: { lite: 'text-1', standard: 'text-1', heavy: 'text-1' },
  };
}

describe('cli catalog', () => {
  let rig: Rig;

  before(async () => {
    rig = await createRig();
  });

  after(() => rig.close());

  async function check(name: string, content: string, ...options: string[]) {
    const folder = join(rig.folder, name);
    await mkdir(folder);
    await writeFile(join(folder, 'catalog.json'), content);
    return runCommand(['catalog', 'check', ...options], { ...rig.env, CATALOG_DIR: folder });
  }

  it('counts the models and names what is switched off, without a store', async () => {
    const content = JSON.stringify(catalogOf('secret-of-the-upstream'));
    const { code, stdout, stderr } = await check('right', content, '--json');
    expect([code, stderr]).to.deep.equal([0, '']);
    const json = parseObject(stdout);
    const counts = ['models', 'usable', 'upstreams', 'switched_off', 'price_lists'];
    expect(Object.keys(json)).to.deep.equal(['ok', ...counts, 'warnings']);
    expect(json).to.deep.include({ ok: true, models: 1, usable: 2 });
    expect(json.switched_off).to.have.length(1);
    expect(String(json.switched_off)).to.match(/^two\b/);
    const text = await check('right-too', content);
    expect(text.stdout).to.match(/^models +1\nusable +2, /m);
    expect(text.stdout).to.match(/^switched off +two\b/m);
    expect(stdout + text.stdout).to.not.include('secret-of-the-upstream');
  });

  it('says of each price list how many prices differ', async () => {
    const priceLists = { partner: { factor: '0.9', loss: true }, same: { factor: '1', loss: true } };
    const content = JSON.stringify({ ...catalogOf('key'), priceLists });
    const { code, stdout } = await check('lists', content, '--json');
    expect(code, stdout).to.equal(0);
    expect(parseObject(stdout).price_lists).to.deep.equal([
      { name: 'partner', prices: 1 },
      { name: 'same', prices: 0 },
    ]);
    const text = await check('lists-too', content);
    expect(text.stdout).to.match(/^price lists +partner \(prices that differ: 1\), same \(prices that differ: 0\)$/m);
  });

  it('names the unset or blank secret of a payment provider', async () => {
    const secret = `$${'{YOOKASSA_SECRET}'}`;
    const shop = { plugin: 'yookassa', settings: { shopId: '1', secret } };
    const content = JSON.stringify({ ...catalogOf('key'), payments: { shop } });
    for (const [index, env] of [{}, { YOOKASSA_SECRET: ' ' }].entries()) {
      const folder = join(rig.folder, `lacks-${index}`);
      await mkdir(folder);
      await writeFile(join(folder, 'catalog.json'), content);
      const { code, stdout } = await runCommand(['catalog', 'check'], { ...rig.env, ...env, CATALOG_DIR: folder });
      expect([code, stdout.includes('warning: payments.shop is off: not set or empty: YOOKASSA_SECRET')]).to.deep.equal(
        [0, true],
      );
    }
  });

  it('reports mistakes in one line', async () => {
    const wrong: [content: string, line: RegExp][] = [
      ['{ "models": [', /catalog\.json/],
      [JSON.stringify(catalogOf('key', { input: '40', output: '-1' })), /price/],
      [JSON.stringify({ ...catalogOf('key'), models: [model, model] }), /text-1/],
    ];
    for (const [index, [content, line]] of wrong.entries()) {
      const result = await check(`wrong-${index}`, content);
      expectRefusal(result, 1);
      expect(result.stderr).to.match(line);
    }
    const missing = { ...rig.env, CATALOG_DIR: join(rig.folder, 'nowhere') };
    expectRefusal(await runCommand(['--json', 'catalog', 'check'], missing), 1);
  });

  it('fails below cost, and says which prices it would raise', async () => {
    const cost = { currency: 'RUB', input: '50', output: '240' };
    const { upstreams, models } = catalogOf('k');
    const routes = [{ upstream: 'one', model: 'their-1', cost }];
    const at = (more: object) => JSON.stringify({ upstreams, models: [{ ...models[0], routes, ...more }] });
    const refused = await check('below', at({}));
    expectRefusal(refused, 1);
    expect(refused.stderr).to.contain(
      'model text-1: price.input is 40.00 RUB, below the cost over one (their-1), 50.00',
    );
    const raised = await check('raised', at({ onLoss: 'raise' }));
    expect(raised.code).to.equal(0);
    expect(raised.stdout).to.match(
      /^warning: model text-1: the price was raised to the cost: .*price\.input is 40\.00/m,
    );
  });

  describe('import', () => {
    const list = (input: number) => ({
      openai: { id: 'openai', models: { 'their-1': { cost: { input, output: 0.5 } } } },
    });
    const files = {
      'rates.json': { rates: { USD: { rub: '80', from: '2026-01-01' } } },
      'models.json': {
        upstreams: { one: { plugin: 'openai-compatible', settings: { apiKey: 'k' } } },
        models: [{ ...model, routes: [{ upstream: 'one', model: 'their-1' }] }],
      },
    };

    async function run(name: string, input: unknown, ...options: string[]) {
      const folder = join(rig.folder, name);
      await mkdir(folder, { recursive: true });
      const path = join(rig.folder, `${name}-list`);
      for (const [file, content] of Object.entries(files)) await writeFile(join(folder, file), JSON.stringify(content));
      await writeFile(path, JSON.stringify(input));
      return runCommand(['catalog', 'import', 'models-dev', path, ...options], { ...rig.env, CATALOG_DIR: folder });
    }

    it('shows what is left out, and exits with 1 until it is accepted', async () => {
      const first = await run('import', list(0.1));
      expect(first.code).to.equal(1);
      expect(first.stdout).to.match(/^one +their-1 +input +- +0\.1 +left out: no cost so far$/m);
      expect(first.stdout).to.match(/^0 written to \S+costs\.json, 1 left out, 0 unchanged$/m);
      expect(first.stdout).to.contain('Write what was left out with --accept.');
      const second = await run('import', list(0.1), '--accept');
      expect([second.code, second.stderr]).to.deep.equal([0, '']);
      expect(second.stdout).to.match(/^one +their-1 +output +- +0\.5 +written$/m);
      const third = await run('import', list(0.11));
      expect(third.stdout).to.match(/^one +their-1 +input +0\.1 +0\.11 +written$/m);
      const fourth = await run('import', list(0.2));
      expect(fourth.stdout).to.match(/^one +their-1 +input +0\.11 +0\.2 +left out: rises by more than 20 %$/m);
    });

    it('prints one object', async () => {
      const { code, stdout } = await run('import-json', list(0.1), '--accept', '--json');
      const { into, ...json } = parseObject(stdout);
      expect(code).to.equal(0);
      expect(into).to.match(/costs\.json$/);
      const prices = { currency: null, input: null, output: null };
      const after = { currency: 'USD', input: '0.1', output: '0.5' };
      expect(json).to.deep.equal({
        ...{ ok: true, held_back: [], unchanged: 0, unlisted: [], elsewhere: [], refusal: null },
        written: [
          {
            ...{ upstream: 'one', model: 'their-1', needs: 'new' },
            prices: Object.fromEntries(
              Object.keys(prices).map((name) => [name, { before: null, after: after[name as keyof typeof after] }]),
            ),
          },
        ],
      });
    });

    it('exits with 1 if a start would refuse the catalog then', async () => {
      const { code, stdout } = await run('import-loss', list(1), '--accept');
      expect(code).to.equal(1);
      expect(stdout).to.match(/^A start would refuse the catalog now: .*price\.input is 40\.00 RUB, below the cost/m);
    });

    it('refuses rubbish in a line', async () => {
      const rubbish = await run('import-rubbish', [1]);
      expectRefusal(rubbish, 1);
      expect(rubbish.stderr).to.contain('list: has no vendors; it is not the list of');
      const unknown = await runCommand(['catalog', 'import', 'nothing', 'x'], rig.env);
      expectRefusal(unknown, 1);
      expect(unknown.stderr).to.contain('nothing: unknown format; known are');
    });
  });

  it('lists the rates that a store has seen', async () => {
    const store = await openStore(rig.env.DATABASE_URL ?? '', { inProcess: true });
    try {
      expect((await runCommand(['catalog', 'rates'], rig.env)).stdout).to.match(/^no rates yet$/m);
      await store.rates.record([{ currency: 'USD', rub: 81_400_000n, from: '2026-11-26', at: 1_790_000_000_000 }]);
    } finally {
      await store.close();
    }
    const { rates } = parseObject((await runCommand(['catalog', 'rates', '--json'], rig.env)).stdout);
    const used = '2026-09-21T14:13:20.000Z';
    expect(rates).to.deep.equal([{ currency: 'USD', rub: '81.40', from: '2026-11-26', used_since: used }]);
    const text = await runCommand(['catalog', 'rates'], rig.env);
    expect(text.stdout).to.match(/^USD +81\.40 +2026-11-26 +2026-09-21T14:13:20\.000Z$/m);
  });
});
