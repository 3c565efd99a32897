// The bytes of two consecutive turns: what an upstream has cached of the first has to begin the second.
import { expect } from 'chai';
import { parseExactJson } from '../../lib/base/exact-json.ts';
import { CHAT, MESSAGES, RESPONSES, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { answerStatus, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

/** Each upstream's list of what is said. */
const FORMATS = [
  {
    plugin: 'openai-compatible',
    list: 'messages',
    settings: { cacheKey: 'send', cacheMarkers: 'send', reasoning: 'reasoning' },
  },
  { plugin: 'anthropic', list: 'messages', settings: {} },
  { plugin: 'gemini', list: 'contents', settings: {} },
  { plugin: 'openai-responses', list: 'input', settings: {} },
] as const;

const PDF = Buffer.from('%PDF-1.7').toString('base64');
const SCHEMA = { type: 'object', properties: { path: { type: 'string' }, at: { type: 'integer' } } };
const NAMES = ['read', 'a.name.with.dots', 'z'.repeat(100)];
const LONG_ID = 'call_'.repeat(20);
const MARKER = { cache_control: { type: 'ephemeral' } };

const CHAT_TURNS: readonly object[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: [{ type: 'text', text: 'Look at this.' }] },
  {
    role: 'assistant',
    content: 'I look.',
    reasoning_content: 'An image, perhaps.',
    tool_calls: NAMES.map((name, at) => ({
      id: at === 2 ? LONG_ID : 'same',
      type: 'function',
      function: { name, arguments: `{ "path": "/${at}", "at": 12345678901234567890 }` },
    })),
  },
  ...['same', 'same', LONG_ID].map((id, at) => ({ role: 'tool', tool_call_id: id, content: `Seen ${at}` })),
  { role: 'assistant', content: 'There is more: ', tool_calls: null },
  { role: 'user', content: 'Go on.' },
  { role: 'assistant', content: 'Done.' },
  { role: 'user', content: 'Thanks.' },
];
/** How many messages each request has. */
const CHAT_ENDS = [2, 6, 8, 10];

const MESSAGE_TURNS: readonly object[] = [
  { role: 'user', content: 'Look at this.' },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Perhaps', signature: 'c2lnbmF0dXJl' },
      { type: 'text', text: 'I look.' },
      ...NAMES.map((name, at) => ({ type: 'tool_use', id: `toolu_${at}`, name, input: { path: '/', at } })),
    ],
  },
  {
    role: 'user',
    content: NAMES.map((_, at) => ({
      type: 'tool_result',
      tool_use_id: `toolu_${at}`,
      is_error: at === 1,
      content: [
        { type: 'text', text: `Seen ${at}` },
        ...(at === 2
          ? [{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF } }]
          : []),
      ],
    })),
  },
  { role: 'assistant', content: 'There is more.' },
  { role: 'user', content: [{ type: 'text', text: 'Go on.' }] },
  { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
  { role: 'user', content: 'Thanks.' },
];
const MESSAGE_ENDS = [1, 3, 5, 7];

const RESPONSE_TURNS: readonly object[] = [
  { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Look at this.' }] },
  {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'Perhaps' }],
    encrypted_content: 'c2VjcmV0',
  },
  ...NAMES.map((name, at) => ({
    type: 'function_call',
    call_id: `call_${at}`,
    name,
    arguments: `{ "path": "/${at}" }`,
  })),
  ...NAMES.map((_, at) => ({ type: 'function_call_output', call_id: `call_${at}`, output: `Seen ${at}` })),
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'There is more.' }] },
  { role: 'user', content: 'Go on.' },
  { role: 'assistant', content: 'Done.' },
  { role: 'user', content: 'Thanks.' },
];
const RESPONSE_ENDS = [1, 8, 10, 12];

/** The marker of a client that has one at the end of each of its requests. */
function markEnd(messages: readonly object[]): readonly object[] {
  const last = messages.at(-1) as { readonly content: unknown };
  const blocks = typeof last.content === 'string' ? [{ type: 'text', text: last.content }] : (last.content as object[]);
  return messages.with(-1, { ...last, content: blocks.with(-1, { ...blocks.at(-1), ...MARKER }) });
}

