import { expect } from 'chai';
import fc from 'fast-check';
import { escapeText } from '../../../lib/api/dialects/escape.ts';
import { ANY_CHARACTER } from '../../../testkit/code-points.ts';

describe('text in JSON', () => {
  const same = (text: string) => {
    expect(`"${escapeText(text)}"`).to.equal(JSON.stringify(text));
  };

  it('is what JSON.stringify makes of it, whatever its characters', () => {
    for (let code = 0; code < 0x10000; code += 1) same(`a${String.fromCharCode(code)}`);
    for (const text of ['', 'token ', 'a "quote"', 'a\\', '😀', '\ud83d', '\ude00a', 'слово']) same(text);
  });

  it('is the same text if nothing needs an escape, however long it is', () => {
    fc.assert(fc.property(fc.string({ unit: ANY_CHARACTER, maxLength: 60 }), same));
    same('x'.repeat(1000));
  });
});
