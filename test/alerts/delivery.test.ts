// When an alert is tried again: after fixed waits, or later if every recipient that is left asked for that.
import { expect } from 'chai';
import { type Arrival, claimDelivery, isDeliveryDue, newDelivery, recordAttempt } from '../../lib/alerts/delivery.ts';
import { MINUTE_MS } from '../../lib/base/durations.ts';

const AT = 1_800_000_000_000;

function nextAttempt(...arrivals: readonly Arrival[]) {
  const delivery = newDelivery({ type: 'test', data: {} }, { account: 'acc', channels: ['webhook'], now: AT });
  const named = Object.fromEntries(arrivals.map((arrival, at) => [`telegram:${at}`, arrival]));
  return recordAttempt(claimDelivery(delivery, AT), named, AT);
}

describe('the next attempt of an alert', () => {
  const due = (minutes?: number): Arrival => ({
    state: 'due',
    ...(minutes !== undefined && { notBefore: AT + minutes * MINUTE_MS }),
  });
  for (const [name, arrivals, minutes] of [
    ['follows its schedule', [due()], 1],
    ['does not come earlier because a recipient asks for little', [due(0.1)], 1],
    ['waits as long as its recipient asks', [due(10)], 10],
    ['waits for the first of several that may be tried', [due(10), due(20), { state: 'sent' }], 10],
    ['does not keep others waiting', [due(10), due()], 1],
    ['waits for an hour at most', [due(600)], 60],
  ] as const) {
    it(name, () => {
      const delivery = nextAttempt(...arrivals);
      expect((delivery.dueAt ?? 0) - AT).to.equal(minutes * MINUTE_MS);
      expect(isDeliveryDue(delivery, AT)).to.equal(false);
      expect(isDeliveryDue(delivery, AT + minutes * MINUTE_MS)).to.equal(true);
    });
  }
});
