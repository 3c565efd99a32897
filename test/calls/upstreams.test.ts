import { expect } from 'chai';
import { countPluginErrors, listUpstreamHealth, type UpstreamFacts } from '../../lib/calls/upstreams.ts';
import { nameUpstream } from '../../lib/upstream/host/plugin-run.ts';

const route = (key: string, upstream: string) => ({ key, upstream });
const keys = { keys: 1 };

describe('upstreams', () => {
  it('count the routes of all models once, and the open ones', () => {
    const [first, second, third] = [route('a/x', 'a'), route('a/y', 'a'), route('b/x', 'b')] as const;
    const facts = {
      catalog: () => ({ models: [{ routes: [first, third] }, { routes: [first, second] }] }),
      keyHealth: () => new Map(['a', 'b', 'unused'].map((name) => [name, keys])),
      health: { isOpen: ({ key }: typeof first) => key === 'a/y' },
    };
    expect(listUpstreamHealth(facts as unknown as UpstreamFacts)).to.deep.equal([
      { upstream: 'a', routes: 2, routesOpen: 1, keys },
      { upstream: 'b', routes: 1, routesOpen: 0, keys },
      { upstream: 'unused', routes: 0, routesOpen: 0, keys },
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
