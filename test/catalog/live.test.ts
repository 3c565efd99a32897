import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { checkCatalog } from '../../lib/catalog/check.ts';
import { listModels } from '../../lib/catalog/listing.ts';
import type { TextModel } from '../../lib/catalog/model.ts';
import { readCatalogFacts } from '../../lib/catalog/read.ts';
import { readConfig } from '../../lib/config.ts';
import { until } from '../../testkit/client.ts';
import { catalogOf, TEXT, variable } from './folder.ts';
import { CatalogStage, made } from './stage.ts';

describe('live catalog', () => {
  const stage = new CatalogStage();
  const { up, content } = stage;
  beforeEach(() => stage.open());
  afterEach(() => stage.close());

  async function mistake(): Promise<string> {
    const error: unknown = await stage.load().catch((thrown: unknown) => thrown);
    expect(error, String(error)).to.be.instanceOf(OperatorError);
    return (error as Error).message;
  }

  it('creates providers from the plugins of PROVIDERS_PATH', async () => {
    stage.folder.write(content({ one: up('key-of-one') }));
    await stage.load();
    expect(made()).to.have.length(1);
    expect(stage.providerNow()).to.equal(made()[0]);
    expect(stage.secrets).to.deep.equal(['key-of-one']);
  });

  it('switches off an upstream that lacks a variable', async () => {
    stage.folder.write(content({ one: up(variable('ONE_KEY')), two: up(variable('TWO_KEY')) }));
    await stage.load({ env: { ONE_KEY: '', TWO_KEY: 'key-of-two' } });
    expect(made()).to.have.length(1);
    expect(stage.secrets).to.deep.equal(['key-of-two']);
    expect(listModels(stage.live.current())).to.deep.equal([]);
  });

  describe('refuses', () => {
    it('an unknown plugin, also of an upstream that is switched off', async () => {
      stage.folder.write(content({ one: { plugin: 'nothing', settings: { apiKey: variable('UNSET') } } }));
      expect(await mistake()).to.match(
        /\/models\.json: upstream one: unknown plugin nothing, neither shipped nor in PROVIDERS_PATH$/,
      );
    });

    it('settings that the plugin does not accept, without quoting secrets', async () => {
      stage.folder.write(content({ one: up('key-of-one', { refuse: 'key-of-one' }) }));
      const message = await mistake();
      expect(message).to.match(/\/models\.json: Upstream `one`: bad settings: `refuse` /);
      expect(message).not.to.contain('key-of-one');
    });

    it('a failing plugin, and closes the providers created before', async () => {
      stage.folder.write(content({ one: up('key-of-one'), two: up('key-of-two', { refuse: true }) }));
      expect(await mistake())
        .to.contain('Upstream `two`')
        .and.to.contain('refused');
      expect(made().map(({ closed }) => closed)).to.deep.equal([1]);
    });

    it('an inconsistent catalog, and closes the providers', async () => {
      stage.folder.write(catalogOf({ upstreams: { one: up('key-of-one') }, models: [TEXT, TEXT] }));
      expect(await mistake()).to.contain('used twice');
      expect(made().map(({ closed }) => closed)).to.deep.equal([1]);
    });
  });

  describe('sandbox', () => {
    const own = () => ({ one: up('key-of-one'), fake: { ...up('key-of-fake'), sandbox: true } });

    it('is switched on in sandbox mode only', async () => {
      stage.folder.write(content(own()));
      await stage.load();
      expect(stage.secrets).to.deep.equal(['key-of-one']);
      await stage.live.close();
      stage.secrets.length = 0;
      await stage.load({ sandbox: true });
      expect(stage.secrets).to.deep.equal(['key-of-one', 'key-of-fake']);
      expect(listModels(stage.live.current()).map(({ id }) => id)).to.deep.equal(['text-1']);
    });

    it('is the shipped one if the operator has none', async () => {
      stage.folder.write(content({ one: up(variable('UNSET')) }));
      await stage.load({ sandbox: true });
      const ids = listModels(stage.live.current()).map(({ id }) => id);
      expect(ids).to.include('sandbox-lite').and.not.to.include('text-1');
    });

    it('is off outside of sandbox mode', async () => {
      stage.folder.write(content({ one: up('key-of-one') }));
      await stage.load();
      expect(stage.live.current().models.map(({ id }) => id)).to.deep.equal(['text-1']);
    });
  });

  describe('after a reload', () => {
    it('is replaced as a whole, while running calls keep the old one', async () => {
      stage.folder.write(content({ one: up('key-of-one') }));
      await stage.load();
      const before = stage.live.current();
      stage.folder.write(content({ one: up('key-of-one') }, '300'));
      expect(await stage.live.reload()).to.equal(true);
      expect(stage.model().price.output).to.equal(300_000_000n);
      expect((before.models[0] as TextModel).price.output).to.equal(240_000_000n);
      expect(stage.lines).to.include('the catalog was reloaded');
    });

    it('keeps the provider of an unchanged upstream', async () => {
      stage.folder.write(content({ one: up('key-of-one'), two: up('key-of-two') }));
      await stage.load();
      const before = stage.providerNow();
      stage.folder.write(content({ two: up('key-of-2'), one: up('key-of-one') }, '300'));
      await stage.live.reload();
      expect(stage.providerNow()).to.equal(before);
      expect(made()).to.have.length(3);
      expect(stage.secrets).to.include('key-of-2');
      await sleep(20);
      expect(made().map(({ closed }) => closed)).to.deep.equal([0, 0, 0]);
    });

    it('creates a new provider for another plugin with the same settings', async () => {
      mkdirSync(join(stage.plugins, 'other-plugin'));
      const source = readFileSync(join(stage.plugins, 'test-plugin', 'index.js'), 'utf8');
      writeFileSync(join(stage.plugins, 'other-plugin', 'index.js'), source.replace('test-plugin', 'other-plugin'));
      stage.folder.write(content({ one: up('key-of-one') }));
      await stage.load();
      const before = stage.providerNow();
      stage.folder.write(content({ one: { ...up('key-of-one'), plugin: 'other-plugin' } }));
      expect(await stage.live.reload()).to.equal(true);
      expect(stage.providerNow()).to.not.equal(before);
      expect(made()).to.have.length(2);
    });

    it('closes the provider of a changed upstream once no call can use it', async () => {
      stage.folder.write(content({ one: up('key-of-one') }));
      await stage.load({ totalTimeoutMs: 100 });
      const before = stage.providerNow();
      stage.folder.write(content({ one: up('key-of-1') }));
      await stage.live.reload();
      expect(stage.providerNow()).not.to.equal(before);
      await sleep(700);
      expect(before.closed).to.equal(0);
      await until(() => before.closed === 1);
      expect(stage.lines).to.include('a retired upstream did not close');
    });

    it('closes all providers in the end, including replaced ones', async () => {
      stage.folder.write(content({ one: up('key-of-one') }));
      await stage.load({ totalTimeoutMs: 2_147_483_647 });
      for (const key of ['key-of-1', 'key-of-2']) {
        stage.folder.write(content({ one: up(key) }));
        await stage.live.reload();
      }
      await sleep(30);
      expect(made().map(({ closed }) => closed)).to.deep.equal([0, 0, 0]);
      await stage.live.close();
      expect(made().map(({ closed }) => closed)).to.deep.equal([1, 1, 1]);
    });

    const edits: Readonly<Record<string, () => unknown>> = {
      'no JSON': () => '{',
      'no price': () => catalogOf({ models: [{ ...TEXT, price: undefined }] }),
      'an unknown upstream': () => content({ two: up('key-of-two') }),
      'an unknown plugin': () => content({ one: { plugin: 'nothing' } }),
      'settings that are wrong': () => content({ fresh: up('key-of-fresh'), one: up(7) }),
      'a plugin that fails': () => content({ fresh: up('key-of-fresh'), one: up('key-of-one', { refuse: true }) }),
    };
    for (const [name, edit] of Object.entries(edits)) {
      it(`stays as it was after ${name}`, async () => {
        stage.folder.write(content({ one: up('key-of-one') }));
        await stage.load();
        const before = stage.live.current();
        stage.folder.write(edit());
        expect(await stage.live.reload()).to.equal(false);
        expect(stage.live.current()).to.equal(before);
        expect(stage.lines.join()).to.contain('the catalog was not reloaded; the old one stays in force: ');
        expect(stage.providerNow().closed).to.equal(0);
        for (const fresh of made().slice(1)) expect(fresh.closed).to.equal(1);
        // And the next edit finds it unharmed.
        stage.folder.write(content({ one: up('key-of-one') }, '300'));
        expect(await stage.live.reload()).to.equal(true);
        expect(stage.providerNow()).to.equal(made()[0]);
      });
    }
  });

  describe('facts', () => {
    it('count usable models and name missing variables', () => {
      stage.folder.write(
        content({
          one: up(variable('ONE_KEY')),
          two: up(`${variable('TWO_KEY')}${variable('TWO_MORE')}`),
          three: up('key-of-three'),
          fake: { ...up('key-of-fake'), sandbox: true },
        }),
      );
      const facts = readCatalogFacts(stage.configOf({ env: { ONE_KEY: 'x', TWO_KEY: '' } }));
      expect(facts).to.deep.equal({ models: 1, upstreams: 2, switchedOff: ['two (TWO_KEY, TWO_MORE)'], real: true });
    });

    it('distinguish a sandbox catalog from a real one', () => {
      stage.folder.write(content({ one: up(variable('ONE_KEY')), fake: { ...up('key-of-fake'), sandbox: true } }));
      expect(readCatalogFacts(stage.configOf({})).real).to.equal(false);
    });
  });

  describe('check', () => {
    const check = (env: Readonly<Record<string, string>> = {}) => checkCatalog(stage.configOf({ env }));

    it('reports what a start would find, and leaves nothing open', async () => {
      const upstreams = { one: up('key-of-one'), two: up(variable('TWO_KEY')) };
      stage.folder.write(catalogOf({ upstreams, models: [TEXT], vision: ['nothing'] }));
      expect(await check()).to.deep.equal({
        models: 1,
        usable: 1,
        upstreams: 1,
        price_lists: [],
        switched_off: ['two (TWO_KEY)'],
        warnings: ['vision: nothing is not a model of type text'],
      });
      expect(made().map(({ closed }) => closed)).to.deep.equal([1]);
    });

    it('throws what a start would', async () => {
      stage.folder.write(catalogOf({ upstreams: {}, models: [TEXT] }));
      const error: unknown = await check().catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(OperatorError);
    });
  });

  describe('shipped', () => {
    const config = (env: Readonly<Record<string, string>> = {}) => ({ ...readConfig(env), env });
    const shipped = fileURLToPath(new URL('../../catalog/', import.meta.url));

    it('loads without any variable, and works with those of any single upstream', async () => {
      const facts = readCatalogFacts(config());
      expect([facts.upstreams, facts.real]).to.deep.equal([0, false]);
      expect(await checkCatalog(config())).to.deep.include({ upstreams: 0, warnings: [] });
      const names = facts.switchedOff.map((line) => /\(([\w, ]+)\)$/.exec(line)?.[1] ?? line);
      expect(names.length).to.be.above(1);
      for (const name of names) {
        const env = Object.fromEntries(name.split(', ').map((each) => [each, 'key:0123456789']));
        await stage.load({ env, catalogDir: shipped });
        const { models, smart, warnings } = stage.live.current();
        const usable = listModels(stage.live.current());
        expect(usable.length, name).to.be.above(0);
        expect(warnings, name).to.deep.equal([]);
        // Some sell images or videos alone.
        const hasText = models.some(({ type, routes }) => type === 'text' && routes.length > 0);
        expect(usable.at(-1)?.id === 'smart', name).to.equal(hasText);
        const ofTiers = new Set(Object.values(smart?.models ?? {}));
        if (hasText) expect(ofTiers.size, name).to.be.above(1);
        await stage.live.close();
      }
    });

    it("has smart with a model for each tier in the sandbox, also beside the operator's catalog", async () => {
      const smart = { lite: 'text-1', standard: 'text-1', heavy: 'text-1' };
      stage.folder.write({ ...content({ one: up(variable('UNSET')) }), smart });
      for (const catalogDir of [shipped, stage.folder.catalog]) {
        await stage.load({ sandbox: true, catalogDir });
        const ids = Object.values(stage.live.current().smart?.models ?? {}).map(({ id }) => id);
        expect(ids).to.deep.equal(['sandbox-lite', 'sandbox-standard', 'sandbox-heavy']);
        await stage.live.close();
      }
    });

    it('understands, creates and edits images in the sandbox', async () => {
      await stage.load({ sandbox: true, catalogDir: shipped });
      const { vision, defaults } = stage.live.current();
      expect(vision[0]).to.include({ id: 'sandbox-vision', vision: true });
      expect([defaults.image?.id, defaults.edit?.id]).to.deep.equal(['sandbox-image', 'sandbox-image']);
      await stage.live.close();
    });
  });
});
