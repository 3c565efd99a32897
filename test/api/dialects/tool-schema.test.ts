// What becomes of a tool's schema that some vendors refuse.
import { expect } from 'chai';
import { mendToolSchema } from '../../../lib/api/dialects/tool-schema.ts';

const text = { type: 'string' };
const object = (properties: object, required?: readonly string[]) => ({
  type: 'object',
  properties,
  ...(required && { required }),
});

type Row = readonly [what: string, given: object, want: object];

const ROWS: readonly Row[] = [
  ['gets its type and its properties', {}, object({})],
  ['gets its type beside its properties', { properties: { a: text } }, object({ a: text })],
  ['is an object only', { type: ['object', 'null'] }, object({})],
  ['says of what a list is', object({ a: { type: 'array' } }), object({ a: { type: 'array', items: {} } })],
  [
    'says of what a list is that may be absent',
    object({ a: { type: ['array', 'null'], minItems: 1 } }),
    object({ a: { type: ['array', 'null'], minItems: 1, items: {} } }),
  ],
  [
    'names the places of a list as newer drafts do',
    object({ a: { type: 'array', items: [text, { type: 'array' }], maxItems: 2 } }),
    object({ a: { type: 'array', maxItems: 2, prefixItems: [text, { type: 'array', items: {} }], items: {} } }),
  ],
  [
    'keeps what follows the places of a list',
    object({ a: { items: [text], additionalItems: { type: 'number' } } }),
    object({ a: { prefixItems: [text], items: { type: 'number' } } }),
  ],
  [
    'says anything and nothing as objects',
    object({ a: true, b: { items: false } }),
    object({ a: {}, b: { items: { not: {} } } }),
  ],
  [
    'leaves out what is no schema',
    object({ a: { anyOf: [text, 'null'] }, type: 'object' }),
    object({ a: { anyOf: [text] } }),
  ],
  [
    'leaves out keywords that say null, which a value may be',
    object({ a: { type: 'array', items: null, enum: null, default: null }, b: { const: null } }),
    object({ a: { type: 'array', items: {}, default: null }, b: { const: null } }),
  ],
  [
    'leaves out properties that say themselves that they are required',
    object({ a: { ...text, required: true }, b: { ...text, required: false } }, ['a']),
    object({ a: text, b: text }, ['a']),
  ],
  [
    'takes an empty list for an object without anything in it',
    object({ a: { type: 'object', properties: [] }, b: { type: 'array', items: [] }, c: { anyOf: [], enum: [] } }),
    object({ a: { type: 'object' }, b: { type: 'array', items: {} }, c: {} }),
  ],
  [
    'has types of JSON only',
    object({
      a: { type: 'mixed' },
      b: { type: 'STRING' },
      c: { type: ['int', 'null'] },
      d: { type: ['Null', 'number'] },
    }),
    object({ a: {}, b: text, c: {}, d: { type: ['null', 'number'] } }),
  ],
  [
    'has no patterns that some vendors cannot read',
    object({
      ahead: { pattern: '^(?!undefined$|null$)' },
      behind: { propertyNames: { pattern: '(?<=a)b' } },
      back: { pattern: '(a)\\1' },
      nested: { pattern: '^[a[\\]|@]+$' },
      known: { pattern: '^(?:[^\\[\\]]|\\(\\?=|(?<year>\\d{4})-[\\w.]+)$' },
    }),
    object({
      ahead: {},
      behind: { propertyNames: {} },
      back: {},
      nested: {},
      known: { pattern: '^(?:[^\\[\\]]|\\(\\?=|(?<year>\\d{4})-[\\w.]+)$' },
    }),
  ],
  [
    'has no limits that some cannot count to',
    object({ a: { minimum: -(2 ** 63), maximum: 2 ** 63 }, b: { maximum: 2 ** 53 - 1, exclusiveMaximum: 2 ** 63 } }),
    object({ a: {}, b: { maximum: 2 ** 53 - 1 } }),
  ],
  [
    'requires only what is a property, as far as it names its properties',
    object({ a: object({ x: text }, ['x', 'y']), b: { type: 'object', required: ['z'] } }, ['a', 'c']),
    object({ a: object({ x: text }, ['x']), b: { type: 'object' } }, ['a']),
  ],
  [
    'has no alternatives within that only differ in what they require',
    object({ a: { ...object({ x: text, y: text }), anyOf: [{ required: ['x'] }, { required: ['y'], title: 'Y' }] } }),
    object({ a: object({ x: text, y: text }) }),
  ],
  [
    'says of what type the values are that there are to choose from',
    object({ a: { enum: ['x', 'y'] }, b: { enum: [1, null] }, c: { enum: [[]] } }),
    object({
      a: { type: 'string', enum: ['x', 'y'] },
      b: { type: ['number', 'null'], enum: [1, null] },
      c: { enum: [[]] },
    }),
  ],
  [
    'lists nothing twice',
    object({ a: { ...text, enum: ['x', 'y', 'x'] } }, ['a', 'a']),
    object({ a: { ...text, enum: ['x', 'y'] } }, ['a']),
  ],
  [
    'has limits that are exclusive as newer drafts do',
    object({
      a: { minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
      b: { exclusiveMaximum: true },
    }),
    object({ a: { minimum: 0, exclusiveMinimum: 0, maximum: 9 }, b: {} }),
  ],
  [
    'has the properties of all its alternatives, and requires what all of them do',
    { anyOf: [object({ a: text, b: text }, ['a', 'b']), object({ a: text, c: text }, ['a', 'c'])] },
    object({ a: text, b: text, c: text }, ['a']),
  ],
  [
    'keeps a property as alternatives tell it differently',
    { type: 'object', oneOf: [object({ kind: { const: 'x' } }, ['kind']), object({ kind: { const: 'y' } }, ['kind'])] },
    object({ kind: { anyOf: [{ const: 'x' }, { const: 'y' }] } }, ['kind']),
  ],
  [
    'leaves out alternatives that only differ in what they require',
    { ...object({ a: text, b: text }), description: 'Either.', anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    { ...object({ a: text, b: text }), description: 'Either.' },
  ],
  [
    'requires what any part of a whole does',
    { ...object({ a: text }, ['a']), allOf: [object({ b: text }, ['b']), { oneOf: [object({ c: text })] }] },
    object({ a: text, b: text, c: text }, ['a', 'b']),
  ],
  [
    'is not one that is no object',
    { anyOf: [object({ a: text }, ['a']), { type: 'null' }, text] },
    object({ a: text }, ['a']),
  ],
  [
    'is what it refers to',
    { $ref: '#/$defs/args', $defs: { args: object({ a: { $ref: '#/$defs/b' } }, ['a']), b: text } },
    {
      $defs: { args: object({ a: { $ref: '#/$defs/b' } }, ['a']), b: text },
      ...object({ a: { $ref: '#/$defs/b' } }, ['a']),
    },
  ],
  [
    'has definitions by their newer name',
    {
      ...object({ a: { items: { $ref: '#/definitions/x' } } }),
      definitions: { x: { anyOf: [text, { $ref: '#/definitions/x' }] } },
    },
    { ...object({ a: { items: { $ref: '#/$defs/x' } } }), $defs: { x: { anyOf: [text, { $ref: '#/$defs/x' }] } } },
  ],
  [
    'ends where definitions name each other',
    { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, object({ x: text })] } } },
    { $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, object({ x: text })] } }, ...object({ x: text }) },
  ],
];

describe('the schema of a tool', () => {
  for (const [what, given, want] of ROWS) {
    it(what, () => expect(mendToolSchema({ ...given })).to.deep.equal(want));
  }

  it('stays as it is otherwise, alternatives within it too', () => {
    const schema = object({
      a: { anyOf: [text, { type: 'array', items: text }] },
      items: { type: 'object', properties: { type: text, required: { type: 'boolean' } }, default: { type: 'array' } },
      enum: { type: 'number', exclusiveMinimum: 0, enum: [1, 2, null], additionalProperties: false },
    });
    expect(mendToolSchema(schema)).to.equal(schema);
  });

  it('is read also if its references never seem to end', () => {
    const names = Array.from({ length: 10_000 }, (_, at) => at);
    const $defs = Object.fromEntries(
      names.map((at) => [at, { $ref: `#/$defs/${at + 1}`, properties: { [at]: text } }]),
    );
    const { properties } = mendToolSchema({ $ref: '#/$defs/0', $defs });
    expect(properties).to.have.property('0').and.equal(text);
    expect(Object.keys(properties as object)).to.have.length(200);
  });
});
