import { expect } from 'chai';
import { describeCause, endingWords } from '../../lib/console/pages/call-words.ts';
import { type AttemptEnding, FAULT_ENDINGS } from '../../lib/money/attempt.ts';
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

  it('tells why a failed call failed by its last attempt, unless that does not say', () => {
    const last = (...endings: AttemptEnding[]) =>
      describeCause(
        'en',
        endings.map((ending) => ({ ending })),
      );
    expect(last('refused', 'timeout')).to.match(/^the provider did not answer in time/);
    expect([last(), last('answered'), last('failed', 'running')]).to.deep.equal([undefined, undefined, undefined]);
    for (const ending of [...FAULT_ENDINGS, 'left', 'lost'] as const) {
      expect(last(ending)).to.be.a('string');
      expect(describeCause('ru', [{ ending }])).to.match(/^[а-яё; ,-]+$/);
    }
  });

  it('explains why a call that was repeated is free', () => {
    const told = 'sent again with the same idempotency key; only the repeat was charged';
    expect(words('settled', { repeated_as: 'req_2' })).to.equal(told);
    expect(words('settled', { repeated_as: 'req_2' }, 'image')).to.equal(told);
  });
});
