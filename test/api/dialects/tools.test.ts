// What is refused of tools, their calls and results, by the field that is wrong; and what of it becomes of a request.
import { expect } from 'chai';
import { parseChatRequest } from '../../../lib/api/dialects/chat/request.ts';
import { parseMessageRequest } from '../../../lib/api/dialects/message/request.ts';
import { readWireId, toWireId } from '../../../lib/api/dialects/tool-id.ts';
import { TOOLS_CHARACTERS_MAX, TOOLS_MAX } from '../../../lib/api/dialects/tools.ts';
import { isFault } from '../../../lib/base/faults.ts';

const user = { role: 'user', content: 'hi' };
const PARSERS = { message: parseMessageRequest, chat: parseChatRequest } as const;

function refusal(dialect: keyof typeof PARSERS, fields: object): string {
  try {
    PARSERS[dialect]({ model: 'm', messages: [user], ...fields });
  } catch (error) {
    if (!isFault(error)) throw error;
    expect(error.output.statusCode).to.equal(400);
    return error.message;
  }
  return 'taken';
}

const schema = { type: 'object' };
const tool = (more: object = {}) => ({ name: 'f', input_schema: schema, ...more });
const called = (more: object = {}) => ({ type: 'function', function: { name: 'f', parameters: schema, ...more } });
const use = (id: unknown = 'x', more: object = {}) => ({ type: 'tool_use', id, name: 'f', input: {}, ...more });
const result = (id: unknown = 'x', more: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'y',
  ...more,
});
const says = (...content: object[]) => ({ role: 'assistant', content });
const answers = (...content: object[]) => ({ role: 'user', content });
const makes = (...tool_calls: object[]) => ({ role: 'assistant', content: null, tool_calls });
const fc = (more: object = {}, inner: object = {}) => ({
  id: 'x',
  type: 'function',
  function: { name: 'f', arguments: '{}', ...inner },
  ...more,
});
const gives = (more: object = {}) => ({ role: 'tool', tool_call_id: 'x', content: 'y', ...more });

const ID_LONGEST = 'x'.repeat(128 * 1024);

const allow = (allowed: unknown) => ({ tool_choice: { type: 'allowed_tools', allowed_tools: allowed } });

type Row = readonly [dialect: keyof typeof PARSERS, fields: object, field: string, words: RegExp];

const talk = (...messages: object[]) => ({ messages: [user, ...messages] });

