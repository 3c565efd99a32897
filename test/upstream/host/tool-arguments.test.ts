import { expect } from 'chai';
import { ToolArguments } from '../../../lib/upstream/host/tool-arguments.ts';

/** What is passed on of pieces; one in a list is the whole. */
function join(pieces: readonly (string | readonly [string])[]): string {
  const args = new ToolArguments();
  const fresh = pieces.map((piece) => (typeof piece === 'string' ? args.take(piece) : args.takeWhole(piece[0])));
  return fresh.join('') + args.end();
}

describe('arguments of a call', () => {
  const whole = '{"a":{"b":[1,"}"]},"c":"\\"{"}';
  const rows: readonly (readonly [what: string, pieces: readonly (string | readonly [string])[], json?: string])[] = [
    ['in one piece', [whole]],
    ['in a piece for each character', [...whole]],
    ['again at the end', [whole.slice(0, 9), whole.slice(9), whole]],
    ['twice', [whole, whole]],
    ['with everything so far', [whole.slice(0, 3), whole.slice(0, 9), whole.slice(0, 20), whole]],
    ['with everything so far, some of it twice', [whole.slice(0, 9), whole.slice(0, 9), whole, whole]],
    ['behind a placeholder', ['{}', whole]],
    ['behind a placeholder, in pieces', ['{ }', whole.slice(0, 9), whole.slice(9)]],
    ['behind a placeholder, with everything so far', ['{}', whole.slice(0, 9), whole]],
    ['as a whole behind pieces', [whole.slice(0, 9), whole.slice(9), [whole]]],
    ['as a whole behind some pieces', [whole.slice(0, 9), [whole]]],
    ['as a whole behind a placeholder', ['{}', [whole]]],
    ['as a whole behind nothing', ['', [whole]]],
    ['as a whole, twice', [[whole], [whole]]],
    ['as a whole that is a word for none', [['null']], '{}'],
    ['as a whole, encoded twice', [[JSON.stringify(whole)]]],
    ['that are an empty object', ['{}'], '{}'],
    ['that are an empty object, again', ['{}', '{}', ['{}']], '{}'],
    ['that are an empty object, then no object', ['{}', ' }'], '{}'],
    ['that are none', ['', ''], ''],
    ['that are a word for none', ['null'], '{}'],
    ['that are a word of Python for none', ['None', ''], '{}'],
    ['that are an empty list, as PHP writes an empty object', ['[]'], '{}'],
    ['that are an empty text, encoded', ['""'], '{}'],
    ['behind an empty list', ['[ ]', whole.slice(0, 9), whole.slice(9)]],
    ['behind an empty text, encoded', ['""', [whole]]],
    ['that are a list', ['[1]'], '[1]'],
    ['that are blank', [' ', '\n'], '{}'],
    ['behind a blank', ['\n', whole.slice(0, 9), whole.slice(9)]],
    ['behind a word for none', ['null', [whole]]],
    ['encoded twice', [JSON.stringify(whole)]],
    ['encoded twice, and again at the end', [JSON.stringify(whole), [JSON.stringify(whole)], whole]],
    ['encoded twice, in a piece for each character', [...JSON.stringify(whole)]],
    ['encoded twice, with a backslash before the end', [...JSON.stringify('{"a":"\\\\"}')], '{"a":"\\\\"}'],
    ['encoded twice behind a placeholder', ['{}', JSON.stringify(whole)]],
    ['encoded twice, then whole', [JSON.stringify(whole).slice(0, 9), [whole]]],
    ['encoded twice, cut', ['"{\\"a'], '"{\\"a'],
    ['that are only a text', ['"a', ' text"'], '"a text"'],
    ['that are a text of what is no object', ['"{a}"'], '"{a}"'],
    ['that are a text of a number', ['"1"'], '"1"'],
    ['whose next pieces are alike', ['{"a":"', 'b', 'b', 'b"}'], '{"a":"bbb"}'],
    ['whose text has brackets alike', ['{"a":"', '{b', '{b', '"}'], '{"a":"{b{b"}'],
    ['whose next piece begins like the first', ['{"', 'a', '":{"', 'a":1}}'], '{"a":{"a":1}}'],
    ['whose text goes on like the first', ['{"', '{":{}}'], '{"{":{}}'],
    ['with everything so far, cut behind a colon', [whole.slice(0, 5), whole.slice(0, 12), whole]],
    ['with everything so far, cut behind a bracket', [whole.slice(0, 11), whole.slice(0, 12), whole]],
    ['with everything so far, cut behind a colon, in two', [whole.slice(0, 5), whole]],
    ['with everything so far, cut behind a colon, again at the end', [whole.slice(0, 5), whole, [whole]]],
    ['with everything so far, cut in a text', [whole.slice(0, 14), whole.slice(0, 15), whole]],
    ['with everything so far, cut for good', ['{"a":', '{"a":{"b'], '{"a":{"b'],
    ['whose next piece is a value like the whole', ['{"a":', '{"a":1}', '}'], '{"a":{"a":1}}'],
    ['whose last piece is a value like the whole', ['{"a":', '{"a":1}}'], '{"a":{"a":1}}'],
    [
      'whose next piece is a value like the whole, as a whole',
      ['{"a":', '{"a":1}', ['{"a":{"a":1}}']],
      '{"a":{"a":1}}',
    ],
    [
      'whose last piece is a value like the whole, as a whole',
      ['{"a":', '{"a":1}}', ['{"a":{"a":1}}']],
      '{"a":{"a":1}}',
    ],
    ['with an object in a list that repeats', ['{"l":[{"a":1}', ',{"a":1}', ']}'], '{"l":[{"a":1},{"a":1}]}'],
  ];
  for (const [what, pieces, json = whole] of rows) {
    it(what, () => expect(join(pieces)).to.equal(json));
  }
});
