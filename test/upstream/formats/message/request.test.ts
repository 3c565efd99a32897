import { expect } from 'chai';
import type { Content, TextMessage } from '../../../../lib/upstream/contract/provider.ts';
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
});
