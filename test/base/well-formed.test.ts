import { expect } from 'chai';
import { replaceLoneSurrogates } from '../../lib/base/well-formed.ts';

describe('replaceLoneSurrogates', () => {
  for (const [name, json, expected] of [
    ['a first half', '"a\\ud83d b"', 'a\ufffd b'],
    ['a second half', '"\\uDE00"', '\ufffd'],
    ['two first halves', '"\\ud83d\\ud83d"', '\ufffd\ufffd'],
    ['halves in the wrong order', '"\\ude00\\ud83d"', '\ufffd\ufffd'],
    ['a half before a pair', '"\\ud83d\\ud83d\\ude00"', '\ufffd\u{1f600}'],
    ['a pair', '"\\ud83d\\ude00"', '\u{1f600}'],
    ['an escaped backslash before what looks like a half', '"\\\\ud83d"', '\\ud83d'],
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
});
