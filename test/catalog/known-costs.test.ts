import { expect } from 'chai';
import { findKnownCost, findKnownOptions } from '../../lib/catalog/known-costs.ts';
import type { ModelEntry } from '../../lib/catalog/schema.ts';
import { variable } from './folder.ts';

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

  it('of an upstream without an address is only its own', () => {
    const local = { plugin: 'p', settings: {}, sandbox: false };
    const costs = { local: { m: cost('5') } };
    const upstreams = { ...file.upstreams, local, 'another-local': local };
    const findIn = (name: string) =>
      findKnownCost({ ...file, upstreams, costs }, { upstream: name, model: 'm' }, new Map());
    expect([findIn('local'), findIn('another-local')]).to.deep.equal([cost('5'), undefined]);
  });
});

describe('the known options of a model', () => {
  const at = (baseUrl: string, plugin = 'p') => ({ plugin, settings: { baseUrl }, sandbox: false });
  const options = { toolReasoning: 'off' };
  const routes = [
    { upstream: 'other-plugin', model: 'm', options: { off: 'low' } },
    { upstream: 'main', model: 'm', options },
    { upstream: 'main', model: 'plain', options: {} },
    { upstream: 'main', model: 'secret', options: { key: variable('ONE_API_KEY') } },
  ];
  const file = {
    upstreams: {
      'other-plugin': at('https://vendor.example/v1', 'q'),
      main: at('https://vendor.example/v1'),
      mine: at('https://vendor.example/v1'),
      foreign: at('https://elsewhere.example/v1'),
    },
    models: [{ id: 'a', type: 'text', routes } as unknown as ModelEntry],
  };
  const find = (model: string, upstream = 'mine') => findKnownOptions(file, { upstream, model }, new Map());

  it('are those of a route over the same plugin at the same host, without variables', () => {
    expect(find('m')).to.deep.equal(options);
    for (const unknown of ['plain', 'secret', 'nothing']) expect(find(unknown), unknown).to.equal(undefined);
    expect(find('m', 'foreign')).to.equal(undefined);
  });
});
