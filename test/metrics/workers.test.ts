// What is shown of the workers of a start: how many answer now, and how many were replaced so far.
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { createWorkerMetrics } from '../../lib/metrics/workers.ts';
import { parseExposition } from '../../testkit/exposition.ts';

describe('worker metrics', () => {
  it('are read at each scrape', async () => {
    const registry = new Registry();
    let [alive, replaced] = [3, 2];
    createWorkerMetrics(registry, { alive: () => alive, replaced: () => replaced });
    const look = async () => {
      const { sum } = parseExposition(await registry.metrics());
      return [sum('tollgate_workers'), sum('tollgate_workers_replaced_total')];
    };
    expect([await look(), await look()]).to.deep.equal([
      [3, 2],
      [3, 2],
    ]);
    [alive, replaced] = [2, 5];
    expect(await look()).to.deep.equal([2, 5]);
  });
});
