import { expect } from 'chai';
import { maskJson, maskNumbers } from '../../lib/payments/mask.ts';

describe('masking of provider texts', () => {
  for (const [text, shown] of [
    ['card 4111111111111111.', 'card …1111.'],
    ['4111 1111 1111 1111', '…1111'],
    ['"2200-0000-0000-0004"', '"…0004"'],
    // Every digit at every other place, and from 13 to 19 of them.
    ['5555555555554444', '…4444'],
    ['6759649826438453', '…8453'],
    ['378282246310005', '…0005'],
    ['4222222222222', '…2222'],
    ['6799990100000000019', '…0019'],
    // No card has this check digit, and an id is not a card number.
    ['4111111111111112', '4111111111111112'],
    ['22e12f66-000f-5000-8000-18db351245c7', '22e12f66-000f-5000-8000-18db351245c7'],
    ['41111111-1111-1111-1111-111111111111', '41111111-1111-1111-1111-111111111111'],
    ['1732277400000', '1732277400000'],
  ] as const) {
    it(`is ${shown} of ${text}`, () => {
      expect(maskNumbers(text)).to.equal(shown);
    });
  }

  it('hides methods and secrets, and keeps the fields by which an owner recognizes a card', () => {
    const card = { first6: '411111', last4: '1111', expiry_year: '2031', card_type: 'Visa', product: { code: 'E' } };
    const object = {
      id: 'p-1',
      status: 'succeeded',
      payment_method: { type: 'bank_card', id: 'm-1', saved: true, card },
      payment_method_id: 'm-1',
      metadata: { order_id: 'pay_1' },
      list: [{ token: 't', n: 5 }],
    };
    expect(JSON.parse(maskJson(JSON.stringify(object)))).to.deep.equal({
      id: 'p-1',
      status: 'succeeded',
      payment_method_id: '…',
      metadata: { order_id: 'pay_1' },
      payment_method: {
        type: 'bank_card',
        id: '…',
        saved: true,
        card: { first6: '…', last4: '1111', expiry_year: '2031', card_type: 'Visa', product: { code: '…' } },
      },
      list: [{ token: '…', n: 5 }],
    });
  });

  it('indents by two spaces, or as it is asked to', () => {
    expect(maskJson('{"id":"p-1"}')).to.equal('{\n  "id": "p-1"\n}');
    expect(maskJson('{"id":"p-1"}', 0)).to.equal('{"id":"p-1"}');
  });

  it('returns other text than JSON unchanged', () => {
    expect(maskJson('{"card": 4111111111111111')).to.equal('{"card": …1111');
    expect(maskJson('')).to.equal('');
  });
});
