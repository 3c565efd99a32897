// The inputs of verbs: only the names of a table, whatever names its objects inherit.
import { expect } from 'chai';
import { readBodyInput, readQueryInput } from '../../../lib/api/management/read-input.ts';
import { countField, flagField, must, textField, withDefault } from '../../../lib/manage/input.ts';

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

  it('are numbers and flags in a query where they are spelled as such', () => {
    const fields = { isOpen: flagField('A flag.'), limit: FIELDS.limit };
    const query = (text: string) => readQueryInput(fields, new URLSearchParams(text));
    expect([query('isOpen=true'), query('isOpen=false')]).to.deep.equal([{ isOpen: true }, { isOpen: false }]);
    for (const text of ['isOpen=yes', 'isOpen=true!', 'isOpen=']) {
      expect(() => query(text), text).to.throw('Invalid `isOpen`: must be true or false');
    }
    for (const text of ['limit=1e3', 'limit=1.5', 'limit=-1', 'limit=x', 'limit=']) {
      expect(() => query(text), text).to.throw('Invalid `limit`: must be a whole number from 1');
    }
    expect(() => query('limit=1&limit=1')).to.throw('Invalid `limit`: is given twice');
  });

  it('have what they are without a value, and null is none where one may be left out', () => {
    const fields = { name: must(FIELDS.name), limit: withDefault(FIELDS.limit, 5) };
    for (const more of [{}, { limit: null }]) {
      expect(readBodyInput(fields, { name: 'a', ...more })).to.deep.equal({ name: 'a', limit: 5 });
    }
    expect(readBodyInput(FIELDS, { name: null })).to.deep.equal({});
    expect(() => readBodyInput(fields, {})).to.throw('Invalid `name`: is required');
    expect(() => readBodyInput(fields, { name: null })).to.throw('Invalid `name`: must be a text');
  });

  it('are an object, which is empty where a verb takes nothing', () => {
    for (const sent of [undefined, null, [], 'a'])
      expect(() => readBodyInput({}, sent)).to.throw('an object is expected');
    expect(readBodyInput({}, {})).to.deep.equal({});
    expect(() => readBodyInput({}, { a: 1 })).to.throw('is not one of the fields, of which there are none');
  });
});
