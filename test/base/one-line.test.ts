import { expect } from 'chai';
import { isOneLine } from '../../lib/base/one-line.ts';

describe('a text of one line', () => {
  it('may have any letters and signs', () => {
    for (const text of ['', 'Bob', 'Касса № 5 – Öl & Söhne', '日本 👩‍👩‍👧'])
      expect(isOneLine(text), text).to.equal(true);
  });

  it('has no break, no control, and nothing that reverses what follows', () => {
    for (const sign of [
      '\n',
      '\r',
      '\t',
      '\0',
      '\x7f',
      '\x85',
      '\u2028',
      '\u2029',
      '\u202a',
      '\u202e',
      '\u2066',
      '\u2069',
    ])
      expect(isOneLine(`a${sign}b`), JSON.stringify(sign)).to.equal(false);
  });
});
