// Where system messages between others stand in the messages format.
import { expect } from 'chai';
import { mergeSystemMessages, placeSystemMessages } from '../../../lib/upstream/formats/system-messages.ts';

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

describe('system messages told by the user', () => {
  const text = (said: string) => ({ type: 'text', text: said });
  const reminder = (said: string) => text(`<system-reminder>\n${said}\n</system-reminder>`);
  const user = (...content: readonly { readonly type: string }[]) => ({ role: 'user', content });
  const answer = (said: string) => ({ role: 'assistant', content: [text(said)] });

  it('become part of the message before them, or one of its own', () => {
    const { messages } = mergeSystemMessages(call('u1 s1 s2 a1 u2 s3 u3 a2 s4 u4'));
    expect(messages).to.deep.equal([
      user(text('u1'), reminder('s1'), reminder('s2')),
      answer('a1'),
      user(text('u2'), reminder('s3')),
      user(text('u3')),
      answer('a2'),
      user(reminder('s4')),
      user(text('u4')),
    ]);
  });

  it('are not marked as reminders twice', () => {
    const given = { messages: [user(text('u')), { role: 'system', content: [reminder('s')] }] };
    expect(mergeSystemMessages(given).messages).to.deep.equal([user(text('u'), reminder('s'))]);
  });

  it('keep markers of the cache', () => {
    const marked = { ...text('s'), cache: { ttl: '5m' } };
    const given = { messages: [user(text('u')), { role: 'system', content: [marked] }] };
    expect(mergeSystemMessages(given).messages).to.deep.equal([user(text('u'), { ...marked, ...reminder('s') })]);
  });

  it('stay as they are when the conversation goes on', () => {
    const before = mergeSystemMessages(call('u1 s1 a1 u2 s2')).messages;
    const after = mergeSystemMessages(call('u1 s1 a1 u2 s2 a2 u3 s3')).messages;
    expect(after.slice(0, before.length)).to.deep.equal(before);
  });

  it('leave a call without any as it is, and the given one untouched', () => {
    const none = call('u1 a1 u2');
    expect(mergeSystemMessages(none)).to.equal(none);
    const given = call('u1 s1');
    mergeSystemMessages(given);
    expect(given).to.deep.equal(call('u1 s1'));
  });
});
