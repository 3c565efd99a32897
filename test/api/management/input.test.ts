// The inputs of verbs: only the names of a table, whatever names its objects inherit.
import { expect } from 'chai';
import { readBodyInput, readQueryInput } from '../../../lib/api/management/read-input.ts';
import { countField, textField } from '../../../lib/manage/input.ts';

const FIELDS = { name: textField('A name.'), limit: countField('A limit.') };

describe('inputs of the management API', () => {
  it('have only the names of their table', () => {
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'nme']) {
      const refusal = `Invalid \`${name}\`: is not one of name, limit.`;
      expect(() => readBodyInput(FIELDS, JSON.parse(`{"${name}": "x"}`)), name).to.throw(refusal);
      expect(() => readQueryInput(FIELDS, new URLSearchParams([[name, '1']])), name).to.throw(refusal);
    }
    expect(readQueryInput(FIELDS, new URLSearchParams('name=7&limit=7'))).to.deep.equal({
      name: '7',
      limit: 7,
    });
  });
});
