import { expect } from 'chai';
import { readArguments, writeArguments } from '../../lib/stream/arguments.ts';

describe('arguments of tool calls', () => {
  it('are the object that their text is, and none at all an empty one', () => {
    expect(readArguments('{"a":{"b":[1]}}')).to.deep.equal({ a: { b: [1] } });
    for (const text of ['', ' \n', '[]', '[ ]']) expect(readArguments(text)).to.deep.equal({});
  });

  it('that are no object are wrapped, and come back as they were', () => {
    for (const text of ['{"a":', 'null', '[{}]', '[1]', '"text"', '7']) {
      const wrapped = readArguments(text);
      expect(wrapped).to.deep.equal({ INVALID_JSON: text });
      expect(writeArguments(wrapped)).to.equal(text);
    }
  });

  it('are written as JSON otherwise, whatever they are called', () => {
    for (const input of [{}, { a: 1 }, { INVALID_JSON: 7 }, { INVALID_JSON: '{', more: 1 }])
      expect(writeArguments(input)).to.equal(JSON.stringify(input));
  });
});
