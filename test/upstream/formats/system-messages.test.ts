// Where system messages between others stand in the messages format.
import { expect } from 'chai';
import { placeSystemMessages } from '../../../lib/upstream/formats/system-messages.ts';

const ROLES = { s: 'system', u: 'user', a: 'assistant' } as const;

const call = (order: string) => ({
  messages: order.split(' ').map((name) => ({ role: ROLES[name[0] as 's'], content: [{ type: 'text', text: name }] })),
});

const ORDERS: readonly (readonly [given: string, placed: string])[] = [
  ['u1 s1 u2', 'u1 u2 s1'],
  ['u1 a1 s1 u2 a2 u3', 'u1 a1 u2 s1 a2 u3'],
  ['u1 s1 u2 s2 u3 a1 u4 s3', 'u1 u2 u3 s1 s2 a1 u4 s3'],
  ['u1 s1 s2 u2 a1 s3 u3', 'u1 u2 s1 s2 a1 u3 s3'],
];

describe('system messages between others', () => {
  for (const [given, placed] of ORDERS) {
    it(`stand before an answer or at the end: ${given}`, () => {
      expect(placeSystemMessages(call(given))).to.deep.equal(call(placed));
    });
  }

  for (const order of ['u1 a1 u2', 'u1 s1 a1 u2 s2', 'u1 a1 s1 a2 u2', 's1']) {
    it(`stay where they are if they stand there: ${order}`, () => {
      const given = call(order);
      expect(placeSystemMessages(given)).to.equal(given);
    });
  }

  it('stay there when the conversation goes on', () => {
    const before = placeSystemMessages(call('u1 a1 s1 u2')).messages;
    expect(placeSystemMessages(call('u1 a1 s1 u2 a2 s2 u3')).messages.slice(0, before.length)).to.deep.equal(before);
  });
});
