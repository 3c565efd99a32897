// A request with every field that a dialect has, changed in one place at a time: document and gateway judge it alike.
import { expect } from 'chai';
import { chatDialect } from '../../../lib/api/dialects/chat/dialect.ts';
import { messageDialect } from '../../../lib/api/dialects/message/dialect.ts';
import { describeApi } from '../../../lib/api/openapi/document.ts';
import { tooLarge } from '../../../lib/media/image.ts';
import { PNG } from '../../media/sample-images.ts';
import { type Json, readDocument } from '../document.ts';

const SCHEMA = { type: 'object', properties: {} };
const LINK = 'https://x.example/a.png';
const TEXT = { type: 'text', text: 'hi' };
const SHARED = { model: 'm', max_tokens: 5, max_completion_tokens: 6, stream: true };

const CHAT: Json = {
  ...SHARED,
  messages: [
    { role: 'system', content: 'a' },
    { role: 'user', content: [TEXT, { type: 'image_url', image_url: { url: LINK } }] },
    {
      role: 'assistant',
      content: 'b',
      tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'x', content: 'c' },
    { role: 'user', content: 'hi' },
  ],
  tools: [{ type: 'function', function: { name: 'f', description: 'd', parameters: SCHEMA, strict: true } }],
  tool_choice: { type: 'function', function: { name: 'f' } },
  parallel_tool_calls: true,
  stop: ['a'],
  response_format: {
    type: 'json_schema',
    json_schema: { name: 'place', schema: SCHEMA, description: 'd', strict: true },
  },
  reasoning_effort: 'low',
};

const source = { type: 'base64', media_type: 'image/png', data: PNG.toString('base64') };
const MESSAGE: Json = {
  ...SHARED,
  messages: [
    { role: 'user', content: [TEXT, { type: 'image', source: { type: 'url', url: LINK } }, { type: 'image', source }] },
    { role: 'assistant', content: [TEXT, { type: 'tool_use', id: 'x', name: 'f', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x', content: [TEXT], is_error: true }] },
    { role: 'user', content: 'hi' },
  ],
  system: [TEXT],
  tools: [
    { type: 'custom', name: 'f', description: 'd', input_schema: SCHEMA, strict: true, defer_loading: true },
    { type: 'bash_20250124', name: 'bash' },
  ],
  tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
  stop_sequences: ['a'],
  output_config: { format: { type: 'json_schema', schema: SCHEMA }, effort: 'low' },
  thinking: { type: 'enabled', budget_tokens: 2048, display: 'omitted' },
  metadata: { user_id: 'u' },
  context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
};

const CHOOSING: Json = {
  model: 'm',
  messages: [{ role: 'user', content: 'hi' }],
  tools: [{ type: 'function', function: { name: 'f', parameters: SCHEMA } }],
  tool_choice: {
    type: 'allowed_tools',
    allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'f' } }] },
  },
};

const api = readDocument(describeApi('https://gateway.example'), { open: true });
/** Longer than an id may be. */
const LONG = 'x'.repeat(128 * 1024 + 1);
const VALUES = [undefined, null, 5, 1.5, '', 'x', 'a b', LONG, {}, [], true];

/** What a schema does not say: how parts of a request belong together, and what is inside a text. */
const BEYOND =
  /no unanswered call|without a result|no tools|not the name of a tool|last user message|array of blocks|_call_id`: must|_schema`: must be an obj|choice\.name`: must be a str|budget_tokens|(?:parameters|input_schema)\.type|not a PNG|standard alphabet/;
/** What the gateway does not insist on. */
const LENIENT =
  /(?:type|description|parameters|strict|json_schema\.schema|disable_parallel_tool_use) = null$|(?:tool_calls\.0\.(?:type|function\.arguments)|input) = (?:null|undefined)$|\.input = \[\]$|tool_(?:call|use)_id = (?:null|undefined|"")$/;

/** The body with each of its values in turn replaced or left out. */
function* changesOf(body: Json, node = body, place: readonly string[] = []): Generator<[place: string, body: Json]> {
  for (const [name, value] of Object.entries<Json>(node)) {
    const path = [...place, name];
    for (const other of VALUES) {
      const copy = JSON.parse(JSON.stringify(body));
      const parent = place.reduce((at, key) => at[key], copy);
      if (other !== undefined) parent[name] = other;
      else if (Array.isArray(parent)) parent.splice(Number(name), 1);
      else delete parent[name];
      yield [`${path.join('.')} = ${JSON.stringify(other)?.slice(0, 9)}`, copy];
    }
    if (typeof value === 'object') yield* changesOf(body, value, path);
  }
}

/** Why something is refused; empty if it is not. */
function refusalOf(check: () => unknown): string {
  try {
    check();
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

const SUBJECTS = [
  ['chat', 'ChatRequest', chatDialect, CHAT],
  ['choosing chat', 'ChatRequest', chatDialect, CHOOSING],
  ['message', 'MessageRequest', messageDialect, MESSAGE],
] as const;

for (const [name, schema, { parse }, body] of SUBJECTS) {
  describe(`a whole ${name} request`, () => {
    const byDocument = (value: Json) => refusalOf(() => api.check(`/components/schemas/${schema}`, value));

    it('is taken by the gateway and by the document', () => {
      expect([refusalOf(() => parse(body)), byDocument(body)]).to.deep.equal(['', '']);
    });

    it('is refused by both or by none when one of its values is another', () => {
      const kinds = new Set<boolean>();
      for (const [place, changed] of changesOf(body)) {
        const refused = refusalOf(() => parse(changed));
        const documented = byDocument(changed);
        kinds.add(refused !== '');
        if (refused !== '' && documented === '') expect(refused, place).to.match(BEYOND);
        if (refused === '' && documented !== '') expect(place, documented.slice(0, 200)).to.match(LENIENT);
        if (refused !== '') expect(refused, place).to.match(/^(?:Invalid `|The request)/);
      }
      expect(kinds).to.have.keys([true, false]);
    });
  });
}

describe('each size of an image in the document', () => {
  it('is the one that a refusal names', () => {
    const [size] = /\d+ MiB/.exec(tooLarge('image').message) ?? [];
    const texts = JSON.stringify(api.json).match(/[^"]*\bMi?B\b[^"]*/g) ?? [];
    const ofImages = texts.filter((text) => !/^Tools|request body/.test(text));
    expect(ofImages.join()).to.match(/of image\..*image of at most.*PNG/);
    for (const text of ofImages) expect(text).to.include(` ${size}`);
  });
});
