// JSON in several lines: read once it is closed, and only then.
import { expect } from 'chai';
import { JsonScan } from '../../../lib/upstream/host/json-scan.ts';
import { INCOMPLETE, MultilineJson, NotJson } from '../../../lib/upstream/host/multiline-json.ts';

describe('JSON in several lines', () => {
  /** What each further line gives. */
  const read = (first: string, ...lines: readonly string[]) => {
    const json = new MultilineJson(first, 100);
    return lines.map((line) => json.add(line));
  };

  it('is a value with the line that closes it, and none with others', () => {
    const lines = ['"a": [', '1]', '', '}', '', ' '];
    expect(read('{', ...lines)).to.deep.equal([INCOMPLETE, INCOMPLETE, INCOMPLETE, { a: [1] }, INCOMPLETE, INCOMPLETE]);
  });

  it('is none where a line breaks a text or a number', () => {
    expect(read('{"a":"x', 'y"}')).to.deep.equal([INCOMPLETE]);
    expect(read('{"a":1', '2}')).to.deep.equal([INCOMPLETE]);
  });

  it('is refused once it is too long, unless it is closed', () => {
    const long = 'x'.repeat(100);
    expect(() => read('{"a":', `"${long}"`)).to.throw(NotJson);
    expect(read('{"a":', `"${long}"}`)).to.deep.equal([{ a: long }]);
  });
});

describe('a scan of JSON', () => {
  it('stays complete, whatever follows', () => {
    const scan = new JsonScan();
    const complete = ['{"a":"}', '\\"}"', '}', '[{', '}'].map((piece) => {
      scan.read(piece);
      return scan.isComplete;
    });
    expect(complete).to.deep.equal([false, false, true, true, true]);
  });
});
