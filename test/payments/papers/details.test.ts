// The details of a buyer, as they were typed.
import { expect } from 'chai';
import { checkBuyer } from '../../../lib/payments/papers/details.ts';
import { BUYER } from '../../../testkit/papers.ts';

describe('the details of a buyer', () => {
  for (const field of ['name', 'address'] as const) {
    it(`have a line of 1 to 200 characters as ${field}`, () => {
      const check = (text: string) => checkBuyer({ ...BUYER, [field]: text });
      for (const text of ['Щ', 'Щ'.repeat(200)])
        expect(check(text)).to.deep.equal({ details: { ...BUYER, [field]: text } });
      for (const text of ['', 'Щ'.repeat(201), 'Щ\nЩ']) expect(check(text), text).to.deep.equal({ wrong: [field] });
    });
  }
});
