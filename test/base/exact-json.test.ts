import { expect } from 'chai';
import { parseExactJson, parseJsonWithLongIds, renameFields } from '../../lib/base/exact-json.ts';

const write = (text: string) => JSON.stringify(parseExactJson(text));

describe('JSON with long ids', () => {
  it('has whole numbers that a double cannot hold as text, and everything else as it is', () => {
    for (const [text, value] of [
      ['{"id":1954321098765432101,"n":1}', { id: '1954321098765432101', n: 1 }],
      [
        '[-1954321098765432101,9007199254740991,9007199254740993]',
        ['-1954321098765432101', 9007199254740991, '9007199254740993'],
      ],
      [
        '{"pi":3.14159265358979323846,"huge":1e400,"text":"1954321098765432101"}',
        { pi: Math.PI, huge: Infinity, text: '1954321098765432101' },
      ],
      [
        `{"long":"${'1'.repeat(1024 * 1024)}","id":1954321098765432101}`,
        { long: '1'.repeat(1024 * 1024), id: Number('1954321098765432101') },
      ],
    ] as const)
      expect(parseJsonWithLongIds(text)).to.deep.equal(value);
    expect(() => parseJsonWithLongIds('{"id":1954321098765432101')).to.throw(SyntaxError);
  });
});

describe('JSON with exact numbers', () => {
  it('is written with every digit that was read', () => {
    for (const text of [
      '{"id":2512292042121000001}',
      '{"id":-2512292042121000001,"deep":{"list":[1,2512292042121000003,{"a":12345678901234567890123}]}}',
      '[2512292042121000001,"2512292042121000001"]',
      '{"pi":3.14159265358979323846264338327950288,"one":1.0,"huge":1e400,"tiny":1E-400}',
      '{"__proto__":2512292042121000001,"a":1}',
      '{"a":2512292042121000001,"a b":[[2512292042121000001]],"":2512292042121000001}',
    ])
      expect(write(text)).to.equal(text);
  });

  it('reads as plain JSON does', () => {
    for (const text of ['{"id":2512292042121000001,"a":[1.5,null,true,"x"]}', '{"a":1}', '2512292042121000001', '"x"'])
      expect(parseExactJson(text)).to.deep.equal(JSON.parse(text));
    expect(() => parseExactJson('{"id":2512292042121000001')).to.throw(SyntaxError);
  });

  it('is seen by nothing but writing', () => {
    const value = parseExactJson('{"id":2512292042121000001}') as { id: number };
    expect(Object.keys(value)).to.deep.equal(['id']);
    expect(value.id).to.equal(Number('2512292042121000001'));
    expect({ ...value }).to.deep.equal({ id: value.id });
  });

  it('is written inside other values, and a number that was replaced is written as it is', () => {
    const value = parseExactJson('{"id":2512292042121000001,"b":2512292042121000001}') as { id: number };
    value.id = 7;
    expect(JSON.stringify({ input: value })).to.equal('{"input":{"id":7,"b":2512292042121000001}}');
  });

  it('keeps a field named toJSON', () => {
    expect(write('{"toJSON":1,"id":"2512292042121000001"}')).to.equal('{"toJSON":1,"id":"2512292042121000001"}');
    expect(write('{"id":2512292042121000001,"toJSON":1}')).to.contain('"toJSON":1');
  });

  it('keeps digits and order when fields get other names', () => {
    const text = '{"a":2512292042121000001,"b":{"a":2512292042121000001},"c":2512292042121000003}';
    const value = parseExactJson(text) as Record<string, unknown>;
    const renamed = renameFields(value, (name) => (name === 'a' ? 'id' : name));
    expect(JSON.stringify(renamed)).to.equal(text.replace('a', 'id'));
    expect(JSON.stringify(renameFields({ a: 1, b: 2 }, (name) => `${name}${name}`))).to.equal('{"aa":1,"bb":2}');
  });
});
