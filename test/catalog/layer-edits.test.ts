import { expect } from 'chai';
import {
  changeModel,
  type LayerModel,
  type LayerPart,
  listLayerChanges,
  removeModel,
  removeUpstream,
  setDiscount,
  setRate,
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

  it('set a discount, exactly, until it is nothing', () => {
    const factors = [1000, 1, 250, 9500, 1050].map((share) => setDiscount({}, 'x', share).priceLists?.x?.factor);
    expect(factors).to.deep.equal(['0.9', '0.9999', '0.975', '0.05', '0.895']);
    expect(setDiscount(setDiscount({}, 'x', 1000), 'x', 0)).to.deep.equal({});
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
    expect(listLayerChanges(part, part)).to.deep.equal([]);
  });
});