const definitions = NAMES.map((name) => ({ name, description: `Does ${name}.`, input_schema: SCHEMA }));

const REQUESTS: readonly (readonly [name: string, path: string, bodies: readonly object[]])[] = [
  [
    'a chat',
    CHAT,
    CHAT_ENDS.map((end) => ({
      messages: CHAT_TURNS.slice(0, end),
      tools: definitions.map(({ input_schema: parameters, ...tool }) => {
        return { type: 'function', function: { ...tool, parameters } };
      }),
      prompt_cache_key: 'conversation',
      reasoning_effort: 'low',
    })),
  ],
  [
    'a message',
    MESSAGES,
    MESSAGE_ENDS.map((end) => ({
      system: 'Be brief.',
      messages: MESSAGE_TURNS.slice(0, end),
      tools: definitions,
      metadata: { user_id: 'user' },
      thinking: { type: 'enabled', budget_tokens: 2000 },
    })),
  ],
  [
    'a response',
    RESPONSES,
    RESPONSE_ENDS.map((end) => ({
      instructions: 'Be brief.',
      input: RESPONSE_TURNS.slice(0, end),
      tools: definitions.map(({ input_schema: parameters, ...tool }) => ({ type: 'function', ...tool, parameters })),
      prompt_cache_key: 'conversation',
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      store: false,
    })),
  ],
  [
    'a message with markers',
    MESSAGES,
    MESSAGE_ENDS.map((end) => ({
      system: [{ type: 'text', text: 'Be brief.', ...MARKER }],
      messages: markEnd(MESSAGE_TURNS.slice(0, end)),
      tools: definitions,
    })),
  ],
];

describe('two turns of a conversation', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream(answerStatus(500));
    const entries = FORMATS.map(({ plugin, settings }) => {
      return [plugin, { plugin, settings: { baseUrl: upstream.url, apiKey: 'key', ...settings } }];
    });
    const abilities = { tools: true, json: true, reasoning: true, documents: true };
    const models = FORMATS.flatMap(({ plugin }) => {
      const model = { type: 'text', provider: 'Test', price: { input: '1', output: '1' }, ...abilities };
      const routes = [{ upstream: plugin, model: 'm' }];
      return [
        { ...model, id: plugin, routes },
        { ...model, id: `${plugin}-auto`, cache: 'auto', routes },
      ];
    });
    gateway = await startGateway({ catalog: { upstreams: Object.fromEntries(entries), models } });
    account = await gateway.account();
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  async function sendUp(model: string, path: string, body: object): Promise<string> {
    const next = upstream.nextCall();
    const { status, text } = await send(gateway.url + path, {
      key: account.key,
      body: { model, ...(path === RESPONSES ? { max_output_tokens: 4000 } : { max_tokens: 4000 }), ...body },
    });
    if (status !== 502) throw new Error(`${status}: ${text}`);
    return (await next).bytes.toString();
  }

  /** A body without markers, and where its list of what is said ends. */
  function readBody(bytes: string, list: string) {
    const text = bytes.replaceAll(/,"cache_control":\{"type":"ephemeral"\}/g, '');
    const { [list]: said = [], ...rest } = parseExactJson(text) as Record<string, unknown[]>;
    const start = text.indexOf(`"${list}":[`);
    const end = start + `"${list}":`.length + JSON.stringify(said).length - 1;
    expect(text.slice(start, end + 1)).to.equal(`"${list}":${JSON.stringify(said)}`);
    return { text, said, rest, end };
  }

  for (const { plugin, list } of FORMATS) {
    for (const [name, path, bodies] of REQUESTS) {
      for (const model of [plugin, `${plugin}-auto`]) {
        it(`begin alike up to what is new: ${name} to ${model}`, async () => {
          const sent: string[] = [];
          for (const body of bodies) sent.push(await sendUp(model, path, body));
          const read = sent.map((bytes) => readBody(bytes, list));
          for (const [at, turn] of read.entries()) {
            const next = read[at + 1];
            if (!next) break;
            expect(next.said.length).to.be.above(turn.said.length);
            expect(next.text.slice(0, turn.end)).to.equal(turn.text.slice(0, turn.end));
            expect(JSON.stringify(next.rest)).to.equal(JSON.stringify(turn.rest));
          }
        });
      }
    }
  }
});
