// Schemas of functions and answers for Gemini, which refuses descriptions beside references.
import { expect } from 'chai';
import type { JsonObject, TextCall } from '../../lib/upstream/contract/provider.ts';
import plugin from '../../providers/gemini/index.ts';
import { HELLO, useVendor } from '../../testkit/vendor.ts';

const ORIGIN = 'https://generate.example';
const ANSWER = 'data: {"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}\n\n';

const $ref = '#/$defs/Place';

describe('gemini: schemas', () => {
  const vendor = useVendor(plugin, ORIGIN, { baseUrl: `${ORIGIN}/v1beta`, apiKey: 'k1' });

  const ask = async (call: Partial<TextCall>) =>
    (await vendor.tell(vendor.open(), { ...HELLO, model: 'gemini-x', ...call }, ANSWER)).sent.body;

  const rows: readonly (readonly [what: string, schema: JsonObject, sent: JsonObject])[] = [
    ['a reference alone stays', { $ref }, { $ref }],
    ['names with a sign stay beside it', { $ref, $anchor: 'a' }, { $ref, $anchor: 'a' }],
    ['a description stands beside an alternative', { $ref, description: 'd' }, { description: 'd', anyOf: [{ $ref }] }],
    ['beside alternatives it goes', { $ref, title: 't', anyOf: [{ type: 'null' }] }, { $ref }],
    [
      'one of all becomes the alternative',
      { allOf: [{ $ref }], description: 'd' },
      { description: 'd', anyOf: [{ $ref }] },
    ],
    ['several stay', { allOf: [{ $ref }, { type: 'object' }] }, { allOf: [{ $ref }, { type: 'object' }] }],
    [
      'so it is in lists, alternatives and objects',
      {
        type: 'array',
        items: { $ref, title: 'a' },
        prefixItems: [{ $ref, title: 'b' }],
        additionalProperties: { $ref, title: 'c' },
        anyOf: [{ type: 'null' }, { $ref, title: 'd' }],
      },
      {
        type: 'array',
        items: { title: 'a', anyOf: [{ $ref }] },
        prefixItems: [{ title: 'b', anyOf: [{ $ref }] }],
        additionalProperties: { title: 'c', anyOf: [{ $ref }] },
        anyOf: [{ type: 'null' }, { title: 'd', anyOf: [{ $ref }] }],
      },
    ],
    [
      'so it is in older definitions, and in one of several',
      { definitions: { a: { $ref, title: 'a' } }, oneOf: [{ $ref, title: 'b' }] },
      { definitions: { a: { title: 'a', anyOf: [{ $ref }] } }, oneOf: [{ title: 'b', anyOf: [{ $ref }] }] },
    ],
    [
      'one of all stays beside alternatives',
      { allOf: [{ $ref }], anyOf: [{ type: 'null' }] },
      { allOf: [{ $ref }], anyOf: [{ type: 'null' }] },
    ],
    [
      'a property may have any name',
      { type: 'object', properties: { $ref: { type: 'string' }, allOf: { type: 'array', items: {} } } },
      { type: 'object', properties: { $ref: { type: 'string' }, allOf: { type: 'array', items: {} } } },
    ],
  ];
  for (const [what, schema, sent] of rows) {
    it(`${what}, in a function and in an answer`, async () => {
      const within = (value: JsonObject): JsonObject => ({
        $defs: { Place: { type: 'object', properties: { next: value } } },
        type: 'object',
        properties: { at: value },
      });
      const called = await ask({ tools: { list: [{ name: 'look', schema: within(schema) }] } });
      expect(called.tools).to.deep.equal([
        { functionDeclarations: [{ name: 'look', parametersJsonSchema: within(sent) }] },
      ]);
      const shaped = await ask({ format: { type: 'json-schema', name: 'place', schema: within(schema) } });
      expect(shaped.generationConfig).to.deep.include({ responseJsonSchema: within(sent) });
    });
  }
});
