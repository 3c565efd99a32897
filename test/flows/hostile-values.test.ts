// An object that cannot become a text, at each place of a request: it is refused or passed over, and never fails the call.
import { expect } from 'chai';
import { CHAT, MESSAGES, RESPONSES, send } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { PNG } from '../media/sample-images.ts';

/** To make a text of it throws. */
const HOSTILE = JSON.parse('{ "toString": 1, "valueOf": 2, "toJSON": 3, "length": 4 }');

const text = { type: 'text', text: 'hi' };
const png = PNG.toString('base64');
const schema = { type: 'object', properties: {} };
const grammar = { syntax: 'lark', definition: 'x' };
const call = { name: 'f', arguments: '{}' };
const more = { model: 'model-a', max_tokens: 100 };

const BODIES: readonly (readonly [path: string, body: object])[] = [
  [
    MESSAGES,
    {
      ...more,
      system: [{ ...text, cache_control: { type: 'ephemeral' } }],
      stop_sequences: ['x'],
      metadata: { user_id: 'u' },
      thinking: { type: 'enabled', budget_tokens: 1024 },
      tools: [{ name: 'f', description: 'd', input_schema: schema }],
      tool_choice: { type: 'tool', name: 'f' },
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'document',
              title: 't',
              context: 'c',
              source: { type: 'text', media_type: 'text/plain', data: 'd' },
            },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 't', signature: 's' },
            { type: 'tool_use', id: 'a', name: 'f', input: {} },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [text] }, text] },
      ],
    },
  ],
  [
    CHAT,
    {
      ...more,
      stop: ['x'],
      user: 'u',
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
      tools: [
        { type: 'function', function: { name: 'f', description: 'd', parameters: schema } },
        { type: 'custom', custom: { name: 'c', description: 'd', format: { type: 'grammar', grammar } } },
      ],
      tool_choice: { type: 'function', function: { name: 'f' } },
      messages: [
        {
          role: 'user',
          name: 'n',
          content: [text, { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }],
        },
        {
          role: 'assistant',
          content: null,
          reasoning_details: [{ type: 'reasoning.text', text: 't', signature: 's' }],
          tool_calls: [{ id: 'a', type: 'function', function: call }],
        },
        { role: 'tool', tool_call_id: 'a', content: [text] },
      ],
    },
  ],
  [
    CHAT,
    {
      ...more,
      functions: [{ name: 'f', parameters: schema }],
      function_call: { name: 'f' },
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', function_call: call },
        { role: 'function', name: 'f', content: 'r' },
      ],
    },
  ],
  [
    RESPONSES,
    {
      model: 'model-a',
      instructions: 'i',
      text: { format: { type: 'json_schema', name: 'n', schema } },
      tools: [
        { type: 'function', name: 'f', description: 'd', parameters: schema },
        { type: 'custom', name: 'c', description: 'd', format: { type: 'grammar', ...grammar } },
      ],
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
        { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 't' }], encrypted_content: 'e' },
        { type: 'function_call', call_id: 'a', ...call },
        { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'r' }] },
      ],
    },
  ],
];

/** The body with the object at each of its places in turn. */
function* spoil(body: unknown): Generator<{ readonly place: string; readonly spoilt: unknown }> {
  if (typeof body !== 'object' || body === null) return;
  for (const [name, value] of Object.entries(body)) {
    const change = (to: unknown) => (Array.isArray(body) ? body.with(Number(name), to) : { ...body, [name]: to });
    yield { place: name, spoilt: change(HOSTILE) };
    for (const { place, spoilt } of spoil(value)) yield { place: `${name}.${place}`, spoilt: change(spoilt) };
  }
}

describe('a value that cannot become a text', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream();
    const catalog = chatCatalog(upstream.url) as { readonly models: readonly object[] };
    const able = { tools: true, json: true, reasoning: true, vision: true, documents: true };
    const models = catalog.models.map((model, at) => (at === 0 ? { ...model, ...able } : model));
    gateway = await startGateway({ catalog: { ...catalog, models } });
    account = await gateway.account('100000');
  });
  after(async () => {
    await gateway.checkMoney();
    await gateway.stop();
    await upstream.close();
  });

  for (const [path, body] of BODIES) {
    it(`fails no call at any place of ${path}: ${Object.keys(body).join()}`, async () => {
      const ask = (sent: unknown) => send(gateway.url + path, { key: account.key, body: JSON.stringify(sent) });
      const whole = await ask(body);
      expect(whole.status, whole.text).to.equal(200);
      const failed: string[] = [];
      for (const { place, spoilt } of spoil(body)) {
        const { status } = await ask(spoilt);
        if (status !== 200 && status !== 400) failed.push(`${place}: ${status}`);
      }
      expect(failed).to.deep.equal([]);
    });
  }
});
