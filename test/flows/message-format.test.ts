// What only the messages format has: its own tools, tool search, fields and betas go to its vendors unchanged, and to no
// other.
import { expect } from 'chai';
import { CHAT, MESSAGES, parseEvents, RESPONSES, send } from '../../testkit/client.ts';
import { PNG } from '../media/sample-images.ts';
import { type Json, look, type RequestStage, result, startRequestStage, text, user } from './request-stage.ts';

const BASH = { type: 'bash_20250124', name: 'bash' };
const PREDEFINED: readonly object[] = [
  BASH,
  { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 10_000 },
  { type: 'memory_20250818', name: 'memory', defer_loading: true },
  { type: 'computer_20251124', name: 'computer', display_width_px: 1024, display_height_px: 768, enable_zoom: true },
  { type: 'computer_toolset_20260801', configs: { key: null } },
];
const EDITS = {
  edits: [
    { type: 'clear_thinking_20251015', keep: 'all' },
    { type: 'clear_tool_uses_20250919', trigger: { type: 'input_tokens', value: 1e5 } },
  ],
};
const OTHERS = ['chat', 'contents', 'responses', 'old'] as const;
const asked = (model: string, more: object) => ({ model, messages: [user()], ...more });

describe('the messages format', () => {
  let stage: RequestStage;

  before(async () => {
    stage = await startRequestStage();
  });
  after(() => stage.stop());

  const beta = (value: string) => ({ headers: { 'anthropic-beta': value } });
  const sentBetas = () => stage.upstream.calls.at(-1)?.request.headers['anthropic-beta'];

  it('passes tools that the client runs unchanged, with their markers', async () => {
    const marked = { ...BASH, cache_control: { type: 'ephemeral' } };
    const tools = [marked, ...PREDEFINED.slice(1), look];
    expect((await stage.ask(MESSAGES, asked('message', { tools }))).tools).to.deep.equal(tools);
    const choice = { tools: [BASH], tool_choice: { type: 'tool', name: 'bash' } };
    expect((await stage.ask(MESSAGES, asked('message', choice))).tool_choice).to.deep.equal(choice.tool_choice);
  });

  it('passes them in long bodies', async () => {
    const tools = [...PREDEFINED, look];
    const long = user([text('long '.repeat(60_000))]);
    const search = { type: 'tool_use', id: 'a', name: 'look', input: {} };
    const found = result('a', [{ type: 'tool_reference', tool_name: 'look' }]);
    const messages = [long, { role: 'assistant', content: [search] }, user([found])];
    const body = await stage.ask(MESSAGES, { model: 'message', tools, messages });
    expect(body.tools).to.deep.equal(tools);
    expect(body.messages[2].content[0].content).to.deep.equal([{ type: 'tool_reference', tool_name: 'look' }]);
  });

  for (const model of [...OTHERS, 'eyes', 'message-files']) {
    it(`refuses them where no vendor knows them: ${model}`, async () => {
      const message = await stage.refused(MESSAGES, asked(model, { tools: [look, BASH] }));
      expect(message).to.match(
        /^Invalid `tools\[1\]\.type`: is bash_20250124, which only vendors of the messages format/,
      );
      expect(message).to.contain(`\`${model}\` is at none: define a tool of your own`);
    });
  }

  it('refuses tools that a vendor runs, and all of them in chat', async () => {
    for (const type of ['web_search_20250305', 'code_execution_20260120', 'bash_code_execution_20250825', 'x']) {
      const message = await stage.refused(MESSAGES, asked('message', { tools: [{ type, name: 'x' }] }));
      expect(message).to.match(/^Invalid `tools\[0\]\.type`: must be custom, or that of a tool that the client runs/);
    }
    expect(await stage.refused(CHAT, asked('message', { tools: [BASH] }))).to.match(/type`: must be function/);
    expect(await stage.refused(MESSAGES, asked('message', { tools: [{ ...BASH, name: 'a b' }] }))).to.match(
      /name`: must/,
    );
  });

  it('is preferred by smart for its tools', async () => {
    const body = asked('smart', { messages: [user('Translate into French: good morning')] });
    expect((await stage.ask(MESSAGES, body)).messages).to.be.an('array');
    expect(stage.upstream.calls.at(-1)?.request.url).to.match(/chat\/completions$/);
    await stage.ask(MESSAGES, { ...body, tools: [BASH] });
    expect(stage.upstream.calls.at(-1)?.request.url).to.match(/messages$/);
  });

  it('counts tokens as it holds them', async () => {
    const { gateway, account } = stage;
    const use = { type: 'tool_use', id: 'a', name: 'look', input: { city: 'A' } };
    const thinking = { type: 'thinking', thinking: 'I should look.', signature: 'c2ln' };
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG.toString('base64') } };
    const data = Buffer.from('%PDF-1.4 /Type /Page').toString('base64');
    const pdf = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } };
    const talk = (...found: object[]) => [
      user('Look at it.'),
      { role: 'assistant', content: [thinking, use] },
      user([result('a', found)]),
    ];
    const rows: readonly (readonly [body: object, extra: number])[] = [
      [asked('message', { messages: talk(text('r')) }), 0],
      [asked('message', { messages: talk(text('r')), tools: [look, BASH], system: 'Be brief.' }), 1000],
      [asked('message', { messages: talk({ type: 'tool_reference', tool_name: 'look' }), tools: [look] }), 0],
      [asked('eyes', { messages: talk(image, image) }), 2000],
      [asked('message-files', { messages: talk(pdf) }), 2000],
      [asked('message', { messages: [...talk(text('r')), { role: 'system', content: 'Later.' }] }), 0],
    ];
    for (const [body, extra] of rows) {
      const counted = await send(`${gateway.url}${MESSAGES}/count_tokens`, { key: account.key, body });
      const streamed = await send(gateway.url + MESSAGES, { key: account.key, body: { ...body, stream: true } });
      const { reserved_rub: reserved } = parseEvents(streamed.text).at(-1)?.data ?? {};
      // At 10,000 RUB a million, the default of output tokens at 50,000.
      expect(reserved, JSON.stringify(body)).to.be.closeTo(
        (counted.json.input_tokens * 10_000 + 8192 * 50_000) / 1e6,
        1e-9,
      );
      expect(counted.json.input_tokens).to.be.within(extra + 15, extra + 120);
    }
  });

  describe('with system messages between others', () => {
    const late = (said: string, more: object = {}) => ({ role: 'system', content: [{ ...text(said), ...more }] });
    const turns = [
      late('Be brief.'),
      user('a'),
      late('It is late.', { cache_control: { type: 'ephemeral' } }),
      { role: 'assistant', content: 'b' },
      user('c'),
      late('Later.'),
    ];

    it('keeps them where they are, so that the cache knows what comes before', async () => {
      const { system, messages } = await stage.ask(MESSAGES, { model: 'message', messages: turns });
      expect(system).to.equal('Be brief.');
      const said = (role: string, words: string) => ({ role, content: [text(words)] });
      const [a, b, c] = [said('user', 'a'), said('assistant', 'b'), said('user', 'c')];
      expect(messages).to.deep.equal([a, turns[2], b, c, said('system', 'Later.')]);
    });

    it('puts them before an answer, where alone the vendor takes them', async () => {
      const roles = ({ messages }: Json) => messages.map(({ role }: Json) => role);
      const said = [user('a'), { role: 'assistant', content: 'b' }, late('Later.'), user('c')];
      expect(roles(await stage.ask(MESSAGES, { model: 'message', messages: said }))).to.deep.equal([
        'user',
        'assistant',
        'user',
        'system',
      ]);
      const input = [user('a'), { role: 'developer', content: 'Later.' }, user('c')];
      expect(roles(await stage.ask(RESPONSES, { model: 'message', input }))).to.deep.equal(['user', 'user', 'system']);
    });

    for (const path of [MESSAGES, CHAT]) {
      it(`keeps them in a chat where the catalog says so, on ${path}`, async () => {
        const { messages } = await stage.ask(path, { model: 'chat-caching', messages: turns });
        expect(messages.map(({ role, content }: Json) => [role, content])).to.deep.equal([
          ['system', 'Be brief.'],
          ['user', 'a'],
          ['system', 'It is late.'],
          ['assistant', 'b'],
          ['user', 'c'],
          ['system', 'Later.'],
        ]);
      });

      it(`keeps them among the items of responses, on ${path}`, async () => {
        const { instructions, input } = await stage.ask(path, { model: 'responses', messages: turns });
        expect(instructions).to.equal('Be brief.');
        const said = (role: string, type: string, words: string) => ({ role, content: [{ type, text: words }] });
        expect(input).to.deep.equal([
          said('user', 'input_text', 'a'),
          said('system', 'input_text', 'It is late.'),
          said('assistant', 'output_text', 'b'),
          said('user', 'input_text', 'c'),
          said('system', 'input_text', 'Later.'),
        ]);
      });
    }

    it('keeps them in long bodies, and still wants results for calls', async () => {
      const use = { type: 'tool_use', id: 'a', name: 'look', input: {} };
      const messages = [
        user('long '.repeat(60_000)),
        { role: 'assistant', content: [use] },
        user([result('a')]),
        turns[5],
      ];
      const body = await stage.ask(MESSAGES, { model: 'message', tools: [look], messages });
      expect(body.messages.at(-1)).to.deep.equal({ role: 'system', content: 'Later.' });
      const open = [
        user(),
        { role: 'assistant', content: [use] },
        user(),
        turns[5],
        { role: 'assistant', content: 'b' },
      ];
      expect(await stage.refused(MESSAGES, { model: 'message', tools: [look], messages: [...open, user()] })).to.match(
        /id of a call without a result/,
      );
    });

    it('makes them part of the messages of the user for contents', async () => {
      const { systemInstruction, contents } = await stage.ask(MESSAGES, { model: 'contents', messages: turns });
      expect(systemInstruction.parts).to.deep.equal([{ text: 'Be brief.' }]);
      const said = JSON.stringify(contents.filter(({ role }: { role: string }) => role === 'user'));
      expect(said).to.match(/<system-reminder>\\nIt is late\..*<system-reminder>\\nLater\./);
    });

    for (const [path, model] of [
      [MESSAGES, 'message-bare'],
      [MESSAGES, 'chat'],
      [MESSAGES, 'responses-bare'],
      [MESSAGES, 'old'],
      [CHAT, 'message'],
      [CHAT, 'chat'],
    ] as const) {
      it(`makes them part of the system prompt elsewhere: ${model} on ${path}`, async () => {
        const body = await stage.ask(path, { model, messages: turns });
        const written = JSON.stringify(body);
        const { system = body.instructions ?? body.systemInstruction ?? body.messages?.[0] } = body;
        const said = JSON.stringify(system).replaceAll(/\\n|"|\},\{|[a-z_]+:/g, ' ');
        expect(said).to.match(/Be brief\..*It is late\..*Later\./);
        expect(written.match(/Later/g)).to.have.length(1);
      });
    }
  });

  describe('with tool search', () => {
    const far = { ...look, name: 'mcp.far', defer_loading: true };
    const examples = { input_examples: [{ city: 'A' }], eager_input_streaming: true };
    const search = { type: 'tool_use', id: 'a', name: 'look', input: {} };
    const reference = { type: 'tool_reference', tool_name: 'mcp.far' };
    const found = result('a', [text('found'), reference]);
    const searched = {
      tools: [{ ...look, ...examples }, far],
      messages: [user(), { role: 'assistant', content: [search] }, user([found])],
    };

    it('passes deferred tools and references, by the names that the vendor takes', async () => {
      const { tools, messages } = await stage.ask(MESSAGES, { model: 'message', ...searched });
      expect(tools[0]).to.deep.equal({ ...look, ...examples });
      expect(tools[1]).to.include({ defer_loading: true }).and.not.include({ name: 'mcp.far' });
      const [said, named] = messages[2].content[0].content;
      expect(said).to.deep.equal(text('found'));
      expect(named).to.deep.equal({ type: 'tool_reference', tool_name: tools[1].name });
    });

    for (const model of [...OTHERS, 'chat-files']) {
      it(`offers all tools at once elsewhere, and says what was found: ${model}`, async () => {
        const body = await stage.ask(MESSAGES, { model, ...searched });
        // This plugin also writes the text by which the gateway counts tools.
        if (model === 'old') delete body.tools.text;
        const written = JSON.stringify(body);
        expect(written).to.not.match(/defer_loading|input_examples|tool_reference|eager/);
        expect(written).to.match(/mcp.far/);
      });
    }

    it('says what was found in the histories of other formats, too', async () => {
      const history = [user(), { role: 'assistant', content: [search] }, user([result('a', [reference])])];
      const chat = await stage.ask(CHAT, { model: 'chat', messages: history });
      expect(chat.messages.at(-1)).to.include({ role: 'tool', content: 'mcp.far' });
      const call = { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' };
      const input = [user(), call, user([result('a', [reference])])];
      const other = await stage.ask(RESPONSES, { model: 'chat', input });
      expect(other.messages.at(-1)).to.include({ role: 'tool', content: 'mcp.far' });
    });

    it('refuses a reference without a name', async () => {
      const nameless = user([result('a', [{ type: 'tool_reference' }])]);
      const messages = [user(), { role: 'assistant', content: [search] }, nameless];
      const message = await stage.refused(MESSAGES, { model: 'message', tools: [look], messages });
      expect(message).to.match(/^Invalid `messages\[2\]\.content\[0\]\.content\[0\]\.tool_name`/);
    });
  });

  describe('with fields and betas of its own', () => {
    const fields = { metadata: { user_id: 'u-1', other: 1 }, context_management: EDITS };
    const CONTEXT = 'context-management-2025-06-27';

    it('passes those that the operator allows', async () => {
      const wanted = `${CONTEXT}, interleaved-thinking-2025-05-14,context-1m-2025-08-07,code-execution-2025-05-22,a b`;
      const body = await stage.ask(MESSAGES, asked('message', fields), beta(wanted));
      expect(sentBetas()).to.equal(`${CONTEXT},interleaved-thinking-2025-05-14`);
      expect(body.metadata).to.deep.equal({ user_id: 'u-1' });
      expect(body.context_management).to.deep.equal(EDITS);
    });

    it('leaves out a field whose beta is not allowed, or was not asked for', async () => {
      for (const [model, wanted] of [
        ['message', 'interleaved-thinking-2025-05-14'],
        ['message-bare', CONTEXT],
      ] as const) {
        const body = await stage.ask(MESSAGES, asked(model, fields), beta(wanted));
        expect(body).to.have.property('metadata').and.not.have.property('context_management');
      }
      expect(sentBetas()).to.equal(undefined);
    });

    for (const model of OTHERS) {
      it(`keeps them from other vendors: ${model}`, async () => {
        const body = await stage.ask(MESSAGES, asked(model, fields), beta(CONTEXT));
        expect(body).to.not.have.any.keys('metadata', 'context_management');
        expect(sentBetas()).to.equal(undefined);
      });
    }

    it('passes how thinking is shown', async () => {
      const shown = { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'high' } };
      const body = await stage.ask(MESSAGES, asked('message', shown));
      expect([body.thinking, body.output_config]).to.deep.equal([shown.thinking, shown.output_config]);
      const other: Json = await stage.ask(MESSAGES, asked('chat', shown));
      expect(JSON.stringify(other)).to.not.contain('omitted');
    });

    for (const [wrong, words] of [
      [{ metadata: { user_id: 5 } }, /^Invalid `metadata\.user_id`: must be a string/],
      [{ context_management: { edits: {} } }, /^Invalid `context_management\.edits`: must be an array/],
      [{ context_management: { edits: [5] } }, /edits\[0\]`: must be an object/],
      [{ context_management: { edits: [{}] } }, /edits\[0\]\.type`: must be a string/],
      [{ context_management: { edits: [{ type: 'compact_20260112' }] } }, /edits\[0\].type`: must be one that clears/],
      [
        { context_management: { edits: [{ type: 'summarize_20270101' }] } },
        /edits\[0\].type`: must be one that clears/,
      ],
      [{ thinking: { type: 'adaptive', display: 5 } }, /^Invalid `thinking\.display`: must be a string/],
      [{ tools: [{ ...look, defer_loading: 1 }] }, /^Invalid `tools\[0\]\.defer_loading`: must be a boolean/],
    ] as const) {
      it(`refuses ${JSON.stringify(wrong)}`, async () => {
        expect(await stage.refused(MESSAGES, asked('message', wrong))).to.match(words);
      });
    }
  });
});
