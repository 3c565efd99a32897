import { expect } from 'chai';
import type { RequestContent, RequestMessage, RequestTools, TextRequest } from '../../../lib/calls/text/request.ts';
import { convertReferencesToText, dropTools, dropToolTalk, fitFields } from '../../../lib/calls/text/tools.ts';

const text = (words: string): RequestContent => ({ type: 'text', text: words });
const call: RequestContent = { type: 'tool-call', id: 'call_1', name: 'find', json: '{}' };
const result = {
  type: 'tool-result',
  id: 'call_1',
  content: [{ type: 'text', text: 'found' }],
} as unknown as RequestContent;

const MESSAGES: readonly RequestMessage[] = [
  { role: 'user', content: [text('look')] },
  { role: 'assistant', content: [text('well'), call] },
  { role: 'assistant', content: [call] },
  { role: 'user', content: [result, text('and?')] },
  { role: 'user', content: [result] },
];
const REQUEST = { messages: MESSAGES, hasCalls: true } as TextRequest;

describe('a request with calls of tools', () => {
  it('has the texts of results and no calls for a model without tools', () => {
    expect(dropTools(REQUEST)).to.deep.equal([
      { role: 'user', content: [text('look')] },
      { role: 'assistant', content: [text('well')] },
      { role: 'user', content: [text('found'), text('and?')] },
      { role: 'user', content: [text('found')] },
    ]);
  });

  it('is judged by what people and models said to each other', () => {
    expect(dropToolTalk(REQUEST)).to.deep.equal([
      { role: 'user', content: [text('look')] },
      { role: 'assistant', content: [text('well')] },
      { role: 'user', content: [text('and?')] },
    ]);
  });

  it('is left alone where it has none', () => {
    const { hasCalls: _, ...plain } = REQUEST;
    expect([dropTools(plain), dropToolTalk(plain)]).to.deep.equal([MESSAGES, MESSAGES]);
    expect([dropTools(plain), dropToolTalk(plain)].every((messages) => messages === MESSAGES)).to.equal(true);
  });
});

describe('tools with what only one format has', () => {
  it('lose only the fields of that format at other upstreams', () => {
    const plain = { name: 'look', schema: {} };
    const own = { name: 'find', schema: {}, messageFields: { defer_loading: true } };
    const tools: RequestTools = { list: [plain, own], choice: 'auto', text: 'x' };
    expect(fitFields(tools, { messageFormat: true })).to.equal(tools);
    expect(fitFields(tools, {})).to.deep.equal({ ...tools, list: [plain, { name: 'find', schema: {} }] });
    const bare = { ...tools, list: [plain] };
    expect(fitFields(bare, {})).to.equal(bare);
  });

  it('become their names where an upstream has no references, also in results', () => {
    const reference: RequestContent = { type: 'tool-reference', name: 'find' };
    const inResult = { ...result, content: [reference, text('found')] } as RequestContent;
    expect(convertReferencesToText([{ role: 'user', content: [inResult, reference, call] }])).to.deep.equal([
      { role: 'user', content: [{ ...result, content: [text('find'), text('found')] }, text('find'), call] },
    ]);
  });
});
