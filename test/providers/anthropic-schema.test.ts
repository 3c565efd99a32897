// Schemas that an answer or a call of a messages upstream must conform to: what the vendor refuses is mended.
import { expect } from 'chai';
import type { JsonObject, TextCall } from '../../lib/upstream/contract/provider.ts';
import plugin from '../../providers/anthropic/index.ts';
import { HELLO, useVendor } from '../../testkit/vendor.ts';

const ORIGIN = 'https://messages.example';
const ANSWER = `data: ${JSON.stringify({ type: 'message', content: 'Hi', stop_reason: 'end_turn' })}\n\n`;

describe('anthropic: schemas', () => {
  const vendor = useVendor(plugin, ORIGIN, { baseUrl: ORIGIN, apiKey: 'k1' });

  const ask = async (call: Partial<TextCall>) =>
    (await vendor.tell(vendor.open(), { ...HELLO, model: 'm', ...call }, ANSWER)).sent.body as JsonObject;

  async function askFor(schema: JsonObject): Promise<unknown> {
    const { output_config: config } = await ask({ format: { type: 'json-schema', name: 'place', schema } });
    return (config as { format: { schema: unknown } }).format.schema;
  }

  it('close every object', async () => {
    const open = { type: 'object', properties: { at: { type: ['object', 'null'], properties: {} } } };
    const place = { properties: { minimum: { type: 'string', enum: ['maximum'] } }, additionalProperties: true };
    expect(
      await askFor({ ...open, required: ['at'], $defs: { place }, items: [place], anyOf: [open, true] }),
    ).to.deep.equal({
      type: 'object',
      properties: { at: { type: ['object', 'null'], properties: {}, additionalProperties: false } },
      required: ['at'],
      $defs: { place: { ...place, additionalProperties: false } },
      items: [{ ...place, additionalProperties: false }],
      anyOf: [
        {
          type: 'object',
          properties: { at: { type: ['object', 'null'], properties: {}, additionalProperties: false } },
          additionalProperties: false,
        },
        true,
      ],
      additionalProperties: false,
    });
  });

  it('say limits that the vendor does not know in words', async () => {
    expect(
      await askFor({ type: 'integer', description: 'How many.', minimum: 1, maximum: 5, default: 2 }),
    ).to.deep.equal({ type: 'integer', description: 'How many.\n\n{minimum: 1, maximum: 5}', default: 2 });
    const some = (least: number) => ({ type: 'array', items: { type: 'string', format: 'uuid' }, minItems: least });
    expect(await askFor(some(1))).to.deep.equal(some(1));
    expect(await askFor({ ...some(8), items: { type: 'string', format: 'phone', maxLength: 9 } })).to.deep.equal({
      type: 'array',
      items: { type: 'string', description: '{format: "phone", maxLength: 9}' },
      description: '{minItems: 8}',
    });
  });

  it('have alternatives under the name that the vendor knows', async () => {
    const [one, other] = [{ type: 'string' }, { type: 'null' }];
    expect(await askFor({ oneOf: [one, other] })).to.deep.equal({ anyOf: [one, other] });
  });

  it('are mended of strict tools, and those of others stay as they are', async () => {
    const schema = { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } };
    const list = [
      { name: 'strictly', schema, strict: true },
      { name: 'loosely', schema, strict: false },
      { name: 'freely', schema },
    ];
    const { tools } = await ask({ tools: { list } });
    const closed = {
      type: 'object',
      properties: { n: { type: 'integer', description: '{minimum: 1}' } },
      additionalProperties: false,
    };
    expect((tools as { input_schema: unknown }[]).map((tool) => tool.input_schema)).to.deep.equal([
      closed,
      schema,
      schema,
    ]);
    expect((tools as { strict?: boolean }[]).map((tool) => tool.strict)).to.deep.equal([true, false, undefined]);
  });

  const object = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
    type: 'object',
    properties,
    required,
    additionalProperties: false,
  });
  const many = (count: number, value: unknown): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, value]));
  const text = { type: 'string' };
  const optional = (count: number) => object(many(count, text));
  const { required: _none, ...unsaid } = optional(25);
  const unions = (count: number, value: unknown) => object(many(count, value), Object.keys(many(count, value)));
  const nullable = { anyOf: [text, { type: 'null' }] };
  const several = { type: ['string', 'null'] };

  const sets: readonly (readonly [
    what: string,
    schemas: readonly JsonObject[],
    isStrict: boolean,
    answer?: JsonObject,
  ])[] = [
    ['twenty tools', Array.from({ length: 20 }, () => object({})), true],
    ['twenty-one tools', Array.from({ length: 21 }, () => object({})), false],
    ['24 optional properties', [optional(12), optional(12)], true],
    ['25 optional properties', [optional(12), optional(13)], false],
    ['25 optional properties within', [object({ list: { type: 'array', items: optional(25) } }, ['list'])], false],
    ['16 properties of several types', [unions(8, nullable), unions(8, several)], true],
    ['17 properties of several types', [unions(8, nullable), unions(9, several)], false],
    ['17 of which the answer has some', [unions(8, nullable)], false, unions(9, several)],
    ['25 properties of which none is said to be required', [unsaid], false],
    ['25 optional properties of a definition', [{ ...object({}), $defs: { a: optional(25) } }], false],
    ['25 optional properties of a part', [{ ...object({}), allOf: [optional(25)] }], false],
    ['17 properties of one type or another', [unions(17, { oneOf: [text, { type: 'null' }] })], false],
    ['a few, and an answer with a few', [unions(8, nullable)], true, unions(8, several)],
  ];
  for (const [what, schemas, isStrict, answer] of sets) {
    it(`are those of ${isStrict ? 'strict' : 'loose'} tools: ${what}`, async () => {
      const list = schemas.map((schema, at) => ({ name: `t${at}`, schema, strict: true }));
      const format = answer && ({ type: 'json-schema', name: 'answer', schema: answer } as const);
      const { tools } = await ask({ tools: { list }, ...(format && { format }) });
      const sent = schemas.map((input_schema, at) => ({
        name: `t${at}`,
        input_schema,
        ...(isStrict && { strict: true }),
      }));
      expect(tools).to.deep.equal(sent);
    });
  }
});
