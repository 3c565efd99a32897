import { Buffer } from 'node:buffer';
import { expect } from 'chai';
import type { ChatQuirks, Content, TextMessage, Tools } from '../../../../lib/upstream/contract/provider.ts';
import { chatBody } from '../../../../lib/upstream/formats/chat/request.ts';

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const IMAGE: Content = { type: 'image', mediaType: 'image/png', bytes: Buffer.from('p') } as Content;
const SENT = { type: 'image_url', image_url: { url: 'data:image/png;base64,cA==' } };
const text = (said: string) => ({ type: 'text', text: said }) as const;
const CALL: Content = { type: 'tool-call', id: 'a', name: 'look', json: '{}' };

const sent = (messages: readonly TextMessage[], quirks?: ChatQuirks, tools?: Tools) =>
  chatBody({ model: 'm', messages, maxTokens: 9, options: {}, ...(tools && { tools }) }, base64, quirks).messages;

const result = (content: readonly Content[], isError = false) =>
  ({ type: 'tool-result', id: 'a', name: 'look', isError, content }) as Content;

describe('requests in the chat format', () => {
  it('have a lone text as it is, and anything else as blocks', () => {
    for (const [content, written] of [
      [[text('Hi')], 'Hi'],
      [
        [text('Hi'), text('there')],
        [text('Hi'), text('there')],
      ],
      [[IMAGE], [SENT]],
      [
        [text('Hi'), IMAGE],
        [text('Hi'), SENT],
      ],
    ] as const) {
      expect(sent([{ role: 'user', content }])).to.deep.equal([{ role: 'user', content: written }]);
    }
  });

  it('have the results of tools as messages of their own, which say what the format has no place for', () => {
    for (const [content, isError, written] of [
      [[], false, ''],
      [[], true, 'Error: '],
      [[text('seen')], false, 'seen'],
      [[text('seen')], true, 'Error: seen'],
      [[text('seen'), text('twice')], true, [text('Error: seen'), text('twice')]],
    ] as const) {
      const messages = sent([{ role: 'user', content: [text('and?'), result(content, isError)] }]);
      expect(messages).to.deep.equal([
        { role: 'tool', tool_call_id: 'a', content: written },
        { role: 'user', content: 'and?' },
      ]);
    }
    expect(sent([{ role: 'user', content: [result([IMAGE])] }])).to.deep.equal([
      { role: 'tool', tool_call_id: 'a', content: 'The image follows.' },
      { role: 'user', content: [text('Of the result of a:'), SENT] },
    ]);
  });

  it('have markers where an upstream takes them, and lists of blocks then', () => {
    const cache = { ttl: '1h' } as const;
    const marked = { cache_control: { type: 'ephemeral', ttl: '1h' } };
    const system = [text('Be brief.'), { ...text('Always.'), cache }];
    const messages: readonly TextMessage[] = [
      { role: 'user', content: [text('Hi')] },
      { role: 'assistant', content: [CALL] },
      { role: 'user', content: [{ ...result([text('seen')]), cache } as Content, { ...IMAGE, cache } as Content] },
    ];
    const call = { model: 'm', system, messages, maxTokens: 9, options: {} };
    const called = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } };
    expect(chatBody(call, base64, { takesMarkers: true }).messages).to.deep.equal([
      { role: 'system', content: [text('Be brief.'), { ...text('Always.'), ...marked }] },
      { role: 'user', content: [text('Hi')] },
      { role: 'assistant', content: null, tool_calls: [called] },
      { role: 'tool', tool_call_id: 'a', content: [{ ...text('seen'), ...marked }] },
      { role: 'user', content: [{ ...SENT, ...marked }] },
    ]);
    expect(chatBody(call, base64).messages).to.deep.equal([
      { role: 'system', content: 'Be brief.\n\nAlways.' },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [called] },
      { role: 'tool', tool_call_id: 'a', content: 'seen' },
      { role: 'user', content: [SENT] },
    ]);
    // Without any, all is as everywhere.
    expect(sent(messages.slice(0, 1), { takesMarkers: true })).to.deep.equal([{ role: 'user', content: 'Hi' }]);
  });

  it('have blank thoughts with every answer where an upstream needs them and there are tools or calls', () => {
    const blank = { reasoning_content: ' ' };
    const called = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } };
    const said = { role: 'assistant', content: [text('Hm')] } as const;
    const calling = { role: 'assistant', content: [CALL] } as const;
    const asked = { role: 'user', content: [text('Hi')] } as const;
    const plain = { role: 'assistant', content: 'Hm' };
    const withCall = { role: 'assistant', content: null, tool_calls: [called] };
    const hi = { role: 'user', content: 'Hi' };
    const quirks = { needsThoughts: true };
    expect(sent([asked, said], quirks)).to.deep.equal([hi, plain]);
    expect(sent([asked, said], quirks, { list: [] })).to.deep.equal([hi, { ...plain, ...blank }]);
    expect(sent([said, calling], quirks)).to.deep.equal([
      { ...plain, ...blank },
      { ...withCall, ...blank },
    ]);
    expect(sent([said, calling])).to.deep.equal([plain, withCall]);
  });
});
