import { expect } from 'chai';
import { replaceLoneSurrogates } from '../../lib/base/well-formed.ts';
import { itTimed } from '../../testkit/timed.ts';

describe('replaceLoneSurrogates', () => {
  for (const [name, json, expected] of [
    ['a first half', '"a\\ud83d b"', 'a\ufffd b'],
    ['a second half', '"\\uDE00"', '\ufffd'],
    ['two first halves', '"\\ud83d\\ud83d"', '\ufffd\ufffd'],
    ['halves in the wrong order', '"\\ude00\\ud83d"', '\ufffd\ufffd'],
    ['a half before a pair', '"\\ud83d\\ud83d\\ude00"', '\ufffd\u{1f600}'],
    ['a pair', '"\\ud83d\\ude00"', '\u{1f600}'],
    ['an escaped backslash before what looks like a half', '"\\\\ud83d"', '\\ud83d'],
    ['a half behind an escaped backslash', '"\\\\\\ud83d"', '\\\ufffd'],
    ['what looks like the second half of a pair', '"\\ud83d\\\\ude00"', '\ufffd\\ude00'],
    ['other escapes', '"\\n\\u0041\\ud7ff\\ue000"', '\nA\ud7ff\ue000'],
  ] as const) {
    it(`reads ${name}`, () => {
      expect(JSON.parse(replaceLoneSurrogates(json))).to.equal(expected);
      expect(replaceLoneSurrogates(json)).to.have.length(json.length);
    });
  }

  it('replaces a half that is not escaped', () => {
    expect(replaceLoneSurrogates('{"a":"\ud83d"}')).to.equal('{"a":"\ufffd"}');
  });

  it('replaces each of many', () => {
    const json = `"${'a\\ud83d\\ud83d\\ude00'.repeat(20_000)}"`;
    expect(JSON.parse(replaceLoneSurrogates(json))).to.equal('a\ufffd\u{1f600}'.repeat(20_000));
  });

  it('leaves what is not JSON as wrong as it is', () => {
    for (const json of ['"\\ud8"', '"\\ud83', '"\\ud83d\\ude']) {
      expect(() => JSON.parse(replaceLoneSurrogates(json))).to.throw(SyntaxError);
    }
  });

  itTimed('is quick for other escapes, such as those that Python writes for Cyrillic letters', () => {
    const json = `"${'\\u0430'.repeat(4_000_000)}\\ud83d\\ude00"`;
    const start = performance.now();
    replaceLoneSurrogates(json);
    expect(performance.now() - start).to.be.below(800);
  }).timeout(30_000);
});
