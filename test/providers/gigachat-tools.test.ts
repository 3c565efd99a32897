// Functions of GigaChat beyond its recordings: schemas, names, digits, and the session of a cache.
import { expect } from 'chai';
import type { TextCall } from '../../lib/upstream/contract/provider.ts';
import plugin from '../../providers/gigachat/index.ts';
import { simplifySchema } from '../../providers/gigachat/schema.ts';
import { HELLO, useVendor } from '../../testkit/vendor.ts';

const ORIGIN = 'https://giga.example';
const ANSWER = 'data: {"choices":[{"delta":{"content":"Да"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const TOKEN = { access_token: 'token-1', expires_at: 4_102_444_800_000 };

describe('gigachat: functions', () => {
  const vendor = useVendor(plugin, ORIGIN, {
    baseUrl: `${ORIGIN}/api/v1`,
    authUrl: `${ORIGIN}/oauth`,
    apiKey: 'a2V5',
  });

  const ask = async (call: Partial<TextCall>, answer = ANSWER) => {
    vendor.answer(TOKEN);
    const { parts } = await vendor.tell(vendor.open(), { ...HELLO, model: 'GigaChat-2', ...call }, answer);
    const sent = vendor.sent.at(-1);
    return { parts, body: sent?.body ?? {}, headers: sent?.headers ?? {} };
  };

  it('reads arguments without losing digits', async () => {
    const call = { function_call: { name: 'order', arguments: 'ARGUMENTS' }, functions_state_id: 's-1' };
    const chunk = JSON.stringify({ choices: [{ delta: call, finish_reason: 'function_call' }] });
    const json = '{"id":2512292042121000001,"share":0.1234567890123456789}';
    const { parts } = await ask({}, `data: ${chunk.replace('"ARGUMENTS"', json)}\n\ndata: [DONE]\n\n`);
    expect(parts).to.deep.include.members([
      { type: 'block-state', index: 0, state: { format: 'gigachat', value: 's-1' } },
      { type: 'block-delta', index: 0, text: json },
    ]);
  });

  it('leaves out the state of another format, and a function call without a name', async () => {
    const state = { format: 'contents', value: 'c2ln' };
    const call = { type: 'tool-call', id: 'a', name: 'look', json: '{}', state } as const;
    const { body } = await ask({ messages: [...HELLO.messages, { role: 'assistant', content: [call] }] });
    const [, assistant] = body.messages as object[];
    expect(assistant).to.have.all.keys('role', 'content', 'function_call');
    const chunk = JSON.stringify({ choices: [{ delta: { content: 'Да', function_call: {} }, finish_reason: 'stop' }] });
    const { parts } = await ask({}, `data: ${chunk}\n\ndata: [DONE]\n\n`);
    expect(parts.flatMap((part) => (part.type === 'block-start' ? [part.block.type] : []))).to.deep.equal(['text']);
  });

  for (const [choice, expected] of [
    [undefined, undefined],
    ['auto', 'auto'],
    ['none', 'none'],
    ['any', { name: 'look' }],
    [{ name: 'look' }, { name: 'look' }],
  ] as const) {
    it(`asks for ${JSON.stringify(expected)} with the choice ${JSON.stringify(choice)}`, async () => {
      const list = [{ name: 'look', schema: { type: 'object', properties: {} } }];
      const { body } = await ask({ tools: { list, ...(choice && { choice }) } });
      expect(body.function_call).to.deep.equal(expected);
      expect(body.functions).to.deep.equal([{ name: 'look', parameters: { type: 'object', properties: {} } }]);
    });
  }

  it('takes names of functions but those of its own', () => {
    const { toolNames } = vendor.open();
    for (const name of ['look', 'get_weather_2', '_x', 'text2images']) expect(name).to.match(toolNames as RegExp);
    for (const name of ['2look', 'look-up', 'a.b', 'text2image', 'get_file_content', 'a'.repeat(65)]) {
      expect(name).to.not.match(toolNames as RegExp);
    }
  });

  it('names the session by the conversation, or by the key of the cache', async () => {
    expect((await ask({ conversation: '1f', cacheKey: 'k' })).headers['x-session-id']).to.equal('1f');
    expect((await ask({ cacheKey: 'беседа 1' })).headers['x-session-id']).to.equal(encodeURIComponent('беседа 1'));
    expect((await ask({ cacheKey: 'k\ud800' })).headers['x-session-id']).to.equal(encodeURIComponent('k\ufffd'));
    expect((await ask({})).headers).to.not.have.property('x-session-id');
  });

  describe('schemas', () => {
    const simplify = (schema: object) => JSON.parse(JSON.stringify(simplifySchema({ ...schema })));
    const object = (properties: object) => ({ type: 'object', properties });

    for (const [name, schema, expected] of [
      ['no properties', { type: 'object' }, {}],
      ['a list of anything', object({ a: { type: 'array', items: {} } }), object({ a: { type: 'array' } }).properties],
      [
        'a nested object',
        object({ a: { type: 'object', additionalProperties: {} } }),
        { a: { type: 'object', additionalProperties: {}, properties: {} } },
      ],
      [
        'no type',
        object({ a: {}, b: { enum: ['x'] }, c: true }),
        { a: object({}), b: { type: 'string', enum: ['x'] }, c: object({}) },
      ],
      ['a nullable type', object({ a: { type: ['null', 'integer'] } }), { a: { type: 'integer' } }],
      [
        'alternatives',
        object({ a: { oneOf: [{ type: 'null' }, { type: 'number' }], title: 'A' } }),
        { a: { type: 'number', title: 'A' } },
      ],
      ['nothing but null', object({ a: { anyOf: [{ type: 'null' }] } }), { a: object({}) }],
      [
        'a format',
        object({ a: { type: 'string', format: 'uri' }, b: { type: 'string', format: 'time' } }),
        { a: { type: 'string' }, b: { type: 'string', format: 'time' } },
      ],
      ['numbers to choose from', object({ a: { type: 'integer', enum: [1, 2] } }), { a: { type: 'integer' } }],
      ['an unknown reference', object({ a: { $ref: '#/$defs/constructor' } }), { a: object({}) }],
    ] as const) {
      it(`replaces ${name}`, () => {
        expect(simplify(schema)).to.deep.equal(object(expected));
      });
    }

    it('writes a recursive definition out a few times', () => {
      const tree = object({ name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/Tree' } } });
      const simple = simplify({ $ref: '#/$defs/Tree', $defs: { Tree: tree } });
      expect(simple.properties.children.items.properties.name).to.deep.equal({ type: 'string' });
      expect(JSON.stringify(simple)).to.have.length.below(1000).and.not.include('$ref');
    });

    it('does not grow without end', () => {
      const names = Array.from({ length: 40 }, (_, at) => `T${at}`);
      const definitions = names.map((name, at): [string, object] => {
        const next = { $ref: `#/$defs/T${at + 1}` };
        return [name, object({ left: next, right: next })];
      });
      const simple = simplify({ $ref: '#/$defs/T0', $defs: Object.fromEntries(definitions) });
      expect(JSON.stringify(simple)).to.have.length.below(50_000);
    });
  });
});