const ROWS: readonly Row[] = [
  ['message', { tools: {} }, 'tools', /array/],
  ['message', { tools: [5] }, 'tools[0]', /object/],
  ['message', { tools: [tool(), tool()] }, 'tools[1].name', /already the name of tools\[0\]/],
  ['message', { tools: [tool({ name: 'a b' })] }, 'tools[0].name', /128/],
  ['message', { tools: [tool({ name: 'a'.repeat(129) })] }, 'tools[0].name', /128/],
  ['message', { tools: [{ name: 'f' }] }, 'tools[0].input_schema', /object/],
  ['message', { tools: [tool({ input_schema: [] })] }, 'tools[0].input_schema', /object/],
  ['message', { tools: [tool({ input_schema: { type: 'string' } })] }, 'tools[0].input_schema.type', /object/],
  ['message', { tools: [tool({ description: 5 })] }, 'tools[0].description', /string/],
  ['message', { tools: [tool({ strict: 'yes' })] }, 'tools[0].strict', /boolean/],
  ['message', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools[0].type', /custom/],
  ['message', { tools: Array.from({ length: TOOLS_MAX + 1 }, () => tool()) }, 'tools', /at most 512 tools/],
  ['message', { tools: [tool({ description: 'x'.repeat(TOOLS_CHARACTERS_MAX) })] }, 'tools', /characters in all/],
  ['message', { tools: [tool()], tool_choice: 'auto' }, 'tool_choice', /object/],
  ['message', { tools: [tool()], tool_choice: { type: 'maybe' } }, 'tool_choice.type', /auto, any, tool or none/],
  ['message', { tools: [tool()], tool_choice: { type: 'tool' } }, 'tool_choice.name', /string/],
  ['message', { tools: [tool()], tool_choice: { type: 'tool', name: 'g' } }, 'tool_choice.name', /not the name/],
  ['message', { tool_choice: { type: 'any' } }, 'tool_choice', /no tools/],
  [
    'message',
    { tools: [tool()], tool_choice: { type: 'auto', disable_parallel_tool_use: 1 } },
    'tool_choice.disable_parallel_tool_use',
    /boolean/,
  ],
  ['chat', { tools: 'x' }, 'tools', /array/],
  ['chat', { tools: [{ type: 'function' }] }, 'tools[0].function', /object/],
  ['chat', { tools: [{ type: 'custom' }] }, 'tools[0].custom', /object/],
  ['chat', { tools: [called({ name: '' })] }, 'tools[0].function.name', /128/],
  ['chat', { tools: [called({ parameters: 'x' })] }, 'tools[0].function.parameters', /object/],
  ['chat', { tools: [called(), called()] }, 'tools[1].function.name', /already/],
  ['chat', { tools: [called()], tool_choice: 5 }, 'tool_choice', /none, auto, required/],
  ['chat', { tools: [called()], tool_choice: 'all' }, 'tool_choice', /none, auto, required/],
  ['chat', { tools: [called()], tool_choice: { type: 'x' } }, 'tool_choice.type', /function, custom or allowed_tools/],
  ['chat', { tools: [called()], ...allow(5) }, 'tool_choice.allowed_tools', /object/],
  ['chat', { tools: [called()], ...allow({ mode: 'any' }) }, 'tool_choice.allowed_tools.mode', /auto or required/],
  ['chat', { tools: [called()], ...allow({ mode: 'auto', tools: [] }) }, 'tool_choice.allowed_tools.tools', /empty/],
  [
    'chat',
    { tools: [called()], ...allow({ mode: 'auto', tools: [{ type: 'x' }] }) },
    'tool_choice.allowed_tools.tools[0].type',
    /function/,
  ],
  [
    'chat',
    { tools: [called()], ...allow({ mode: 'auto', tools: [{ type: 'function' }] }) },
    'tool_choice.allowed_tools.tools[0].function.name',
    /string/,
  ],
  [
    'chat',
    { tools: [called()], ...allow({ mode: 'auto', tools: [called(), called({ name: 'g' })] }) },
    'tool_choice.allowed_tools.tools[1].function.name',
    /not the name/,
  ],
  ['chat', { ...allow({ mode: 'required', tools: [called()] }) }, 'tool_choice', /no tools/],
  ['chat', { tools: [called()], tool_choice: { type: 'function' } }, 'tool_choice.function.name', /string/],
  [
    'chat',
    { tools: [called()], tool_choice: { type: 'function', function: { name: 'g' } } },
    'tool_choice.function.name',
    /not the name/,
  ],
  ['chat', { tools: [], tool_choice: 'required' }, 'tool_choice', /no tools/],
  ['chat', { tools: [called()], parallel_tool_calls: 'no' }, 'parallel_tool_calls', /boolean/],
  ['message', talk(says(use(5))), 'messages[1].content[0].id', /string/],
  ['message', talk(says(use(''))), 'messages[1].content[0].id', /empty/],
  ['message', talk(says(use(ID_LONGEST), use(`${ID_LONGEST}x`))), 'messages[1].content[1].id', /at most 131072 char/],
  ['message', talk(says(use('x', { name: 'n'.repeat(257) }))), 'messages[1].content[0].name', /at most 256 char/],
  ['message', talk(says(use('x', { name: 5 }))), 'messages[1].content[0].name', /string/],
  ['message', talk(says(use('x', { input: '{}' }))), 'messages[1].content[0].input', /object/],
  ['message', talk(says(use(), use())), 'messages[1].content[0].id', /without a result/],
  ['message', talk(says(use())), 'messages[1].content[0].id', /without a result/],
  [
    'message',
    talk(says(use()), user, says({ type: 'text', text: 'a' })),
    'messages[1].content[0].id',
    /without a result/,
  ],
  [
    'message',
    talk(says(use()), user, says({ type: 'text', text: 'a' }), answers(result())),
    'messages[1].content[0].id',
    /without a result/,
  ],
  ['message', talk(answers(result())), 'messages[1].content[0].tool_use_id', /no unanswered/],
  ['message', talk(says(use()), answers(result('z'))), 'messages[2].content[0].tool_use_id', /no unanswered/],
  ['message', talk(says(use()), answers(result(), result())), 'messages[2].content[1].tool_use_id', /no unanswered/],
  ['message', talk(says(use()), answers(result(5))), 'messages[2].content[0].tool_use_id', /string/],
  [
    'message',
    talk(says(use()), answers(result('x', { is_error: 'no' }))),
    'messages[2].content[0].is_error',
    /boolean/,
  ],
  [
    'message',
    talk(says(use()), answers(result('x', { content: 5 }))),
    'messages[2].content[0].content',
    /string or an array/,
  ],
  [
    'message',
    talk(says(use()), answers(result('x', { content: [{ type: 'image', source: 1 }] }))),
    'messages[2].content[0].content[0].source',
    /object/,
  ],
  ['chat', talk(gives()), 'messages[1].tool_call_id', /no unanswered/],
  ['chat', talk({ role: 'tool', content: 'y' }), 'messages[1].tool_call_id', /string/],
  ['chat', talk(makes(fc()), gives(), gives()), 'messages[3].tool_call_id', /no unanswered/],
  ['chat', talk(makes(fc(), fc({ id: 'z' })), gives({ tool_call_id: null })), 'messages[2].tool_call_id', /string/],
  ['chat', talk(makes(fc(), fc()), gives({ tool_call_id: '' })), 'messages[2].tool_call_id', /empty/],
  ['chat', talk(makes(fc()), user), 'messages[1].tool_calls[0].id', /without a result/],
  ['chat', talk({ ...makes(), tool_calls: {} }), 'messages[1].tool_calls', /array/],
  ['chat', { tools: [5] }, 'tools[0]', /object/],
  ['chat', talk(makes(5 as never)), 'messages[1].tool_calls[0]', /object/],
  ['chat', talk(makes({ id: 'x', type: 'function' })), 'messages[1].tool_calls[0].function', /object/],
  ['chat', talk(makes(fc({ type: 'x' }))), 'messages[1].tool_calls[0].type', /function or custom/],
  ['chat', talk(makes(fc({}, { arguments: {} }))), 'messages[1].tool_calls[0].function.arguments', /string/],
  ['chat', talk(makes(fc({}, { name: '' }))), 'messages[1].tool_calls[0].function.name', /empty/],
  ['chat', talk(makes(fc({ id: 7 }))), 'messages[1].tool_calls[0].id', /string/],
];

describe('tools of a request', () => {
  for (const [dialect, fields, field, words] of ROWS) {
    it(`refuses ${dialect} ${JSON.stringify(fields).slice(0, 90)} and names ${field}`, () => {
      const message = refusal(dialect, fields);
      expect(message.startsWith(`Invalid \`${field}\`: `), message).to.equal(true);
      expect(message).to.match(words);
    });
  }

  it('refuses a thread by the name that clients know', () => {
    for (const parse of Object.values(PARSERS)) {
      const body = { model: 'm', messages: [user], thread: { type: 'create' } };
      expect(() => parse(body))
        .to.throw()
        .with.nested.property('data.errorCode', 'thread_unsupported_request');
      expect(parse({ ...body, thread: null }).messages).to.have.length(1);
    }
  });

  it('tells of the allowed tools alone, all of whose names there must be', () => {
    const tools = [called(), called({ name: 'g' }), called({ name: 'h' })];
    for (const [mode, choice] of [
      ['auto', 'auto'],
      ['required', 'any'],
    ] as const) {
      const { tools: read } = parseChatRequest({
        model: 'm',
        messages: [user],
        tools,
        ...allow({ mode, tools: [called({ name: 'h' }), called({ name: 'f' })] }),
      });
      expect(read?.list.map(({ name }) => name)).to.deep.equal(['f', 'h']);
      expect([read?.choice, read?.text.includes('g\n')]).to.deep.equal([choice, false]);
    }
  });

  it('takes none for no tools', () => {
    for (const [dialect, parse] of Object.entries(PARSERS)) {
      const choice = dialect === 'chat' ? 'auto' : { type: 'auto' };
      for (const fields of [{ tools: [] }, { tools: null, tool_choice: null }, { tools: [], tool_choice: choice }]) {
        expect(parse({ model: 'm', messages: [user], ...fields })).to.not.have.any.keys('tools', 'hasCalls');
      }
    }
  });

  it('takes as many tools as there may be, each with a name as long as it may be', () => {
    const tools = Array.from({ length: TOOLS_MAX }, (_, at) => tool({ name: String(at).padStart(128, '0') }));
    expect(refusal('message', { tools })).to.equal('taken');
    const whole = { name: 'f', input_schema: {} };
    const rest = TOOLS_CHARACTERS_MAX - 'f\n\n{"type":"object","properties":{}}'.length;
    expect(refusal('message', { tools: [{ ...whole, description: 'x'.repeat(rest) }] })).to.equal('taken');
    expect(refusal('message', { tools: [{ ...whole, description: 'x'.repeat(rest + 1) }] })).to.match(/in all/);
  });

  it('reads what each dialect may leave out or set to null', () => {
    const nothing = { type: null, description: null, strict: null };
    const message = parseMessageRequest({ model: 'm', messages: [user], tools: [tool(nothing)] });
    expect(message.tools?.list).to.deep.equal([{ name: 'f', schema: { ...schema, properties: {} } }]);
    const { type: _, ...untyped } = called({ parameters: null, description: 'Does.', strict: false });
    const chat = parseChatRequest({ model: 'm', messages: [user], tools: [untyped] });
    const empty = { type: 'object', properties: {} };
    expect(chat.tools?.list).to.deep.equal([{ name: 'f', description: 'Does.', schema: empty, strict: false }]);
    expect(chat.tools).to.include({ text: `f\nDoes.\n${JSON.stringify(empty)}` });
    const { input: __, ...bare } = use();
    const used = parseMessageRequest({ model: 'm', ...talk(says(bare), answers(result('x', { is_error: null }))) });
    expect(used.messages[1]?.content).to.deep.equal([{ type: 'tool-call', id: 'x', name: 'f', json: '{}' }]);
    expect(used.messages[2]?.content[0]).to.include({ isError: false });
    const made = parseChatRequest({
      model: 'm',
      ...talk(makes({ id: 'x', function: { name: 'n'.repeat(256) } }), gives(), { ...makes(), tool_calls: null }),
    });
    expect(made.messages[1]?.content).to.deep.equal([
      { type: 'tool-call', id: 'x', name: 'n'.repeat(256), json: '{}' },
    ]);
  });

  it('takes a result without an id for that of the only open call', () => {
    for (const none of [undefined, null, '']) {
      const { messages } = parseChatRequest({
        model: 'm',
        ...talk(makes(fc(), fc({ id: 'z' }, { name: 'g' })), gives(), gives({ tool_call_id: none, content: 'last' })),
      });
      expect(messages[2]?.content).to.have.length(2);
      expect(messages[2]?.content[1]).to.include({ type: 'tool-result', id: 'z', name: 'g' });
    }
    const { tool_use_id: _, ...unnamed } = result();
    const { messages } = parseMessageRequest({ model: 'm', ...talk(says(use('z')), answers(unnamed)) });
    expect(messages[2]?.content[0]).to.include({ type: 'tool-result', id: 'z' });
  });

  it('reads whom a choice names, and whether one call is the most', () => {
    const chat = (more: object) => parseChatRequest({ model: 'm', messages: [user], tools: [called()], ...more }).tools;
    const message = (choice: object) =>
      parseMessageRequest({ model: 'm', messages: [user], tools: [tool()], tool_choice: choice }).tools;
    expect(chat({ tool_choice: { type: 'function', function: { name: 'f' } } })?.choice).to.deep.equal({ name: 'f' });
    for (const [given, choice] of Object.entries({ none: 'none', auto: 'auto', required: 'any' })) {
      expect(chat({ tool_choice: given })).to.include({ choice });
    }
    expect(chat({ parallel_tool_calls: false }))
      .to.include({ single: true })
      .and.not.to.have.property('choice');
    expect(chat({ parallel_tool_calls: true })).not.to.have.property('single');
    expect(message({ type: 'tool', name: 'f' })?.choice).to.deep.equal({ name: 'f' });
    for (const type of ['none', 'auto', 'any']) expect(message({ type })).to.include({ choice: type });
    expect(message({ type: 'any', disable_parallel_tool_use: true })).to.include({ single: true });
    for (const single of [false, null]) {
      expect(message({ type: 'any', disable_parallel_tool_use: single })).not.to.have.property('single');
    }
  });

  it('lets an assistant speak on before the results come', () => {
    const more = says({ type: 'text', text: 'a' });
    expect(refusal('message', talk(says(use()), more, answers(result())))).to.equal('taken');
  });

  it('leaves calls of a user and results of an assistant alone, but for their text', () => {
    const { messages, hasCalls } = parseMessageRequest({
      model: 'm',
      ...talk(says(result()), answers(use()), user),
    });
    expect(messages.map(({ content }) => content)).to.deep.equal([
      [{ type: 'text', text: 'hi' }],
      [{ type: 'text', text: 'y' }],
      [{ type: 'text', text: 'hi' }],
    ]);
    expect(hasCalls).to.equal(undefined);
  });

  it('takes an id that begins with the mark of a state as it is', () => {
    expect(readWireId('__state_abc')).to.deep.equal({ id: '__state_abc' });
  });

  it('puts results right behind their calls, before what a client has between them', () => {
    const kinds = ({ messages }: ReturnType<typeof parseChatRequest>) =>
      messages.slice(2).map(({ content }) => content.map(({ type }) => type).join());
    const shows = answers({ type: 'image_url', image_url: { url: 'https://example.com/a.png' } });
    const chat = [makes(fc(), fc({ id: 'z' })), gives(), shows, gives({ tool_call_id: 'z' })];
    const pair = 'tool-result,tool-result';
    expect(kinds(parseChatRequest({ model: 'm', ...talk(...chat) }))).to.deep.equal([pair, 'image']);
    const late = talk(makes(fc()), user, gives());
    expect(kinds(parseChatRequest({ model: 'm', ...late }))).to.deep.equal(['tool-result', 'text']);
    const text = { type: 'text', text: 'and' };
    const [calls, last] = [says(use('x'), use('z')), answers(result('z'), text)];
    const read = (...between: object[]) => kinds(parseMessageRequest({ model: 'm', ...talk(calls, ...between, last) }));
    expect(read(answers(result('x'), text))).to.deep.equal([`${pair},text,text`]);
    expect(read(answers(result('x')), user)).to.deep.equal([pair, 'text', 'text']);
  });

  it('takes results of parallel calls together, with what is said after them but not with what is said before', () => {
    const text = { type: 'text', text: 'and' };
    const kinds = (...second: object[]) => {
      const { messages } = parseMessageRequest({
        model: 'm',
        ...talk(says(use('x'), use('z')), answers(result('x')), answers(...second)),
      });
      return messages.slice(2).map(({ content }) => content.map(({ type }) => type));
    };
    expect(kinds(result('z'), text)).to.deep.equal([['tool-result', 'tool-result', 'text']]);
    expect(kinds(text, result('z'))).to.deep.equal([['tool-result'], ['text', 'tool-result']]);
  });

  it('tells calls apart that have the same id, as of a model that counts those of each answer from 0', () => {
    const turn = (id: string) => [says(use(id), use(id)), answers(result(id), result(id))];
    const { messages } = parseMessageRequest({ model: 'm', ...talk(...turn('f:0'), ...turn('f:0_2'), ...turn('f:0')) });
    const ids = messages.map(({ content }) => content.map((part) => ('id' in part ? part.id : part.type)));
    const [first, second, third] = [
      ['f:0', 'f:0_2'],
      ['f:0_2_2', 'f:0_2_3'],
      ['f:0_3', 'f:0_4'],
    ];
    expect(ids).to.deep.equal([['text'], first, first, second, second, third, third]);
  });

  it('puts results of calls that were made together into one message', () => {
    const chat = parseChatRequest({
      model: 'm',
      ...talk(makes(fc(), fc({ id: 'z' })), gives(), gives({ tool_call_id: 'z', content: '' }), user),
    });
    const message = parseMessageRequest({
      model: 'm',
      ...talk(says(use(), use('z')), answers(result()), answers(result('z', { content: null })), user),
    });
    expect(chat.messages).to.deep.equal(message.messages);
    expect(chat.messages.map(({ content }) => content.map(({ type }) => type))).to.deep.equal([
      ['text'],
      ['tool-call', 'tool-call'],
      ['tool-result', 'tool-result'],
      ['text'],
    ]);
    expect(chat.hasCalls).to.equal(true);
    const { messages } = parseMessageRequest({
      model: 'm',
      ...talk(says(use(), use('z')), answers(result()), answers(result('z'), { type: 'text', text: 'and' })),
    });
    expect(messages.at(-1)?.content.map(({ type }) => type)).to.deep.equal(['tool-result', 'tool-result', 'text']);
  });

  it('keeps broken arguments through both dialects', () => {
    const broken = '{"a": oh';
    const chat = parseChatRequest({ model: 'm', ...talk(makes(fc({}, { arguments: broken })), gives()) });
    const input = { INVALID_JSON: broken };
    const message = parseMessageRequest({ model: 'm', ...talk(says(use('x', { input })), answers(result())) });
    for (const { messages } of [chat, message]) expect(messages[1]?.content[0]).to.include({ json: broken });
    const empty = parseChatRequest({ model: 'm', ...talk(makes(fc({}, { arguments: ' ' })), gives()) });
    expect(empty.messages[1]?.content[0]).to.include({ json: '{}' });
  });

  it('carries what an upstream wants back with a call in its id', () => {
    for (const value of [undefined, '', 'EpEgCo4gAb4+9v/=', 'ф😀', 'a:b']) {
      const call = { id: 'call_1', ...(value !== undefined && { state: { format: 'contents', value } }) };
      expect(toWireId(call)).to.match(/^[a-zA-Z0-9_-]+$/);
      expect(readWireId(toWireId(call))).to.deep.equal(call);
    }
    const state = { format: 'contents', value: 's' };
    const id = toWireId({ id: 'call_1', state });
    const { messages } = parseMessageRequest({ model: 'm', ...talk(says(use(id)), answers(result(id))) });
    expect(messages[1]?.content[0]).to.deep.include({ id: 'call_1', state });
    expect(messages[2]?.content[0]).to.include({ id: 'call_1', name: 'f' });
  });

  it('reads the state in an id that an earlier version has given out', () => {
    const id = `call_1__state_${Buffer.from('EpEgCo4g+/=').toString('base64url')}`;
    expect(readWireId(id)).to.deep.equal({ id: 'call_1', state: { format: 'contents', value: 'EpEgCo4g+/=' } });
  });
});
