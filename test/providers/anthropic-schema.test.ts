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
  });
});
