// The part of the catalog from pages: merged like a file, with secrets of its own, reloaded from the store.
import { expect } from 'chai';
import { MINUTE_MS } from '../../lib/base/durations.ts';
import { OperatorError } from '../../lib/base/operator-error.ts';
import {
  type CatalogLayer,
  createFailureReport,
  createLayerSource,
  findLayerFailure,
  type LayerFailure,
  type LayerSource,
} from '../../lib/catalog/layer.ts';
import { until } from '../../testkit/client.ts';
import { catalogOf, TEXT, variable } from './folder.ts';
import { CatalogStage, made } from './stage.ts';

describe('the part of the catalog from pages', () => {
  const stage = new CatalogStage();
  const { up, content } = stage;
  let layer: CatalogLayer | undefined;
  let failures: LayerFailure[];
  let failsReading = false;
  const source: LayerSource = {
    last: async () => layer?.version ?? 0,
    read: async () => {
      if (failsReading) throw new Error('the store does not answer');
      return layer;
    },
    reportFailure: async (failure) => void failures.push(failure),
  };
  const write = (version: number, part: object, secrets = {}) => {
    layer = { version, text: JSON.stringify(part), secrets };
  };
  const load = () => stage.load({ layer: source, lookEveryMs: 5 });
  beforeEach(() => {
    stage.open();
    [layer, failures] = [undefined, []];
  });
  afterEach(() => stage.close());

  const SECRET = 'CONSOLE_TWO_0A_API_KEY';
  const second = { ...TEXT, id: 'second', aliases: [], routes: [{ upstream: 'two', model: 'two-1' }] };
  const own = { upstreams: { two: up(variable(SECRET)) }, models: [second] };

  it('adds upstreams whose secrets only it may name', async () => {
    stage.folder.write(content({ one: up(variable(SECRET)) }));
    write(1, own, { [SECRET]: 'key-from-page' });
    await load();
    expect(stage.secrets).to.deep.equal(['key-from-page']);
    expect(stage.live.current().byName.get('second')?.routes).to.have.length(1);
    expect(stage.live.parts().switchedOff).to.deep.equal(new Map([['one', [SECRET]]]));
    const foreign = await stage.live.tryLayer({
      text: JSON.stringify({ upstreams: { two: up(variable('OPENAI_API_KEY')) } }),
      secrets: {},
    });
    expect(foreign).to.have.property('problem').that.contains('OPENAI_API_KEY is not among the variables');
  });

  it('replaces the lists of files that it has itself', async () => {
    const lists = {
      smart: { lite: TEXT.id, standard: TEXT.id },
      vision: [TEXT.id],
      defaults: { image: [TEXT.id], edit: [TEXT.id] },
    };
    stage.folder.write({ ...content({ one: up('key-of-one') }), ...lists });
    write(1, { ...own, smart: { lite: ['second'] } }, { [SECRET]: 'key-from-page' });
    await load();
    const text = JSON.stringify({ vision: ['x'], defaults: { image: ['y'], edit: ['z'] } });
    const tried = await stage.live.tryLayer({ text, secrets: {} });
    expect('file' in tried && [tried.file.vision, tried.file.defaults]).to.deep.equal([
      ['x'],
      { image: ['y'], edit: ['z'] },
    ]);
    const { smart, vision } = stage.live.current();
    expect(smart?.usable.lite.map(({ id }) => id)).to.deep.equal(['second']);
    expect([smart?.models.standard.id, smart?.models.heavy.id, vision[0]?.id]).to.deep.equal(Array(3).fill(TEXT.id));
  });

  it('adds rates to those of a file, each from its day on', async () => {
    const rates = { USD: { rub: '80', from: '2026-01-01' } };
    const cost = { input: '1', output: '1', currency: 'USD' };
    const priced = { ...TEXT, price: { markup: '1' }, routes: TEXT.routes.map((route) => ({ ...route, cost })) };
    stage.folder.write({ ...content({ one: up('key-of-one') }), models: [priced], rates });
    await load();
    const later = { rub: '85', from: '2026-02-01' };
    for (const [own, price] of [
      [[later], 85_000_000n],
      [[{ rub: '84', from: '2026-01-01' }], 84_000_000n],
      [[later, { rub: '99', from: '2099-01-01' }], 85_000_000n],
    ] as const) {
      const tried = await stage.live.tryLayer({ text: JSON.stringify({ rates: { USD: own } }), secrets: {} });
      expect('catalog' in tried && tried.catalog.byName.get(TEXT.id)?.price).to.include({ input: price });
    }
  });

  it('changes the price and the names of a model of a file, and takes it off sale', async () => {
    stage.folder.write(content({ one: up('key-of-one') }));
    write(1, { overrides: { [TEXT.id]: { price: { input: '50', output: '300' }, aliases: ['renamed'] } } });
    await load();
    expect([stage.model().price, stage.model().aliases]).to.deep.equal([
      { input: 50_000_000n, output: 300_000_000n },
      ['renamed'],
    ]);
    const tried = (override: object) => {
      const text = JSON.stringify({ overrides: { [TEXT.id]: override } });
      return stage.live.tryLayer({ text, secrets: {} });
    };
    const off = await tried({ off: true });
    expect('catalog' in off && off.catalog.byName.get(TEXT.id)?.routes).to.deep.equal([]);
    expect(await tried({ price: { input: '50' } }))
      .to.have.property('problem')
      .that.contains('price.output is required');
    expect(await tried({ colour: 'red' }))
      .to.have.property('problem')
      .that.contains(`${TEXT.id}.colour is not allowed`);
    const unknown = await stage.live.tryLayer({ text: '{ "overrides": { "nothing": { "off": true } } }', secrets: {} });
    expect('catalog' in unknown && unknown.catalog.warnings).to.include(
      'overrides.nothing: there is no model of this id',
    );
    expect(made()).to.have.length(1);
  });

  it('adds routes to a model of a file, behind its own', async () => {
    stage.folder.write(content({ one: up('key-of-one') }));
    const cost = { currency: 'RUB', input: '1', output: '2' };
    const routes = [{ upstream: 'two', model: 'two-1', cost }];
    write(1, { upstreams: own.upstreams, overrides: { [TEXT.id]: { routes } } }, { [SECRET]: 'key' });
    await load();
    const found = stage.model().routes.map(({ upstream, model, options }) => [upstream, model, options]);
    expect(found).to.deep.equal([
      ['one', 'their-1', {}],
      ['two', 'two-1', {}],
    ]);
    const tried = (...added: readonly object[]) => {
      const text = JSON.stringify({ overrides: { [TEXT.id]: { routes: added } } });
      return stage.live.tryLayer({ text, secrets: {} });
    };
    for (const [wrong, words] of [
      [{ upstream: 'one' }, `overrides.${TEXT.id}: routes[0].model is required`],
      [{ upstream: 'one', model: 'm', cost: { currency: 'RUB', request: '1' } }, 'routes[0].cost'],
      [{ upstream: 'nobody', model: 'm' }, 'unknown upstream nobody'],
    ] as const) {
      expect(await tried(wrong), words)
        .to.have.property('problem')
        .that.contains(words);
    }
    expect(await tried())
      .to.have.property('problem')
      .that.contains('routes must contain at least 1 items');
  });

  it('is refused where it repeats what a file has, also at a start', async () => {
    stage.folder.write(content({ one: up('key-of-one') }));
    write(1, { upstreams: { one: up(variable(SECRET)) } }, { [SECRET]: 'key' });
    const error = await load().catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(OperatorError);
    expect((error as Error).message).to.equal('console.json of the store: upstream one is defined twice');
  });

  it('is reloaded when another version is saved; one that cannot be loaded is reported without its secrets', async () => {
    stage.folder.write(catalogOf({ upstreams: { one: up('key-of-one') }, models: [TEXT] }));
    await load();
    stage.live.watch();
    write(1, own, { [SECRET]: 'key-from-page' });
    await until(() => stage.live.current().byName.has('second'));
    write(2, { upstreams: { two: up(variable(SECRET), { refuse: true }) } }, { [SECRET]: 'key-from-page' });
    await until(() => failures.length > 0);
    expect(failures[0]).to.include({ version: 2 });
    expect(failures[0]?.reason).to.contain('Upstream `two`').and.not.to.contain('key-from-page');
    expect(stage.live.current().byName.has('second')).to.equal(true);
    expect(stage.live.parts().version).to.equal(1);
    write(3, {});
    failsReading = true;
    await until(() => stage.live.failure()?.reason === 'the store does not answer');
    failsReading = false;
    await until(() => !stage.live.current().byName.has('second'));
    expect(stage.live.failure()).to.equal(undefined);
  });

  it('is reported for as long as it cannot be loaded, and not after that', async () => {
    const settings = new Map<string, string>();
    let now = 0;
    const store = {
      catalogVersions: { last: async () => layer?.version ?? 0, page: async () => [] },
      settings: {
        get: async (name: string) => settings.get(name),
        set: async (name: string, value: string) => void settings.set(name, value),
      },
    } as never;
    const told = createLayerSource(store, () => now);
    const reportFailure: LayerSource['reportFailure'] = (failure) => {
      failures.push(failure);
      return told.reportFailure(failure);
    };
    stage.folder.write(content({ one: up('key-of-one') }));
    await stage.load({ layer: { ...source, reportFailure }, lookEveryMs: 1 });
    stage.live.watch();
    write(1, { models: [second] });
    await until(() => failures.length > 1);
    expect(await findLayerFailure(store, now)).to.include({ version: 1, at: failures[0]?.at });
    stage.folder.write(content({ one: up('key-of-one'), two: up('key-of-two') }));
    await until(() => stage.live.parts().version === 1);
    now += 6 * MINUTE_MS;
    expect(await findLayerFailure(store, now)).to.equal(undefined);
    settings.set('catalog/console-failure', JSON.stringify({ version: 1, at: now - MINUTE_MS, reason: 'of long ago' }));
    expect(await findLayerFailure(store, now)).to.include({ reason: 'of long ago' });
  });

  it('is not said to be what cannot be loaded if a file is', async () => {
    stage.folder.write(content({ one: up('key-of-one') }));
    write(1, own, { [SECRET]: 'key' });
    await load();
    stage.folder.write(content({ one: up('key', { refuse: true }) }));
    expect(await stage.live.reload()).to.equal(false);
    expect([stage.live.failure()?.reason.includes('Upstream `one`'), failures]).to.deep.equal([true, []]);
  });

  it('is loaded for a page that needs a version, if nobody has tried that yet', async () => {
    stage.folder.write(content({ one: up('key-of-one') }));
    write(1, own, { [SECRET]: 'key' });
    await load();
    const reloads = () => stage.lines.filter((line) => line.includes('was reloaded')).length;
    await stage.live.loadLayer(1);
    expect(reloads()).to.equal(0);
    write(2, {});
    await stage.live.loadLayer(2);
    expect([reloads(), stage.live.parts().version]).to.deep.equal([1, 2]);
    write(3, { upstreams: { two: up('key', { refuse: true }) } });
    for (const _ of [1, 2]) await stage.live.loadLayer(3);
    expect(stage.lines.filter((line) => line.includes('was not reloaded'))).to.have.length(1);
    expect(failures.map(({ version }) => version)).to.deep.equal([3]);
  });
});

describe('the report that a version cannot be loaded', () => {
  it('is sent at once, and again each minute, and the next failure at once', async () => {
    const sent: number[] = [];
    const warnings: string[] = [];
    const reportFailure = async ({ at }: LayerFailure) => {
      sent.push(at);
      if (at === 2) throw new Error('the store does not answer');
    };
    const report = createFailureReport({ reportFailure }, { warn: (message) => void warnings.push(message) });
    const poll = async (at: number | undefined, times: number) => {
      sent.length = 0;
      for (let time = 0; time < times; time += 1)
        await report(at === undefined ? at : { version: 1, at, reason: 'bad' });
      return [...sent];
    };
    expect(await poll(undefined, 3)).to.deep.equal([]);
    expect(await poll(1, 120)).to.deep.equal([1]);
    expect(await poll(1, 60)).to.deep.equal([1]);
    expect(await poll(2, 2)).to.deep.equal([2]);
    expect(warnings).to.have.length(1);
  });
});
