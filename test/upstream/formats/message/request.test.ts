import { expect } from 'chai';
import type { Content, TextCall, TextMessage } from '../../../../lib/upstream/contract/provider.ts';
import { messageBody } from '../../../../lib/upstream/formats/message/request.ts';

const bodyOf = (messages: readonly TextMessage[]) =>
  messageBody({ model: 'm', messages, maxTokens: 9, options: {} }, () => '');

describe('requests in the message format', () => {
  it('puts results first, and takes ids of other upstreams', () => {
    const id = 'functions.look:0';
    const content: Content[] = [
      { type: 'text', text: 'and?' },
      { type: 'tool-result', id, name: 'look', isError: false, content: [] },
    ];
    const { messages } = bodyOf([
      { role: 'assistant', content: [{ type: 'tool-call', id, name: 'look', json: '[1]' }] },
      { role: 'user', content },
    ]);
    expect(messages).to.deep.equal([
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'functions_2elook_3a0', name: 'look', input: { INVALID_JSON: '[1]' } }],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'functions_2elook_3a0', content: [] },
          { type: 'text', text: 'and?' },
        ],
      },
    ]);
  });

  it('tell calls apart whose ids are too long or would be spelled alike', () => {
    const ids = ['a_3ab', 'a:b', `${'x'.repeat(200)}1`, `${'x'.repeat(200)}2`];
    const { messages } = bodyOf([
      { role: 'assistant', content: ids.map((id) => ({ type: 'tool-call', id, name: 'look', json: '{}' })) },
      {
        role: 'user',
        content: ids.map((id) => ({ type: 'tool-result', id, name: 'look', isError: false, content: [] })),
      },
    ]);
    const [calls, results] = messages as readonly { readonly content: readonly Record<string, unknown>[] }[];
    const taken = calls?.content.map(({ id }) => id) ?? [];
    expect(taken[0]).to.equal('a_3ab');
    expect(new Set(taken)).to.have.property('size', 4);
    for (const id of taken) expect(id).to.match(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(results?.content.map((result) => result.tool_use_id)).to.deep.equal(taken);
  });

  it('end an answer to be continued without white space, and change no other text', () => {
    const said = (role: 'user' | 'assistant', ...texts: readonly string[]): TextMessage => ({
      role,
      content: texts.map((text) => ({ type: 'text', text })),
    });
    const contents = (...messages: readonly TextMessage[]) =>
      (bodyOf(messages).messages as readonly { content: unknown }[]).map(({ content }) => content);
    const blocks = (...texts: readonly string[]) => texts.map((text) => ({ type: 'text', text }));
    expect(contents(said('user', 'a \n'), said('assistant', 'b '), said('user', 'c '))).to.deep.equal([
      ...['a \n', 'b ', 'c '],
    ]);
    expect(contents(said('user', 'a '), said('assistant', 'b \n'))).to.deep.equal(['a ', 'b']);
    expect(contents(said('assistant', 'a ', 'b '), said('user', 'c ', 'd '))).to.deep.equal([
      ...[blocks('a ', 'b '), blocks('c ', 'd ')],
    ]);
    expect(contents(said('assistant', 'a ', 'b '))).to.deep.equal([blocks('a ', 'b')]);
  });

  it('say how tools may be called, one at a time too, but nothing more than none where none may be', () => {
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] as const;
    const single = { disable_parallel_tool_use: true };
    for (const [tools, choice] of [
      [{}, undefined],
      [{ single: true }, { type: 'auto', ...single }],
      [{ choice: 'any' }, { type: 'any' }],
      [{ choice: 'none', single: true }, { type: 'none' }],
      [
        { choice: { name: 'look' }, single: true },
        { type: 'tool', name: 'look', ...single },
      ],
    ] as const) {
      const list = [{ name: 'look', schema: { type: 'object' } }];
      const body = messageBody(
        { model: 'm', messages, maxTokens: 9, options: {}, tools: { list, ...tools } },
        () => '',
      );
      expect(body.tool_choice, JSON.stringify(tools)).to.deep.equal(choice);
    }
  });

  it('define the tools of a history whose call may have none, and forbid them', () => {
    const content: Content[] = [{ type: 'tool-call', id: 'a', name: 'look', json: '{}' }];
    expect(bodyOf([{ role: 'assistant', content }])).to.deep.include({
      tools: [{ name: 'look', description: undefined, input_schema: { type: 'object' }, strict: undefined }],
      tool_choice: { type: 'none' },
    });
    expect(bodyOf([{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }])).to.not.have.any.keys(
      'tools',
      'tool_choice',
    );
  });

  it('have one of temperature and top_p, the temperature up to 1, and neither beside thinking', () => {
    const body = (more: Partial<TextCall>) =>
      messageBody({ model: 'm', messages: [], maxTokens: 9, options: {}, ...more }, () => '');
    const rows: readonly (readonly [sampling: TextCall['sampling'], written: object])[] = [
      [
        { temperature: 1.5, topP: 0.9, topK: 40, seed: 7 },
        { temperature: 1, top_k: 40 },
      ],
      [
        { temperature: 0, topP: 0.9 },
        { temperature: 0, top_k: undefined },
      ],
      [
        { topP: 0.9, topK: 40 },
        { top_p: 0.9, top_k: 40 },
      ],
    ];
    for (const [sampling, written] of rows) {
      const plain = { model: 'm', max_tokens: 9, messages: [], stream: true };
      expect(body({ ...(sampling && { sampling }) })).to.deep.equal({ ...plain, ...written });
      expect(body({ ...(sampling && { sampling }), reasoning: { mode: 'off' } })).to.deep.equal({
        ...plain,
        ...written,
      });
      expect(body({ ...(sampling && { sampling }), reasoning: { mode: 'auto' } })).to.deep.equal(plain);
    }
  });

  it('have no stop string of spaces alone', () => {
    const body = (...stops: readonly string[]) =>
      messageBody({ model: 'm', messages: [], maxTokens: 9, options: {}, stops }, () => '');
    expect(body('\n', 'END', ' ').stop_sequences).to.deep.equal(['END']);
    expect(body('\n')).not.to.have.property('stop_sequences');
  });

  it('have references to tools, and predefined tools with the fields that they came with', () => {
    const tools = {
      list: [{ name: 'bash', schema: {}, isPredefined: true, messageFields: { type: 'bash_20250124' } }],
    };
    const content: Content[] = [
      {
        type: 'tool-result',
        id: 'a',
        name: 'find',
        isError: true,
        content: [{ type: 'tool-reference', name: 'look' }],
      },
    ];
    const messages = [{ role: 'user', content }] as const;
    const body = messageBody({ model: 'm', messages, maxTokens: 9, options: {}, tools: tools as never }, () => '');
    expect(body).to.deep.include({
      tools: [{ type: 'bash_20250124' }],
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'a',
              content: [{ type: 'tool_reference', tool_name: 'look' }],
              is_error: true,
            },
          ],
        },
      ],
    });
  });

  it('have documents of text, of pieces and of bytes, named and citable where they are', () => {
    const bytes = Buffer.from('Hi');
    const content: Content[] = [
      { type: 'document', mediaType: 'text/markdown', bytes, name: 'a.md', citations: true },
      { type: 'document', mediaType: 'text/plain', bytes, pieces: ['H', 'i'] },
      { type: 'document', mediaType: 'application/pdf', bytes },
    ];
    const { messages } = messageBody(
      { model: 'm', messages: [{ role: 'user', content }], maxTokens: 9, options: {} },
      () => 'SGk=',
    );
    expect(messages).to.deep.equal([
      {
        role: 'user',
        content: [
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'Hi' },
            title: 'a.md',
            citations: { enabled: true },
          },
          {
            type: 'document',
            source: {
              type: 'content',
              content: [
                { type: 'text', text: 'H' },
                { type: 'text', text: 'i' },
              ],
            },
          },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'SGk=' } },
        ],
      },
    ]);
  });
});
