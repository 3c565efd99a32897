import { expect } from 'chai';
import { countPluginErrors, listUpstreamHealth, type UpstreamFacts } from '../../lib/calls/upstreams.ts';
import { nameUpstream } from '../../lib/upstream/host/plugin-run.ts';

const route = (key: string, upstream: string) => ({ key, upstream });
const keys = { keys: 1 };

describe('upstreams', () => {
  it('count the routes of all models once, and name the models of the open ones', () => {
    const [first, second, third] = [route('a/x', 'a'), route('a/y', 'a'), route('b/x', 'b')] as const;
    const outage = { kind: 'server', openMs: 5, failedMs: 3 } as const;
    const facts = {
      catalog: () => ({
        models: [
          { id: 'x', routes: [first, third] },
          { id: 'xy', routes: [first, second] },
        ],
      }),
      keyHealth: () => new Map(['a', 'b', 'unused'].map((name) => [name, keys])),
      health: { findOutage: ({ key }: typeof first) => (key === 'b/x' ? undefined : outage) },
    };
    expect(listUpstreamHealth(facts as unknown as UpstreamFacts)).to.deep.equal([
      {
        upstream: 'a',
        routes: 2,
        outages: [
          { ...outage, models: ['x', 'xy'] },
          { ...outage, models: ['xy'] },
        ],
        keys,
      },
      { upstream: 'b', routes: 1, outages: [], keys },
      { upstream: 'unused', routes: 0, outages: [], keys },
    ]);
  });

  it('are blamed for errors of their own plugins, not of a payment provider of the same name', () => {
    const [first, second] = [route('a/x', 'a'), route('b/x', 'b')] as const;
    const noted: unknown[] = [];
    const count = countPluginErrors({
      catalog: () => ({ models: [{ routes: [first] }, { routes: [second] }] }),
      health: { notePluginError: (name: string, routes: unknown) => void noted.push([name, routes]) },
    } as unknown as UpstreamFacts);
    count({ title: 'Payment provider', name: 'a' });
    expect(noted).to.deep.equal([]);
    count(nameUpstream('a'));
    expect(noted).to.deep.equal([['a', [first, second]]]);
  });
});
