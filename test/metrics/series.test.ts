// The series that are there before their first event: of models that can be used, each at the endpoints of its type.
import { expect } from 'chai';
import type { Catalog } from '../../lib/catalog/catalog.ts';
import { attemptSeries, listUpstreams, modelSeries, requestSeries } from '../../lib/metrics/series.ts';

const modelOf = (id: string, type: string, ...upstreams: readonly string[]) => ({
  id,
  type,
  routes: upstreams.map((upstream) => ({ upstream })),
});
const models = [
  modelOf('text-a', 'text', 'one', 'two'),
  modelOf('text-off', 'text'),
  modelOf('image-a', 'image', 'two'),
  modelOf('film-a', 'video', 'films'),
];
const facts = {
  catalog: () => ({ models }) as unknown as Catalog,
  routes: () => [
    ...['/api/v1/messages', '/api/v1/chat/completions'].map((path) => ({ method: 'post', path })),
    ...['/api/v1/images/generations', '/api/v1/images/edits', '/api/v1/videos'].map((path) => ({
      method: 'post',
      path,
    })),
    { method: 'get', path: '/api/v1/balance' },
  ],
};

describe('series before their first event', () => {
  it('include the models with a route, of one type or all', () => {
    expect(modelSeries(facts).map(({ model }) => model)).to.deep.equal(['text-a', 'image-a', 'film-a']);
    expect(modelSeries(facts, 'text')).to.deep.equal([{ model: 'text-a' }]);
    expect(listUpstreams(facts)).to.deep.equal(['one', 'two', 'films']);
    expect(listUpstreams(facts, 'video')).to.deep.equal(['films']);
  });

  it('include each endpoint with the models of its type', () => {
    const series = requestSeries(facts);
    const ends = [
      [200, 'ok'],
      [200, 'gone'],
      [0, 'gone'],
    ];
    const pairs = [
      ['/api/v1/messages', 'text-a'],
      ['/api/v1/chat/completions', 'text-a'],
      ['/api/v1/images/generations', 'image-a'],
      ['/api/v1/images/edits', 'image-a'],
      ['/api/v1/videos', 'film-a'],
    ];
    expect(series).to.deep.equal(
      pairs.flatMap(([endpoint, model]) => ends.map(([status, outcome]) => ({ endpoint, model, status, outcome }))),
    );
  });

  it('include each possible end of an attempt once per upstream', () => {
    const series = attemptSeries(facts).map(({ upstream, outcome, kind }) => `${upstream} ${outcome} ${kind}`);
    for (const end of ['ok ', 'gone ', 'upstream_timeout ', 'internal ', 'upstream_failed rate']) {
      expect(
        series.filter((line) => line === `films ${end}`),
        end,
      ).to.have.length(1);
    }
  });
});
