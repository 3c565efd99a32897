import { expect } from 'chai';
import type { Content, ResponsesQuirks, TextCall, TextMessage } from '../../../../lib/upstream/contract/provider.ts';
import { responsesBody } from '../../../../lib/upstream/formats/responses/request.ts';

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const write = (more: Partial<TextCall>, quirks?: ResponsesQuirks) =>
  responsesBody({ model: 'm', messages: [], maxTokens: 100, options: {}, ...more }, base64, quirks);
const items = (messages: readonly TextMessage[], quirks?: ResponsesQuirks) => write({ messages }, quirks).input;
const said = (text: string, phase?: string): Content => ({ type: 'text', text, ...(phase !== undefined && { phase }) });
const thought = (text: string, value: string, format = 'responses'): Content => ({
  type: 'reasoning',
  text,
  state: { format, value },
});

describe('requests in the responses format', () => {
  it('store nothing, stream, and have the two sampling parameters that the format has', () => {
    const sampling = { temperature: 0.3, topP: 0.9, topK: 40, seed: 7 };
    const system = [said('Be brief.'), said('Always.')] as TextCall['system'];
    expect(JSON.parse(JSON.stringify(write({ sampling, ...(system && { system }) })))).to.deep.equal({
      model: 'm',
      instructions: 'Be brief.\n\nAlways.',
      input: [],
      max_output_tokens: 100,
      temperature: 0.3,
      top_p: 0.9,
      store: false,
      stream: true,
    });
  });

  it('ask for 16 tokens at least', () => {
    expect(write({ maxTokens: 15 }).max_output_tokens).to.equal(16);
    expect(write({ maxTokens: 17 }).max_output_tokens).to.equal(17);
  });

  it('name the key of the cache where an upstream takes it', () => {
    const keyed = { cacheKey: 'k', cacheRetention: '24h' };
    expect(write(keyed, { takesCacheKey: true })).to.deep.include({
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
    });
    expect(write(keyed)).not.to.have.any.keys('prompt_cache_key', 'prompt_cache_retention');
  });

  it('have a message for each phase of an answer', () => {
    const content = [said('a'), said('b'), said('c', 'commentary'), said('d', 'commentary'), said('e', 'final_answer')];
    const output = (...texts: readonly string[]) => texts.map((text) => ({ type: 'output_text', text }));
    expect(items([{ role: 'assistant', content }])).to.deep.equal([
      { role: 'assistant', content: output('a', 'b') },
      { role: 'assistant', content: output('c', 'd'), phase: 'commentary' },
      { role: 'assistant', content: output('e'), phase: 'final_answer' },
    ]);
  });

  it('have calls behind what was said between two thoughts, and results before what the user says', () => {
    const call: Content = { type: 'tool-call', id: 'a', name: 'look', json: '{"at":' };
    const result: Content = { type: 'tool-result', id: 'a', name: 'look', isError: true, content: [] };
    expect(
      items([
        { role: 'assistant', content: [call, said('One.'), thought('', 'x'), said('Two.')] },
        { role: 'user', content: [said('And?'), result] },
      ]),
    ).to.deep.equal([
      { role: 'assistant', content: [{ type: 'output_text', text: 'One.' }] },
      { type: 'function_call', call_id: 'a', name: 'look', arguments: '{"INVALID_JSON":"{\\"at\\":"}' },
      { type: 'reasoning', summary: [], encrypted_content: 'x' },
      { role: 'assistant', content: [{ type: 'output_text', text: 'Two.' }] },
      { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_text', text: 'Error:' }] },
      { role: 'user', content: [{ type: 'input_text', text: 'And?' }] },
    ]);
  });

  it('give reasoning back as it came, never as an item that says or calls something', () => {
    const item = (type: string) => JSON.stringify({ type, id: 'i', encrypted_content: 'x' });
    const content = [
      thought('Hm.', item('reasoning')),
      thought('', item('compaction')),
      thought('', item('message')),
      thought('Hm.', 'x'),
      thought('Hm.', item('reasoning'), 'chat'),
      { type: 'reasoning', text: 'Hm.' } as const,
    ];
    const given = (type: string) => ({ type, id: 'i', encrypted_content: 'x' });
    expect(items([{ role: 'assistant', content }])).to.deep.equal([
      given('reasoning'),
      given('compaction'),
      given('reasoning'),
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'x' },
    ]);
  });

  it('have files by their type, and documents of text as text', () => {
    const bytes = Buffer.from('Hi');
    const content: readonly Content[] = [
      { type: 'image', mediaType: 'image/png', bytes },
      { type: 'document', mediaType: 'application/pdf', bytes },
      { type: 'document', mediaType: 'text/plain', name: 'a.txt', bytes },
      { type: 'image', mediaType: 'image/png', bytes, detail: 'original' },
    ];
    const result: Content = {
      type: 'tool-result',
      id: 'a',
      name: 'look',
      isError: false,
      content: content.slice(0, 1) as never,
    };
    const image = { type: 'input_image', image_url: 'data:image/png;base64,SGk=' };
    expect(items([{ role: 'user', content: [...content, result] }])).to.deep.equal([
      { type: 'function_call_output', call_id: 'a', output: [image] },
      {
        role: 'user',
        content: [
          image,
          { type: 'input_file', filename: 'document.pdf', file_data: 'data:application/pdf;base64,SGk=' },
          { type: 'input_text', text: 'a.txt\n\nHi' },
          { ...image, detail: 'original' },
        ],
      },
    ]);
  });

  it('have custom tools, their calls and results as such where an upstream takes them, else as functions', () => {
    const custom = { description: 'Patches.' };
    const schema = { type: 'object' };
    const tools = {
      list: [
        { name: 'patch', schema, custom },
        { name: 'look', schema },
      ],
      choice: { name: 'patch' },
    };
    const messages: readonly TextMessage[] = [
      {
        role: 'assistant',
        content: [
          { type: 'tool-call', id: 'a', name: 'patch', json: '{"input":"x"}', isCustom: true },
          { type: 'tool-call', id: 'b', name: 'look', json: '{}' },
        ],
      },
      {
        role: 'user',
        content: ['a', 'b'].map((id) => ({ type: 'tool-result', id, name: 'f', isError: false, content: [] })),
      },
    ];
    const named = { description: undefined, parameters: schema, strict: false };
    const look = { type: 'function', name: 'look', ...named };
    const called = { type: 'function_call', call_id: 'b', name: 'look', arguments: '{}' };
    expect(write({ messages, tools }, { takesCustomTools: true })).to.deep.include({
      tools: [{ type: 'custom', name: 'patch', ...custom }, look],
      tool_choice: { type: 'custom', name: 'patch' },
      input: [
        { type: 'custom_tool_call', call_id: 'a', name: 'patch', input: 'x' },
        called,
        { type: 'custom_tool_call_output', call_id: 'a', output: '' },
        { type: 'function_call_output', call_id: 'b', output: '' },
      ],
    });
    expect(write({ messages, tools })).to.deep.include({
      tools: [{ type: 'function', name: 'patch', ...named }, look],
      tool_choice: { type: 'function', name: 'patch' },
      input: [
        { type: 'function_call', call_id: 'a', name: 'patch', arguments: '{"input":"x"}' },
        called,
        { type: 'function_call_output', call_id: 'a', output: '' },
        { type: 'function_call_output', call_id: 'b', output: '' },
      ],
    });
    const list = [{ name: 'look', schema, strict: true }];
    expect(write({ tools: { list, choice: 'any', single: true } })).to.deep.include({
      tools: [{ ...look, strict: true }],
      tool_choice: 'required',
      parallel_tool_calls: false,
    });
    expect(write({ tools: { list, choice: 'none' } }).tool_choice).to.equal('none');
  });
});
