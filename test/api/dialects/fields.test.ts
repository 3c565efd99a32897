// The check of a field and what the API document says of it are one: both take the same values.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import fc from 'fast-check';
import Joi from 'joi';
import { parseChatRequest } from '../../../lib/api/dialects/chat/request.ts';
import { chatFields } from '../../../lib/api/dialects/chat/schema.ts';
import { type BodySchema, body, checkFields, optional } from '../../../lib/api/dialects/fields.ts';
import { messageFields } from '../../../lib/api/dialects/message/schema.ts';
import { parseResponsesRequest } from '../../../lib/api/dialects/responses/request.ts';
import { IGNORED_FIELDS } from '../../../lib/api/dialects/text-fields.ts';
import { generationFields } from '../../../lib/api/image-request.ts';
import { describeFields } from '../../../lib/api/openapi/body.ts';
import { describeApi } from '../../../lib/api/openapi/document.ts';
import type { Json } from '../../../lib/base/json-schema.ts';
import { acceptsField, refuseField } from '../accepts-field.ts';

const BODIES: Readonly<Record<string, BodySchema>> = {
  chat: chatFields,
  message: messageFields,
  generation: generationFields,
};

/** Values at the edges of what the rules take. */
const EDGES = [
  ...[0, 1, -1, 1.5, 1e-9, 32_768, 32_769, 2 ** 53, 1e300, true, false, '', ' ', '\u00a0', 'x', '1', 'true', 'low'],
  ...['16:9', '9:16', '16:9 ', '1024x1024', '1024X1024', '1792x1024', [], [{}], [null], {}, { length: 1 }],
];
const values = fc.oneof(fc.constantFrom<unknown>(...EDGES), fc.jsonValue());

/** The schema by itself: what is inside a list or an object is checked where that is read. */
const INSIDES: ReadonlySet<string> = new Set(['items', 'properties', 'required']);
const isolated = (schema: Json): Json =>
  JSON.parse(JSON.stringify(schema, (key, value) => (INSIDES.has(key) ? undefined : value)));
const compile = (schema: Json) => new Ajv2020({ strict: false }).compile(isolated(schema));
const compileBody = (schema: Json) => {
  const fields = Object.entries(schema.properties as Readonly<Record<string, Json>>);
  const properties = Object.fromEntries(fields.map(([name, field]) => [name, isolated(field)]));
  return new Ajv2020({ strict: false }).compile({ ...schema, properties });
};

describe('fields', () => {
  for (const [kind, schema] of Object.entries(BODIES)) {
    const { properties } = describeFields(schema) as { properties: Readonly<Record<string, Json>> };
    for (const [name, document] of Object.entries(properties)) {
      it(`${kind}.${name}: accepts what the document accepts, and says what it must be`, () => {
        const validate = compile(document);
        const seen = new Set<boolean>();
        const agree = (value: unknown) => {
          seen.add(validate(value));
          expect(acceptsField(schema, name, value), JSON.stringify(value)).to.equal(validate(value));
        };
        for (const value of EDGES) agree(value);
        const takesAll = Object.keys(document).join() === 'description';
        expect([...seen], 'the edges have values of both kinds').to.have.members(takesAll ? [true] : [true, false]);
        fc.assert(
          fc.property(
            values.filter((value) => value !== null),
            agree,
          ),
        );
        if (!takesAll) expect(refuseField(schema, name, Number.NaN)).to.match(/ must be /);
        expect(document.description, 'its description').to.be.a('string').and.match(/\.$/);
      });
    }

    it(`${kind}: a body passes the check if it matches the document, null and absence included`, () => {
      const validate = compileBody(describeFields(schema));
      const fields = Object.fromEntries(
        Object.keys(properties).map((name) => [name, fc.oneof(values, fc.constant(null))] as const),
      );
      const bodies = fc.oneof(fc.record(fields, { requiredKeys: [] }), fc.jsonValue());
      fc.assert(
        fc.property(bodies, (value) => {
          const check = () => checkFields(schema, value);
          if (validate(value)) expect(check).not.to.throw();
          else expect(check).to.throw();
        }),
      );
    });
  }

  it('stand in the document as their rules have them, with those that are ignored', () => {
    const { schemas } = (describeApi('http://x') as never as { components: { schemas: Record<string, Json> } })
      .components;
    for (const [name, rules] of [
      ['MessageRequest', messageFields],
      ['ChatRequest', chatFields],
    ] as const) {
      expect(schemas[name]).to.deep.equal(describeFields(rules, IGNORED_FIELDS));
      const { properties, required } = schemas[name] as { properties: Json; required: readonly string[] };
      expect(Object.keys(properties)).to.have.members([...rules.fields.map(({ name }) => name), ...IGNORED_FIELDS]);
      expect(required).to.deep.equal(['model', 'messages']);
    }
  });

  it('of every request say in the document what they are', () => {
    const { schemas } = (describeApi('http://x') as never as { components: { schemas: Record<string, Json> } })
      .components;
    const requests = Object.entries(schemas).filter(([name]) => name.endsWith('Request'));
    expect(requests.map(([name]) => name)).to.include.members(['ResponseRequest', 'EmbeddingRequest', 'VideoRequest']);
    for (const [name, schema] of requests) {
      for (const [field, { $ref, description }] of Object.entries(schema.properties as Record<string, Json>))
        if ($ref === undefined) expect(description, `${name}.${field}`).to.be.a('string').and.match(/\S/);
    }
  });

  it('of a chat and of a response name the endpoint that takes them', () => {
    const [input, messages] = ['hi', [{ role: 'user', content: 'hi' }]];
    expect(() => parseChatRequest({ model: 'm', input })).to.throw(
      '`messages`: is required; requests with `input` go to',
    );
    expect(() => parseResponsesRequest({ model: 'm', messages })).to.throw('go to POST /api/v1/chat/completions.');
    expect(() => parseChatRequest({ model: 'm', input, messages })).not.to.throw();
  });

  it('that may be absent may be null, whatever their schema is', () => {
    const described = describeFields(
      body({
        typed: optional(Joi.string().min(1), 'must be so'),
        chosen: optional(Joi.string().valid('a'), 'must be so'),
        either: optional(Joi.alternatives(Joi.string(), Joi.array()), 'must be so'),
      }),
    );
    const validate = compileBody(described);
    expect(validate({ typed: null, chosen: null, either: null }), JSON.stringify(validate.errors)).to.equal(true);
    expect(validate({ typed: '' })).to.equal(false);
    expect(validate({ chosen: 'b' })).to.equal(false);
    expect(validate({ either: 5 })).to.equal(false);
  });
});
