// What is counted of videos: polls by what they found, how long they take to either end, and those that are open.
import { expect } from 'chai';
import { Registry } from 'prom-client';
import type { Catalog } from '../../lib/catalog/catalog.ts';
import { createJobMetrics } from '../../lib/metrics/videos.ts';
import { parseExposition } from '../../testkit/exposition.ts';

const models = ['film-a', 'film-b'].map((id) => ({ id, type: 'video', routes: [{ upstream: `${id}-up` }] }));
const other = { id: 'text-a', type: 'text', routes: [{ upstream: 'text-up' }] };
const CATALOG = { models: [...models, other] } as unknown as Catalog;

describe('video metrics', () => {
  function open() {
    const registry = new Registry();
    const metrics = createJobMetrics(registry, { catalog: () => CATALOG, routes: () => [] });
    return { ...metrics, look: async () => parseExposition(await registry.metrics()) };
  }

  it('count polls by upstream and result', async () => {
    const { onPoll, look } = open();
    const before = (await look()).samples.filter(({ name }) => name === 'tollgate_video_polls_total');
    expect(before.map(({ value }) => value)).to.deep.equal(Array(8).fill(0));
    onPoll('film-a-up', 'processing');
    onPoll('film-a-up', 'processing');
    onPoll('film-b-up', 'unknown');
    const { sum } = await look();
    const polls = 'tollgate_video_polls_total';
    expect(sum(polls, { upstream: 'film-a-up', found: 'processing' })).to.equal(2);
    expect(sum(polls, { upstream: 'film-b-up', found: 'unknown' })).to.equal(1);
    expect(sum(polls)).to.equal(3);
  });

  it('time videos in seconds, by model and end, however often they are read', async () => {
    const { onJobEnd, look } = open();
    onJobEnd({ model: 'film-a' } as never, 'completed', 45_000);
    await look();
    onJobEnd({ model: 'film-a' } as never, 'completed', 15_000);
    onJobEnd({ model: 'film-a' } as never, 'failed', 2000);
    await look();
    const { sum } = await look();
    const seconds = (model: string, end: string) =>
      ['count', 'sum'].map((what) => sum(`tollgate_video_seconds_${what}`, { model, end }));
    expect(seconds('film-a', 'completed')).to.deep.equal([2, 60]);
    expect(seconds('film-a', 'failed')).to.deep.equal([1, 2]);
    expect(seconds('film-b', 'completed')).to.deep.equal([0, 0]);
    expect(sum('tollgate_video_seconds_bucket', { model: 'film-a', end: 'completed', le: '20' })).to.equal(1);
  });

  it('show the number of open videos, and none while the store does not answer', async () => {
    const { watchJobs, look } = open();
    let jobs = async () => 7;
    watchJobs({ open: () => jobs() });
    expect((await look()).sum('tollgate_open_videos')).to.equal(7);
    jobs = () => Promise.reject(new Error('down'));
    expect((await look()).samples.filter(({ name }) => name === 'tollgate_open_videos')).to.deep.equal([]);
    jobs = async () => 3;
    expect((await look()).sum('tollgate_open_videos')).to.equal(3);
  });
});
