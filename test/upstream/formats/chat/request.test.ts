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
    const detailed = (['low', 'high', 'original'] as const).map((detail) => ({ ...IMAGE, detail }) as Content);
    const [{ content = [] } = {}] = sent([{ role: 'user', content: detailed }]) as { content?: unknown[] }[];
    expect(content).to.deep.equal([
      { ...SENT, image_url: { ...SENT.image_url, detail: 'low' } },
      { ...SENT, image_url: { ...SENT.image_url, detail: 'high' } },
      SENT,
    ]);
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

  it('have sampling parameters under the names of the format, and what an answer may be of', () => {
    const all = { temperature: 0.3, topP: 0.9, topK: 40, seed: 7, presencePenalty: -1, frequencyPenalty: 2 };
    const call = { model: 'm', messages: [], maxTokens: 9, options: {}, sampling: all, modalities: ['image'] } as const;
    expect(chatBody(call, base64)).to.deep.equal({
      ...{ model: 'm', messages: [], stream: true, modalities: ['image'] },
      ...{ temperature: 0.3, top_p: 0.9, top_k: 40, seed: 7, presence_penalty: -1, frequency_penalty: 2 },
    });
  });

  it('name a result by the id that its call has there, in a text as well', () => {
    const messages = [{ role: 'user', content: [result([IMAGE])] }] as const;
    const [told, shown] = sent(messages, { needsShortIds: true }) as readonly Record<string, unknown>[];
    expect(told?.tool_call_id).to.match(/^[a-zA-Z0-9]{9}$/);
    expect(shown?.content).to.deep.equal([text(`Of the result of ${told?.tool_call_id}:`), SENT]);
  });

  it('have four stop strings at most, and none where an upstream takes none', () => {
    const call = { model: 'm', messages: [], maxTokens: 9, options: {}, stops: ['a', 'b', 'c', 'd', 'e'] };
    expect(chatBody(call, base64).stop).to.deep.equal(['a', 'b', 'c', 'd']);
    expect(chatBody(call, base64, { omitsStops: true })).not.to.have.property('stop');
  });

  it('have documents of text as text, and others as files with a name', () => {
    const pdf = { type: 'document', mediaType: 'application/pdf', bytes: Buffer.from('p') } as const;
    const plain = { type: 'document', mediaType: 'text/markdown', bytes: Buffer.from('Hi') } as const;
    const file = (filename: string) => ({
      type: 'file',
      file: { filename, file_data: 'data:application/pdf;base64,cA==' },
    });
    expect(
      sent([{ role: 'user', content: [pdf, { ...pdf, name: 'a.pdf' }, plain, { ...plain, name: 'a.md' }] }]),
    ).to.deep.equal([{ role: 'user', content: [file('document.pdf'), file('a.pdf'), text('Hi'), text('a.md\n\nHi')] }]);
    expect(sent([{ role: 'user', content: [result([pdf])] }])).to.deep.equal([
      { role: 'tool', tool_call_id: 'a', content: 'The document follows.' },
      { role: 'user', content: [text('Of the result of a:'), file('document.pdf')] },
    ]);
  });

  it('give back the thoughts of the format as one text, and no others', () => {
    const thought = (said: string, format?: string): Content => ({
      type: 'reasoning',
      text: said,
      ...(format !== undefined && { state: { format, value: '[]' } }),
    });
    const content = [thought('One.'), thought(''), thought('Of another.', 'messages'), thought('Two.', 'chat'), CALL];
    const [answer] = sent([{ role: 'assistant', content }], { needsThoughts: true }) as readonly object[];
    expect(answer).to.deep.include({ reasoning_content: 'One.\n\nTwo.' });
    const messages: readonly TextMessage[] = [
      { role: 'assistant', content },
      { role: 'assistant', content: [CALL] },
    ];
    const [thoughtful, thoughtless] = sent(messages, { takesThoughts: true }) as readonly object[];
    expect(thoughtful).to.deep.include({ reasoning: 'One.\n\nTwo.' }).and.not.have.property('reasoning_content');
    expect(thoughtless).to.have.property('reasoning', undefined);
    const talk: readonly TextMessage[] = [{ role: 'assistant', content: [thought('One.'), text('Hi')] }];
    expect(sent(talk, { takesThoughts: true })).to.deep.equal([{ role: 'assistant', content: 'Hi' }]);
  });

  it('give back details as they were, and a bare signature as one', () => {
    const thought = (value: string, redacted = false): Content => ({
      type: 'reasoning',
      text: 'Hm.',
      ...(redacted && { redacted }),
      state: { format: 'chat', value },
    });
    const given = { type: 'reasoning.summary', summary: 'Hm.', index: 0 };
    const content = [thought(JSON.stringify([given])), thought('sig'), thought('enc', true), text('Hi')];
    const [answer] = sent([{ role: 'assistant', content }], { takesDetails: true }) as readonly object[];
    expect(answer).to.deep.include({
      reasoning_details: [
        given,
        { type: 'reasoning.text', text: 'Hm.', signature: 'sig' },
        { type: 'reasoning.encrypted', data: 'enc' },
      ],
    });
    const plain = [{ type: 'reasoning', text: 'Hm.' }, text('Hi')] as const;
    expect(sent([{ role: 'assistant', content: plain }], { takesDetails: true })).to.deep.equal([
      { role: 'assistant', content: 'Hi' },
    ]);
  });

  it('give back a signature that came behind the answer with its thought', () => {
    const thought = (detail: object): Content => {
      return { type: 'reasoning', text: '', state: { format: 'chat', value: JSON.stringify([detail]) } };
    };
    const first = { type: 'reasoning.text', text: 'Hm.', index: 0 };
    const other = { type: 'reasoning.text', text: 'So.', index: 1 };
    const late = { type: 'reasoning.text', signature: 'sig', index: 0 };
    const detailsOf = (...details: readonly object[]) => {
      const content = [text('Hi'), ...details.map(thought)];
      const [answer] = sent([{ role: 'assistant', content }], { takesDetails: true }) as readonly object[];
      return (answer as { reasoning_details?: unknown }).reasoning_details;
    };
    expect(detailsOf(first, other, late)).to.deep.equal([{ ...first, signature: 'sig' }, other]);
    expect(detailsOf(first, { ...late, text: '' })).to.deep.equal([{ ...first, signature: 'sig' }]);
    // Of another thought, or a second one.
    for (const apart of [
      [other, late],
      [first, { ...late, type: 'reasoning.encrypted' }],
      [late, first],
    ]) {
      expect(detailsOf(...apart)).to.deep.equal(apart);
    }
    const signed = { ...first, signature: 'own' };
    expect(detailsOf(signed, late)).to.deep.equal([signed, late]);
  });
});
