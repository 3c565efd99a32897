import { expect } from 'chai';
import { listUpstreamHealth, type UpstreamFacts } from '../../lib/calls/upstreams.ts';

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
});
