// `tollgate catalog check`, in both modes, on valid and invalid catalogs.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
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
    expect(Object.keys(json)).to.deep.equal(['ok', 'models', 'usable', 'upstreams', 'switched_off', 'warnings']);
    expect(json).to.deep.include({ ok: true, models: 1, usable: 2 });
    expect(json.switched_off).to.have.length(1);
    expect(String(json.switched_off)).to.match(/^two\b/);
    const text = await check('right-too', content);
    expect(text.stdout).to.match(/^models +1\nusable +2, /m);
    expect(text.stdout).to.match(/^switched off +two\b/m);
    expect(stdout + text.stdout).to.not.include('secret-of-the-upstream');
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
});
