import { expect } from 'chai';
import { isOneLine, isReadableId } from '../../lib/base/one-line.ts';

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

  it('shows something, unless it is empty', () => {
    for (const text of [
      ' ',
      '\u00a0',
      '\u200b',
      '\u200d',
      '\u3164',
      '\u2800',
      '\u00ad',
      '\ufeff',
      '\u0301',
      '\u200b \u200b',
    ])
      expect(isOneLine(text), JSON.stringify(text)).to.equal(false);
    for (const text of ['.', 'é', 'e\u0301', '5', '👍🏽']) expect(isOneLine(text), text).to.equal(true);
  });
});

describe('an id that somebody else gave', () => {
  it('has no character that is not seen: two that look the same would be two', () => {
    for (const text of ['inv-7', 'счёт № 7', '支払い 7']) expect(isReadableId(text), text).to.equal(true);
    for (const sign of ['\u200b', '\u200d', '\u200e', '\u00ad', '\ufeff', '\u2060', '\ufe0f', '\ufffd', '\ud83d'])
      expect(isReadableId(`inv-7${sign}`), JSON.stringify(sign)).to.equal(false);
  });
});
