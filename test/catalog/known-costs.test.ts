import { expect } from 'chai';
import { findKnownCost } from '../../lib/catalog/known-costs.ts';
import type { ModelEntry } from '../../lib/catalog/schema.ts';

describe('the known cost of a model', () => {
  const upstream = (baseUrl: string) => ({ plugin: 'p', settings: { baseUrl }, sandbox: false });
  const cost = (input: string) => ({ currency: 'USD', input, output: '2' });
  const routes = [
    { upstream: 'main', model: 'm', options: {}, cost: cost('1') },
    { upstream: 'foreign', model: 'other', options: {}, cost: cost('9') },
  ];
  const file = {
    upstreams: {
      main: upstream('https://vendor.example/v1'),
      mine: upstream('https://vendor.example/v1/'),
      foreign: upstream('https://elsewhere.example/v1'),
    },
    models: [{ id: 'a', type: 'text', routes } as unknown as ModelEntry],
    costs: { main: { listed: cost('3') }, mine: { m: cost('4') } },
  };
  const find = (model: string, name = 'mine') => findKnownCost(file, { upstream: name, model }, new Map());

  it('is that of the upstream itself, or of another at the same host', () => {
    expect(find('m')).to.deep.equal(cost('4'));
    expect(find('m', 'main')).to.deep.equal(cost('1'));
    expect(find('listed')).to.deep.equal(cost('3'));
    for (const unknown of ['other', 'nothing', '__proto__', 'constructor'])
      expect(find(unknown), unknown).to.equal(undefined);
    expect(find('m', 'foreign')).to.equal(undefined);
  });
});
