import { expect } from 'chai';
import type { Content, ContentsQuirks } from '../../../../lib/upstream/contract/provider.ts';
import { contentsBody } from '../../../../lib/upstream/formats/contents/request.ts';

const call = (id: string, state?: string): Content => ({
  type: 'tool-call',
  id,
  name: 'look',
  json: '{"at":1}',
  ...(state !== undefined && { state: { format: 'contents', value: state } }),
});

function signaturesOf(content: readonly Content[], quirks?: ContentsQuirks): unknown {
  const body = contentsBody({ messages: [{ role: 'assistant', content }] }, () => '', quirks);
  const { contents } = JSON.parse(JSON.stringify(body));
  return contents[0].parts.map((part: { thoughtSignature?: string }) => part.thoughtSignature);
}

describe('requests in the contents format', () => {
  it('give signatures back as they came', () => {
    expect(signaturesOf([call('a', 'signed'), call('b')], { noSignature: 'none' })).to.deep.equal([
      'signed',
      undefined,
    ]);
    expect(signaturesOf([call('a'), call('b', 'signed')], { noSignature: 'none' })).to.deep.equal([
      undefined,
      'signed',
    ]);
  });

  it('say in place of the first one that there is none, where the model wants that', () => {
    const content = [call('a'), call('b')];
    expect(signaturesOf(content, { noSignature: 'none' })).to.deep.equal(['none', undefined]);
    expect(signaturesOf(content)).to.deep.equal([undefined, undefined]);
  });

  it('have a call in one message with what the model said before it', () => {
    const messages = [
      { role: 'assistant', content: [{ type: 'text', text: 'I look.' }] },
      { role: 'assistant', content: [call('a')] },
    ] as const;
    const { contents } = contentsBody({ messages }, () => '');
    const functionCall = { id: 'a', name: 'look', args: { at: 1 } };
    expect(JSON.parse(JSON.stringify(contents))).to.deep.equal([
      { role: 'model', parts: [{ text: 'I look.' }, { functionCall }] },
    ]);
    expect(messages[0].content).to.have.length(1);
  });

  it('have system messages between others among what the user says', () => {
    const said = (role: 'user' | 'system', text: string) => ({ role, content: [{ type: 'text', text }] }) as const;
    const { contents, systemInstruction } = contentsBody(
      { messages: [said('user', 'Hi'), said('system', 'Be brief.')] },
      () => '',
    );
    expect(systemInstruction).to.equal(undefined);
    expect(contents).to.deep.equal([
      { role: 'user', parts: [{ text: 'Hi' }, { text: '<system-reminder>\nBe brief.\n</system-reminder>' }] },
    ]);
  });

  it('name the tools, and whether one must be called, none, or which', () => {
    const tool = { name: 'look', description: 'Looks.', schema: { type: 'object' } };
    const { schema, ...named } = tool;
    const declared = [{ functionDeclarations: [{ ...named, parametersJsonSchema: schema }] }];
    for (const [choice, config] of [
      [undefined, undefined],
      ['auto', { mode: 'AUTO' }],
      ['any', { mode: 'ANY' }],
      ['none', { mode: 'NONE' }],
      [{ name: 'look' }, { mode: 'ANY', allowedFunctionNames: ['look'] }],
    ] as const) {
      const tools = { list: [tool], ...(choice !== undefined && { choice }) };
      const messages = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] as const;
      expect(contentsBody({ messages, tools }, () => '')).to.deep.equal({
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
        tools: declared,
        ...(config && { toolConfig: { functionCallingConfig: config } }),
      });
    }
  });

  it('have what tools said, errors too, with images after it', () => {
    const result = (isError: boolean, ...texts: string[]): Content => ({
      type: 'tool-result',
      id: 'a',
      name: 'look',
      isError,
      content: [
        ...texts.map((text) => ({ type: 'text', text }) as const),
        { type: 'image', mediaType: 'image/png', bytes: new Uint8Array() },
      ],
    });
    const content = [result(false, 'one'), result(false, 'one', 'two'), result(true)];
    const { contents } = contentsBody({ messages: [{ role: 'user', content }] }, () => 'QQ==');
    const image = { inlineData: { mimeType: 'image/png', data: 'QQ==' } };
    const response = (said: object) => ({ functionResponse: { id: 'a', name: 'look', response: said } });
    expect(contents).to.deep.equal([
      {
        role: 'user',
        parts: [
          ...[response({ output: 'one' }), image],
          ...[response({ output: ['one', 'two'] }), image],
          ...[response({ error: '' }), image],
        ],
      },
    ]);
  });

  it('have files by their type, documents of text and names of tools as text', () => {
    const bytes = Buffer.from('Hi');
    const content: readonly Content[] = [
      { type: 'audio', mediaType: 'audio/wav', bytes },
      { type: 'document', mediaType: 'application/pdf', bytes },
      { type: 'document', mediaType: 'text/plain', name: 'a.txt', bytes },
      { type: 'tool-reference', name: 'look' },
    ];
    const { contents } = contentsBody({ messages: [{ role: 'user', content }] }, () => 'SGk=');
    const inline = (mimeType: string) => ({ inlineData: { mimeType, data: 'SGk=' } });
    expect(contents).to.deep.equal([
      {
        role: 'user',
        parts: [inline('audio/wav'), inline('application/pdf'), { text: 'a.txt\n\nHi' }, { text: 'look' }],
      },
    ]);
  });

  it('give thoughts back as such, but not a signature alone, and none of another format', () => {
    const thought = (text: string, format: string): Content => ({
      type: 'reasoning',
      text,
      state: { format, value: 's' },
    });
    const content = [thought('Hm.', 'contents'), thought('', 'contents'), thought('Oh.', 'messages')];
    const { contents } = contentsBody({ messages: [{ role: 'assistant', content }] }, () => '');
    expect(contents).to.deep.equal([
      {
        role: 'model',
        parts: [
          { text: 'Hm.', thought: true, thoughtSignature: 's' },
          { text: '', thoughtSignature: 's' },
        ],
      },
    ]);
  });
});
