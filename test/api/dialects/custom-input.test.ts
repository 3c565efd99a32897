// The input of a custom tool out of the arguments of a function, however these arrive.
import { expect } from 'chai';
import { CustomInput, readCustomInput } from '../../../lib/api/dialects/custom-input.ts';

/** What is passed on of each fragment, and at the end. */
function read(...fragments: readonly string[]): readonly string[] {
  const input = new CustomInput();
  const passed = [...fragments.map((fragment) => input.push(fragment)), input.end()];
  expect(input.text).to.equal(passed.join(''));
  return passed;
}

describe('input of a custom tool', () => {
  it('is passed on as it arrives, but no part of an escape', () => {
    expect(read('{"inp', 'ut": "a', 'b\\', 'n\\u04', '3c', 'c"', '}')).to.deep.equal([
      '',
      'a',
      'b',
      '\n',
      'м',
      'c',
      '',
      '',
    ]);
  });

  it('may have line breaks as they are', () => {
    expect(read('{"input":"a\n', 'b"}')).to.deep.equal(['a\n', 'b', '']);
  });

  it('ends where an escape is none, and is then passed on no more', () => {
    expect(read('{"input":"a', '\\x', 'b"}')).to.deep.equal(['a', '', '', '']);
  });

  it('is the only text of arguments with another name, or the arguments themselves', () => {
    expect(read('{"patch":', '"x"}')).to.deep.equal(['', '', 'x']);
    expect(read('{}')).to.deep.equal(['', '']);
    for (const other of ['{"a":"x","b":"y"}', '{"a":1}', 'x']) expect(readCustomInput(other)).to.equal(other);
  });

  it('is a text alone, or the only one inside the argument', () => {
    expect(read('"a', '\\nb"')).to.deep.equal(['', '', 'a\nb']);
    expect(read('{"input":{"patch":', '"x"}}')).to.deep.equal(['', '', 'x']);
    expect(readCustomInput('{"input":{}}')).to.equal('');
    for (const other of ['"a" b', '"a', '{"input":{"a":"x","b":"y"}}']) {
      expect(readCustomInput(other)).to.equal(other);
    }
  });

  it('is waited for no longer than through some spaces', () => {
    const late = `${' '.repeat(257)}`;
    expect(read(late, '{"input":"a"}')).to.deep.equal(['', '', 'a']);
    expect(read(late.slice(1), '{"input":"a"}')).to.deep.equal(['', 'a', '']);
  });
});
