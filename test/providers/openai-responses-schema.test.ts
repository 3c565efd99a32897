// Schemas of answers at a responses upstream, which takes what does not say otherwise for a strict one.
import { expect } from 'chai';
import type { JsonObject, JsonSchemaFormat } from '../../lib/upstream/contract/provider.ts';
import plugin from '../../providers/openai-responses/index.ts';
import { HELLO, useVendor } from '../../testkit/vendor.ts';

const ORIGIN = 'https://responses.example';
const ANSWER = `data: ${JSON.stringify({ type: 'response.completed', response: { status: 'completed' } })}\n\n`;

const closed = (properties: JsonObject): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

describe('openai-responses: schemas', () => {
  const vendor = useVendor(plugin, ORIGIN, { baseUrl: ORIGIN });

  async function askFor(schema: JsonObject, more: Partial<JsonSchemaFormat> = {}): Promise<unknown> {
    const format: JsonSchemaFormat = { type: 'json-schema', name: 'place', schema, ...more };
    const { body } = (await vendor.tell(vendor.open(), { ...HELLO, model: 'm', format }, ANSWER)).sent;
    return (body.text as JsonObject).format;
  }

  const city = closed({ name: { type: 'string' }, near: { type: 'array', items: { $ref: '#/$defs/city' } } });
  const strict: readonly JsonObject[] = [
    city,
    { ...closed({ at: { $ref: '#/$defs/city' }, or: { anyOf: [city, { type: 'null' }] } }), $defs: { city } },
    closed({ at: { ...city, type: ['object', 'null'] }, oneOf: { type: 'integer', minimum: 1 } }),
    closed({ default: { type: 'string', format: 'date-time' }, id: { type: 'string', enum: ['a'] } }),
    closed({
      ...Object.fromEntries(
        ['time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'].map((format) => [
          format,
          { type: 'string', format },
        ]),
      ),
    }),
  ];
  for (const schema of strict) {
    it(`leave it to the vendor where they may be strict: ${JSON.stringify(schema).slice(0, 60)}`, async () => {
      expect(await askFor(schema)).to.deep.equal({ type: 'json_schema', name: 'place', schema });
    });
  }

  const open = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a'] };
  const loose: readonly (readonly [what: string, schema: JsonObject])[] = [
    ['an open object', { type: 'object' }],
    ['an object that any property may join', { ...closed({}), additionalProperties: { type: 'string' } }],
    ['a property that may be left out', { ...open, additionalProperties: false }],
    ['one of a closed object without a list of them', { properties: { a: {} }, additionalProperties: false }],
    ['an open object within', closed({ at: open })],
    ['an open object in a list', closed({ at: { type: 'array', items: open } })],
    ['an open alternative', closed({ at: { anyOf: [open, { type: 'null' }] } })],
    ['an open definition', { ...closed({ at: { $ref: '#/$defs/open' } }), $defs: { open } }],
    ['alternatives of which one is right', closed({ at: { oneOf: [{ type: 'string' }, { type: 'null' }] } })],
    ['a description beside a reference', closed({ at: { $ref: '#/$defs/city', description: 'Where.' } })],
    ['anything at all', closed({ at: true })],
    ['a value of any type', closed({ at: { description: 'Anything.' } })],
    ['a value that is there by default', closed({ at: { type: 'string', default: 'a' } })],
    ['different items', closed({ at: { type: 'array', items: { type: 'string' }, uniqueItems: true } })],
    ['a form of text that the vendor does not know', closed({ at: { type: 'string', format: 'uri' } })],
    ['a list instead of an object', { type: 'array', items: city }],
    ['an open definition of the older name', { ...closed({}), definitions: { open } }],
    ['an open object or nothing', closed({ at: { type: ['object', 'null'] } })],
    ['properties of what may be no object', closed({ at: { anyOf: [{ type: 'null' }], properties: {} } })],
    ['an object of several kinds', { ...city, anyOf: [city] }],
    ['several kinds of answers', { anyOf: [city, closed({ none: { type: 'boolean' } })] }],
  ];
  for (const [what, schema] of loose) {
    it(`are not strict with ${what}`, async () => {
      expect(await askFor(schema)).to.deep.equal({ type: 'json_schema', name: 'place', schema, strict: false });
    });
  }

  it('are strict or not as the client says', async () => {
    expect(await askFor(open, { strict: true })).to.include({ strict: true });
    expect(await askFor(city, { strict: false })).to.include({ strict: false });
  });
});
