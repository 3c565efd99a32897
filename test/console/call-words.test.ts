import { expect } from 'chai';
import { endingWords } from '../../lib/console/pages/call-words.ts';
import type { Charge } from '../../lib/money/decide.ts';

describe('how a call ended, in words', () => {
  const words = (state: Charge['state'], usage: object, kind: Charge['kind'] = 'text') =>
    endingWords('en', { state, kind } as Charge, usage as never);

  it('shows the noted ending of a charged text call, and the state of others', () => {
    expect(words('settled', {})).to.equal('answered in full');
    expect(words('settled', { ended: 'gone' })).to.equal('the client disconnected; the generated part is charged');
    expect(words('refunded', { ended: 'gone' })).to.equal('failed, refunded');
    expect(words('settled', {}, 'image')).to.equal('done');
  });

  it('explains why a call that was repeated is free', () => {
    const told = 'sent again with the same idempotency key; only the repeat was charged';
    expect(words('settled', { repeated_as: 'req_2' })).to.equal(told);
    expect(words('settled', { repeated_as: 'req_2' }, 'image')).to.equal(told);
  });
});
