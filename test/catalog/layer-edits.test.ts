import { expect } from 'chai';
import {
  addModels,
  changeModel,
  type LayerModel,
  type LayerPart,
  listLayerChanges,
  listRoutes,
  MODEL_LISTS,
  type ModelList,
  readModelList,
  removeModel,
  removeUpstream,
  resetModel,
  setAbilities,
  setDiscount,
  setModelLists,
  setRate,
  setRoutes,
  setUpstream,
} from '../../lib/catalog/layer-edits.ts';

const model = (id: string, ...upstreams: string[]): LayerModel => ({
  ...{ id, type: 'text', provider: 'Acme', price: { markup: '1.3' } },
  routes: upstreams.map((upstream) => ({ upstream, model: id })),
});

describe('changes of the part of the catalog from pages', () => {
  const part: LayerPart = {
    upstreams: { one: { plugin: 'p', settings: {} }, two: { plugin: 'p', settings: {} } },
    models: [model('a', 'one'), model('b', 'one', 'two')],
  };

  it('begin with nothing, and keep all that they do not change', () => {
    const upstream = { plugin: 'q', settings: {} };
    expect(setUpstream({}, 'new', upstream)).to.deep.equal({ upstreams: { new: upstream } });
    expect(setUpstream(part, 'two', upstream)).to.deep.equal({
      ...part,
      upstreams: { ...part.upstreams, two: upstream },
    });
    expect(addModels({}, [model('a', 'one')])).to.deep.equal({ models: [model('a', 'one')] });
    expect(addModels(part, [model('c', 'one')]).models?.map(({ id }) => id)).to.deep.equal(['a', 'b', 'c']);
    expect([removeUpstream({}, 'one'), removeModel({}, 'a')]).to.deep.equal([{}, {}]);
    expect(removeModel(part, 'a')).to.deep.equal({ ...part, models: [model('b', 'one', 'two')] });
    const own = { models: [model('a', 'one')], overrides: { x: { off: true } } };
    expect(changeModel(own, 'y', { off: false })).to.deep.equal({
      ...own,
      overrides: { x: { off: true }, y: { off: false } },
    });
    expect(changeModel(own, 'a', { off: true })).to.deep.equal({
      overrides: own.overrides,
      models: [{ id: 'a', type: 'text', provider: 'Acme', routes: own.models[0]?.routes, off: true }],
    });
  });

  it('remove an upstream with its routes, and models that have no other', () => {
    expect(removeUpstream(part, 'one')).to.deep.equal({
      upstreams: { two: { plugin: 'p', settings: {} } },
      models: [model('b', 'two')],
    });
    expect(removeUpstream(removeUpstream(part, 'one'), 'two')).to.deep.equal({});
  });

  it('change a model of the part itself, and override one of a file until nothing is left', () => {
    const changed = changeModel(part, 'a', { off: true, price: { markup: '2' } });
    expect(changed.models?.[0]).to.deep.include({ off: true, price: { markup: '2' } });
    expect(changed.models?.[1]).to.equal(part.models?.[1]);
    const overridden = changeModel({}, 'file-model', { aliases: ['x'] });
    expect(overridden).to.deep.equal({ overrides: { 'file-model': { aliases: ['x'] } } });
    expect(changeModel(overridden, 'file-model', {})).to.deep.equal({});
    expect(removeModel(removeModel(part, 'a'), 'b')).to.have.all.keys('upstreams');
  });

  it('set routes of a model of a file, which its other changes keep', () => {
    const routes = [
      { upstream: 'one', model: 'x' },
      { upstream: 'two', model: 'x' },
    ];
    const routed = setRoutes({}, 'x', routes);
    expect(routed).to.deep.equal({ overrides: { x: { routes } } });
    expect([listRoutes(routed, 'x'), listRoutes(part, 'b'), listRoutes({}, 'x')]).to.deep.equal([
      routes,
      part.models?.[1]?.routes,
      [],
    ]);
    const priced = changeModel(routed, 'x', { price: { markup: '2' } });
    expect(priced).to.deep.equal({ overrides: { x: { price: { markup: '2' }, routes } } });
    expect(changeModel(priced, 'x', {})).to.deep.equal(routed);
    expect(resetModel(priced, 'x')).to.deep.equal({});
    expect(removeUpstream(priced, 'one')).to.deep.equal({
      overrides: { x: { price: { markup: '2' }, routes: routes.slice(1) } },
    });
    expect(removeUpstream(removeUpstream(routed, 'one'), 'two')).to.deep.equal({});
    expect(setRoutes(routed, 'x', [])).to.deep.equal({});
    expect(setRoutes(priced, 'x', routes.slice(1))).to.deep.equal({
      overrides: { x: { price: { markup: '2' }, routes: routes.slice(1) } },
    });
    expect(setRoutes(part, 'b', routes)).to.deep.equal({
      ...part,
      models: [model('a', 'one'), { ...model('b'), routes }],
    });
  });

  it('set what a model can do, and nothing else of it', () => {
    const own = { ...model('a', 'one'), aliases: ['x'], off: true, tools: true, context: 1000 };
    expect(setAbilities({ models: [own, model('b', 'one')] }, 'a', { json: true })).to.deep.equal({
      models: [{ ...model('a', 'one'), aliases: ['x'], off: true, json: true }, model('b', 'one')],
    });
  });

  it('set a discount, exactly, until it is nothing', () => {
    const factors = [1000, 1, 250, 9500, 1050].map((share) => setDiscount({}, 'x', share).priceLists?.x?.factor);
    expect(factors).to.deep.equal(['0.9', '0.9999', '0.975', '0.05', '0.895']);
    expect(setDiscount(setDiscount({}, 'x', 1000), 'x', 0)).to.deep.equal({});
    const two = setDiscount(setDiscount({}, 'x', 1000), 'y', 2000);
    expect(two).to.deep.equal({ priceLists: { x: { factor: '0.9' }, y: { factor: '0.8' } } });
    expect(setDiscount(two, 'x', 0)).to.deep.equal({ priceLists: { y: { factor: '0.8' } } });
  });

  it('set lists of models, which lose what the part no longer has, or what no longer fits', () => {
    const names: Partial<Record<ModelList, string[]>> = {
      'smart.lite': ['a'],
      'smart.heavy': ['b', 'shipped'],
      vision: ['a', 'b'],
      'defaults.edit': ['picture'],
    };
    const listed = setModelLists(part, (list) => names[list] ?? []);
    const lists = { vision: ['a', 'b'], defaults: { edit: ['picture'] } };
    expect(listed).to.deep.equal({ ...part, smart: { lite: ['a'], heavy: ['b', 'shipped'] }, ...lists });
    expect(MODEL_LISTS.map((list) => readModelList(listed, list).join())).to.deep.equal([
      ...['a', '', 'b,shipped'],
      ...['a,b', '', 'picture'],
    ]);
    const { models: _left, ...others } = listed;
    const without = {
      ...others,
      models: [model('b', 'one', 'two')],
      smart: { heavy: ['b', 'shipped'] },
      vision: ['b'],
    };
    expect(removeModel(listed, 'a')).to.deep.equal(without);
    const seeing = setAbilities(listed, 'a', { vision: true });
    expect(readModelList(seeing, 'vision')).to.deep.equal(['a', 'b']);
    expect(setAbilities(seeing, 'a', { tools: true })).to.deep.equal({
      ...listed,
      models: [{ ...model('a', 'one'), tools: true }, model('b', 'one', 'two')],
      vision: ['b'],
    });
    expect(removeUpstream(removeUpstream(listed, 'one'), 'two')).to.deep.equal({
      smart: { heavy: ['shipped'] },
      defaults: { edit: ['picture'] },
    });
    expect(
      setModelLists(
        setModelLists({}, () => ['a']),
        () => [],
      ),
    ).to.deep.equal({});
  });

  it('set a rate, and keep those of earlier days', () => {
    const first = setRate({}, 'USD', { rub: '80', from: '2026-11-01' });
    const second = setRate(first, 'USD', { rub: '81', from: '2026-11-20' });
    const corrected = setRate(second, 'USD', { rub: '82', from: '2026-11-20' });
    expect(corrected.rates?.USD).to.deep.equal([
      { rub: '80', from: '2026-11-01' },
      { rub: '82', from: '2026-11-20' },
    ]);
  });

  it('are listed by name, models by their ids', () => {
    const changed = changeModel(part, 'b', { price: { input: '1', output: '2' }, aliases: ['x', 'y'] });
    expect(listLayerChanges(part, changed)).to.deep.equal([
      { name: 'models.b.price.markup', before: '1.3', after: undefined },
      { name: 'models.b.price.input', before: undefined, after: '1' },
      { name: 'models.b.price.output', before: undefined, after: '2' },
      { name: 'models.b.aliases', before: undefined, after: 'x, y' },
    ]);
    const settings = { folder: { id: 'f' } };
    expect(listLayerChanges({}, { upstreams: { one: { plugin: 'p', settings } } })).to.deep.equal([
      { name: 'upstreams.one.plugin', before: undefined, after: 'p' },
      { name: 'upstreams.one.settings.folder.id', before: undefined, after: 'f' },
    ]);
    expect(listLayerChanges(part, part)).to.deep.equal([]);
  });
});
