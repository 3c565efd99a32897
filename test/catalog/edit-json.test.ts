// Edits of one value in a JSON file: exactly that value changes.
import { expect } from 'chai';
import fc from 'fast-check';
import stripJsonComments from 'strip-json-comments';
import { setJsonValue } from '../../lib/catalog/edit-json.ts';

const set = (text: string, path: string, value: unknown = 1) =>
  setJsonValue(text, path.split('.'), () => JSON.stringify(value));

describe('an edit of a JSON file', () => {
  const rows: readonly [name: string, before: string, path: string, after: string][] = [
    ['replaces a value', '{ "a": 0, "b": 2 }', 'a', '{ "a": 1, "b": 2 }'],
    ['replaces an object', '{ "a": { "x": [1, { "y": "}" }] } }', 'a', '{ "a": 1 }'],
    ['replaces a value within', '{\n  "a": {\n    "b": "old"\n  }\n}\n', 'a.b', '{\n  "a": {\n    "b": 1\n  }\n}\n'],
    ['replaces a last number', '{"a":-1.5e3}', 'a', '{"a":1}'],
    ['replaces a word', '{"a":true,"b":null}', 'b', '{"a":true,"b":1}'],
    ['adds a member', '{\n  "a": 1\n}\n', 'b', '{\n  "a": 1,\n  "b": 1\n}\n'],
    ['adds a member with the indentation of the others', '{\n    "a": 1\n}', 'b', '{\n    "a": 1,\n    "b": 1\n}'],
    ['adds a member to an empty object', '{}\n', 'a', '{\n  "a": 1\n}\n'],
    ['adds all objects on the way', '{}', 'a.b', '{\n  "a": {\n    "b": 1\n  }\n}'],
    ['adds a member within', '{\n  "a": {\n    "x": 0\n  }\n}', 'a.b', '{\n  "a": {\n    "x": 0,\n    "b": 1\n  }\n}'],
    ['keeps comments', '{ // "a": 5\n  "a": 0 // five\n}', 'a', '{ // "a": 5\n  "a": 1 // five\n}'],
    [
      'keeps comments behind the last member',
      '{\n  "a": 0 // "b": 3, }\n  /* } */\n}',
      'b',
      '{\n  "a": 0,\n  "b": 1 // "b": 3, }\n  /* } */\n}',
    ],
    ['finds a key with quotes', '{ "x\\"}": 0, "a": 0 }', 'a', '{ "x\\"}": 0, "a": 1 }'],
    ['is not misled by a text', '{ "x": "\\\\\\"a\\": {", "a": 0 }', 'a', '{ "x": "\\\\\\"a\\": {", "a": 1 }'],
  ];
  for (const [name, before, path, after] of rows) it(name, () => expect(set(before, path)).to.equal(after));

  it('keeps dots of a name', () => {
    const text = setJsonValue('{}', ['costs', 'one', 'gpt-6.1/x "y"'], (indent) => `"at ${indent}"`);
    expect(JSON.parse(text)).to.deep.equal({ costs: { one: { 'gpt-6.1/x "y"': 'at 6' } } });
  });

  it('changes nothing but that value, in any JSON', () => {
    const key = fc.constantFrom('a', 'b', 'c', '{', '"', '//');
    const value = fc.jsonValue({ maxDepth: 3 });
    const object = fc.dictionary(key, fc.oneof(value, fc.dictionary(key, value)), { maxKeys: 4 });
    fc.assert(
      fc.property(object, key, key, value, fc.constantFrom(0, 1, 4), (content, first, second, put, space) => {
        const isNested = content[first] === undefined || isObject(content[first]);
        const path = isNested ? [first, second] : [first];
        const text = JSON.stringify(content, null, space);
        const edited = setJsonValue(text, path, () => JSON.stringify(put));
        const wanted = structuredClone(content) as Record<string, unknown>;
        if (isNested) wanted[first] = { ...(wanted[first] as object), [second]: put };
        else wanted[first] = put;
        expect(JSON.parse(stripJsonComments(edited))).to.deep.equal(JSON.parse(JSON.stringify(wanted)));
      }),
      { numRuns: 500 },
    );
  });
});

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
