import { expect } from 'chai';
import { CustomInput, readCustomInput } from '../../../../lib/api/dialects/custom-input.ts';
import { isFault } from '../../../../lib/base/faults.ts';
import type { TextCall } from '../../../../lib/upstream/contract/provider.ts';
import { responsesBody } from '../../../../lib/upstream/formats/responses/request.ts';
import { type Json, parse } from './stage.ts';

const text = (words: string) => ({ type: 'text', text: words });
const user = (content: unknown) => ({ type: 'message', role: 'user', content });
const call = (id: string, more: object = {}) => ({
  type: 'function_call',
  call_id: id,
  name: 'look',
  arguments: '{"n":12345678901234567890}',
  ...more,
});
const output = (id: string, said: unknown, type = 'function_call_output') => ({ type, call_id: id, output: said });
const FUNCTION = { type: 'function', name: 'look', parameters: null };

function refusalOf(body: object): string {
  try {
    parse(body);
  } catch (error) {
    if (isFault(error)) return error.message;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('responses requests', () => {
  it('join what belongs to one turn of the assistant, and its results', () => {
    const { messages, hasCalls } = parse({
      input: [
        user('hi'),
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: null },
        { role: 'assistant', content: [{ type: 'output_text', text: 'Let me look.' }] },
        call('a'),
        call('b', { arguments: '' }),
        output('a', 'A'),
        output('b', [{ type: 'input_text', text: 'B' }]),
        { type: 'reasoning', summary: [], encrypted_content: 'messages:sig' },
        { type: 'custom_tool_call', call_id: 'c', name: 'patch', input: 'a\n"b"' },
        output('c', 'done', 'custom_tool_call_output'),
        { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
        user([{ type: 'input_text', text: 'go on' }]),
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      ],
    });
    const result = (id: string, name: string, said: string) => ({
      type: 'tool-result',
      id,
      name,
      isError: false,
      content: [text(said)],
    });
    expect(hasCalls).to.equal(true);
    expect(messages).to.deep.equal([
      { role: 'user', content: [text('hi')] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.' },
          text('Let me look.'),
          { type: 'tool-call', id: 'a', name: 'look', json: '{"n":12345678901234567890}' },
          { type: 'tool-call', id: 'b', name: 'look', json: '{}' },
        ],
      },
      { role: 'user', content: [result('a', 'look', 'A'), result('b', 'look', 'B')] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: '', state: { format: 'messages', value: 'sig' } },
          { type: 'tool-call', id: 'c', name: 'patch', json: '{"input":"a\\n\\"b\\""}', isCustom: true },
        ],
      },
      { role: 'user', content: [result('c', 'patch', 'done')] },
      { role: 'assistant', content: [text('No.')] },
      { role: 'user', content: [text('go on')] },
    ]);
  });

  it('take an output without a call for that of the only open call', () => {
    const { call_id: _, ...unnamed } = output('', 'B');
    const { messages } = parse({ input: [user('hi'), call('a'), call('b'), output('a', 'A'), unnamed] });
    expect(messages[2]?.content[1]).to.include({ type: 'tool-result', id: 'b', name: 'look' });
  });

  it('take the state of reasoning back as it was handed out, and that of the vendor of the format', () => {
    const stateOf = (encrypted: string) => {
      const { messages } = parse({
        input: [
          user('hi'),
          { type: 'reasoning', summary: [], encrypted_content: encrypted },
          call('a'),
          output('a', 'A'),
        ],
      });
      const [reasoning] = messages[1]?.content ?? [];
      return (reasoning as Json).state;
    };
    expect(stateOf('responses:{"id":"x"}')).to.deep.equal({ format: 'responses', value: '{"id":"x"}' });
    expect(stateOf('chat:[{"a":1}]')).to.deep.equal({ format: 'chat', value: '[{"a":1}]' });
    expect(stateOf('gAAAAA==')).to.deep.equal({ format: 'responses', value: 'gAAAAA==' });
    expect(stateOf('text:')).to.equal(undefined);
  });

  it('put instructions before other parts of the system prompt, and leave later ones in their place', () => {
    const { system, messages, messageCount } = parse({
      instructions: 'one',
      input: [
        { role: 'developer', content: 'two' },
        user('hi'),
        { role: 'system', content: [{ type: 'input_text', text: 'three' }] },
      ],
    });
    expect(system).to.deep.equal([text('one'), text('two')]);
    expect(messages).to.deep.equal([
      { role: 'user', content: [text('hi')] },
      { role: 'system', content: [text('three')] },
    ]);
    expect(messageCount).to.equal(3);
    expect(parse({ instructions: null }).system).to.equal(undefined);
  });

  it('show custom tools and namespaces as functions, and leave out what runs elsewhere', () => {
    const { tools } = parse({
      tools: [
        FUNCTION,
        {
          type: 'custom',
          name: 'patch',
          description: 'Patches.',
          format: { type: 'grammar', syntax: 'lark', definition: 'x: "y"' },
        },
        { type: 'web_search' },
        { type: 'namespace', name: 'mcp__db__', tools: [{ ...FUNCTION, description: 'Reads.', strict: true }] },
        { type: 'namespace', name: 'agents', tools: [{ type: 'custom', name: 'run' }] },
        { type: 'mcp', server_label: 'x' },
      ],
      parallel_tool_calls: false,
    });
    expect(tools?.list.map(({ name }) => name)).to.deep.equal(['look', 'patch', 'mcp__db__look', 'agents__run']);
    expect(tools?.list[0]?.schema).to.deep.equal({ type: 'object', properties: {} });
    expect(tools?.list[1]).to.deep.include({
      description: 'Patches.\n\nThe input follows this lark grammar:\n\nx: "y"',
    });
    expect(tools?.list[1]?.schema).to.have.nested.property('properties.input.type', 'string');
    expect(tools?.list[2]).to.deep.include({ description: 'Reads.', strict: true });
    expect(tools?.single).to.equal(true);
    expect(parse({ tools: [{ type: 'web_search' }] }).tools).to.equal(undefined);
  });

  it('shorten the name of a namespaced tool that models could not take, the same way each time', () => {
    const long = { type: 'namespace', name: 'n'.repeat(64), tools: [{ ...FUNCTION, name: 'f'.repeat(64) }] };
    const [tool] = parse({ tools: [long] }).tools?.list ?? [];
    expect(tool?.name).to.have.length(128);
    const { messages } = parse({
      input: [user('hi'), call('a', { name: 'f'.repeat(64), namespace: 'n'.repeat(64) }), output('a', '')],
    });
    expect(messages[1]?.content[0]).to.include({ name: tool?.name });
  });

  it('choose tools', () => {
    const tools = [
      FUNCTION,
      { type: 'namespace', name: 'agents', tools: [{ type: 'custom', name: 'run' }] },
      { type: 'web_search' },
    ];
    const chosen = (choice: unknown) => parse({ tools, tool_choice: choice }).tools;
    expect(chosen('none')?.choice).to.equal('none');
    expect(chosen('required')?.choice).to.equal('any');
    expect(chosen({ type: 'function', name: 'look' })?.choice).to.deep.equal({ name: 'look' });
    expect(chosen({ type: 'custom', name: 'run', namespace: 'agents' })?.choice).to.deep.equal({ name: 'agents__run' });
    const allowed = [{ type: 'function', name: 'look' }, { type: 'web_search' }];
    const few = chosen({ type: 'allowed_tools', mode: 'required', tools: allowed });
    expect([few?.choice, few?.list.map(({ name }) => name)]).to.deep.equal(['any', ['look']]);
    const hosted = { type: 'allowed_tools', tools: [{ type: 'web_search' }] };
    expect(chosen({ ...hosted, mode: 'auto' })).to.equal(undefined);
    expect(refusalOf({ tools, tool_choice: { ...hosted, mode: 'required' } })).to.match(/requires a call/);
  });

  it('keep the phase of messages for upstreams of the format', () => {
    const answer = (text: string, phase?: unknown) => ({
      ...(phase !== undefined && { phase }),
      role: 'assistant',
      content: [{ type: 'output_text', text }],
    });
    const { messages } = parse({
      input: [
        user('hi'),
        answer('I look.', 'commentary'),
        call('a'),
        answer('Still.', 'commentary'),
        answer('It is A.', 'final_answer'),
        output('a', 'A'),
        answer('Plain.', null),
        answer('Odd.', 'No word'),
        user('go on'),
      ],
    });
    const sent = responsesBody({ model: 'm', messages, maxTokens: 9, options: {} } as unknown as TextCall, () => '');
    expect((sent.input as Json[]).filter(({ role }) => role === 'assistant')).to.deep.equal([
      {
        ...answer('I look.', 'commentary'),
        content: [
          { type: 'output_text', text: 'I look.' },
          { type: 'output_text', text: 'Still.' },
        ],
      },
      answer('It is A.', 'final_answer'),
      answer('Plain.'),
      answer('Odd.'),
    ]);
  });

  it('have a form of the answer, a wish for reasoning, and keys of a cache', () => {
    const schema = { type: 'object' };
    const request = parse({
      text: { format: { type: 'json_schema', name: 'n', schema, strict: true }, verbosity: 'low' },
      reasoning: { effort: 'low', summary: 'auto' },
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      max_output_tokens: 99_999,
      include: ['reasoning.encrypted_content'],
      stop: 'x',
    });
    expect(request).to.deep.include({
      format: { type: 'json-schema', name: 'n', schema, strict: true },
      formatField: 'text.format',
      verbosity: 'low',
      reasoning: { mode: 'on', effort: 'low', display: 'summarized' },
      showsReasoning: true,
      cacheKey: 'k',
      cacheRetention: '24h',
      maxTokens: 32_768,
      stops: ['x'],
    });
    expect(parse({ reasoning: { exclude: true } }).showsReasoning).to.equal(false);
    for (const field of ['summary', 'generate_summary']) {
      const asked = parse({ reasoning: { [field]: 'concise' } }).reasoning;
      expect(asked, field).to.deep.equal({ mode: 'auto', display: 'summarized' });
    }
    expect(parse({ text: { format: { type: 'json_object' } } }).format).to.deep.equal({ type: 'json' });
    expect(parse({ text: { format: { type: 'text' } }, store: true, background: false })).not.to.have.property(
      'format',
    );
  });

  it('takes tools that clients tell within the conversation, and the later of two of the same name', () => {
    const added = (...tools: object[]) => ({ type: 'additional_tools', role: 'developer', tools });
    const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: "a"' };
    const space = (...tools: object[]) => ({ type: 'namespace', name: 'space', description: 'd', tools });
    const exec = { type: 'custom', name: 'exec', format: grammar };
    const { tools, messages, messageCount, echo } = parse({
      tools: [FUNCTION, { type: 'web_search' }],
      input: [
        added(space(exec, FUNCTION)),
        { type: 'message', role: 'developer', content: 'Be brief.' },
        user('hi'),
        { type: 'custom_tool_call', call_id: 'a', name: 'exec', namespace: 'space', input: 'ls' },
        added({ ...FUNCTION, description: 'newer' }, { type: 'custom', name: 'late' }, { type: 'tool_search' }),
        output('a', 'x', 'custom_tool_call_output'),
        added(space({ type: 'function', name: 'exec', parameters: null })),
        user('go on'),
      ],
      tool_choice: { type: 'function', name: 'look', namespace: 'space' },
    });
    const seen = tools?.list.map(({ name, description, custom }) => [name, description, custom !== undefined]);
    expect(seen).to.deep.equal([
      ['look', 'newer', false],
      ['space__exec', undefined, false],
      ['space__look', undefined, false],
      ['late', undefined, true],
    ]);
    expect(tools?.choice).to.deep.equal({ name: 'space__look' });
    expect((echo as { names: ReadonlyMap<string, object> }).names.get('space__exec')).to.deep.equal({
      name: 'exec',
      namespace: 'space',
    });
    expect(messages.map(({ role }) => role)).to.deep.equal(['user', 'assistant', 'user', 'user']);
    expect(messageCount).to.equal(8);
  });

  it('take what agents write to each other, which no vendor encrypts', () => {
    const message = { type: 'string', description: 'd' };
    const encrypted = { type: 'object', properties: { message: { ...message, encrypted: true }, encrypted: message } };
    const content = [
      { type: 'input_text', text: 'From /root:' },
      { type: 'encrypted_content', encrypted_content: 'Mend it.' },
    ];
    const { tools, messages } = parse({
      tools: [{ type: 'function', name: 'send', parameters: encrypted }],
      input: [{ type: 'agent_message', author: '/root', recipient: '/root/helper', content }],
    });
    expect(messages).to.deep.equal([{ role: 'user', content: [text('From /root:'), text('Mend it.')] }]);
    expect(tools?.list[0]?.schema).to.deep.equal({ type: 'object', properties: { message, encrypted: message } });
  });

  const refusals: readonly (readonly [body: object, message: RegExp])[] = [
    [{ previous_response_id: 'resp_1' }, /^Invalid `previous_response_id`: .* send the items .* in `input` instead\.$/],
    [{ conversation: { id: 'conv_1' } }, /^Invalid `conversation`: .* send its items in `input` instead\.$/],
    [{ input: undefined, prompt: { id: 'pmpt_1' } }, /^Invalid `prompt`: names a prompt, but none is stored here/],
    [{ prompt: { id: 'pmpt_1' } }, /^Invalid `prompt`: .* `instructions` and `input` instead\.$/],
    [{ background: true }, /^Invalid `background`: .* use `stream` instead\.$/],
    [{ input: [user('hi'), { type: 'item_reference', id: 'x' }] }, /^Invalid `input\[1\]\.type`: .*`store: false`/],
    [{ input: [user('hi'), { type: 'some_item' }] }, /^Invalid `input\[1\]\.type`: must not be some_item/],
    [
      { input: [{ type: 'agent_message', content: [{ type: 'encrypted_content' }] }] },
      /^Invalid `input\[0\]\.content\[0\]\.text`: must be a string/,
    ],
    [{ input: [user('hi'), { type: 'additional_tools' }] }, /^Invalid `input\[1\]\.tools`: must be an array of tools/],
    [
      { input: [{ type: 'additional_tools', tools: [FUNCTION, { type: 'function', name: 'a b' }] }, user('hi')] },
      /^Invalid `input\[0\]\.tools\[1\]\.name`: must be 1 to 128/,
    ],
    [{ input: [user('hi'), { type: 5 }] }, /^Invalid `input\[1\]\.type`: must be a string/],
    [{ input: [{ type: 'message', content: 'hi' }] }, /^Invalid `input\[0\]\.role`: must be one of/],
    [{ input: [user('hi'), call('a')] }, /^Invalid `input\[1\]\.call_id`: is the id of a call without a result/],
    [{ input: [user('hi'), output('a', 'x')] }, /^Invalid `input\[1\]\.call_id`: names no unanswered call/],
    [{ input: [user('hi'), call('a'), output('a', 5)] }, /^Invalid `input\[2\]\.output`: must be a string or/],
    [
      { input: [user('hi'), { type: 'custom_tool_call', call_id: 'a', name: 'x' }] },
      /`input\[1\]\.input`: must be a string/,
    ],
    [{ input: [user('hi'), { type: 'reasoning', summary: 'x' }] }, /^Invalid `input\[1\]\.summary`: must be an array/],
    [{ input: [user('hi'), { type: 'reasoning', summary: [5] }] }, /^Invalid `input\[1\]\.summary\[0\]\.text`/],
    [{ input: [user('hi'), { type: 'reasoning', encrypted_content: 5 }] }, /`input\[1\]\.encrypted_content`/],
    [{ input: [user([{ type: 'input_image', file_id: 'x' }])] }, /^Invalid `input\[0\]\.content\[0\]\.image_url`:/],
    [{ input: [user([{ type: 'input_file', file_id: 'x' }])] }, /^Invalid `input\[0\]\.content\[0\]\.file_data/],
    [{ input: '' }, /^Invalid `input`: /],
    [{ input: [] }, /^Invalid `input`: /],
    [{ tools: ['x'] }, /^Invalid `tools\[0\]`: must be an object/],
    [{ tools: [{ name: 'x' }] }, /^Invalid `tools\[0\]\.type`: must be a string/],
    [{ tools: [{ type: 'web_search' }, { type: 'function', name: 'a b' }] }, /^Invalid `tools\[1\]\.name`/],
    [
      { tools: [{ type: 'web_search' }, FUNCTION, FUNCTION] },
      /^Invalid `tools\[2\]\.name`: is already the name of tools\[1\]/,
    ],
    [
      { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 5 }] }] },
      /`tools\[0\]\.tools\[0\]\.name`/,
    ],
    [{ tools: [{ type: 'namespace', name: 'n' }] }, /^Invalid `tools\[0\]\.tools`: must be an array/],
    [
      { tools: [{ type: 'web_search' }], tool_choice: 'required' },
      /^Invalid `tool_choice`: .*no `web_search` runs here/,
    ],
    [
      { tools: [FUNCTION], tool_choice: { type: 'file_search' } },
      /^Invalid `tool_choice\.type`: .*no `file_search` runs here/,
    ],
    [
      { tools: [FUNCTION], tool_choice: { type: 'function', name: 'x' } },
      /^Invalid `tool_choice\.name`: is not the name/,
    ],
    [{ tools: [{ ...FUNCTION, parameters: 'city' }] }, /^Invalid `tools\[0\]\.parameters`/],
    [{ tool_choice: 'required' }, /^Invalid `tool_choice`: requires a call/],
    [{ text: { format: 5 } }, /^Invalid `text\.format`: must be an object/],
    [{ text: { format: { type: 'json_schema', schema: {} } } }, /^Invalid `text\.format\.name`/],
    [{ text: { verbosity: 'loud' } }, /^Invalid `text\.verbosity`: must be one of low, medium, high/],
    [{ reasoning: { effort: 'huge' } }, /^Invalid `reasoning\.effort`: must be one of/],
    [{ metadata: { a: 5 } }, /^Invalid `metadata`: must be an object of up to 16 strings/],
    [{ metadata: { a: 'x'.repeat(513) } }, /^Invalid `metadata`/],
  ];
  for (const [body, message] of refusals) {
    it(`refuse ${JSON.stringify(body).slice(0, 90)}`, () => {
      expect(refusalOf(body)).to.match(message);
    });
  }
});

describe('the input of a custom tool', () => {
  it('is the same however its arguments are cut', () => {
    const rows: readonly (readonly [json: string, input: string])[] = [
      ['{"input":"a\\u00e9\\ud83d\\ude00\\\\\\"\\n"}', 'aé😀\\"\n'],
      [' {\n "input" : "spaced" , "other": 1 }', 'spaced'],
      ['{"input":""}', ''],
      ['{}', ''],
      ['', ''],
      ['{"patch":"another name"}', 'another name'],
      ['{"other":1,"input":"later"}', 'later'],
      ['{"a":"x","b":"y"}', '{"a":"x","b":"y"}'],
      ['no JSON at all', 'no JSON at all'],
      ['{"input":"raw\nbreak"}', 'raw\nbreak'],
    ];
    for (const [json, expected] of rows) {
      expect(readCustomInput(json), json).to.equal(expected);
      for (let size = 1; size < 5; size += 1) {
        const input = new CustomInput();
        let written = '';
        for (let at = 0; at < json.length; at += size) written += input.push(json.slice(at, at + size));
        written += input.end();
        expect(written, json).to.equal(expected);
        expect(input.text).to.equal(expected);
      }
    }
  });
});
