// Texts inside blocks: kept to a depth, and never taken from what is data.
import { expect } from 'chai';
import { joinSystem, readMessages, readSystem } from '../../../lib/api/dialects/messages.ts';

/** The texts of one user message with this content beside a prompt. */
function textsIn(block: object): readonly string[] {
  const content = [block, { type: 'text', text: 'hi' }];
  const { messages } = readMessages([{ role: 'user', content }]);
  return messages[0]?.content.map((part) => (part.type === 'text' ? part.text : part.type)) ?? [];
}

/** A text inside so many blocks. */
function nested(depth: number): object {
  return depth === 0 ? { type: 'text', text: 'deep' } : { type: 'wrap', content: [nested(depth - 1)] };
}

describe('texts of messages', () => {
  it('are kept two blocks deep and cut off far down', () => {
    expect(textsIn(nested(1))).to.deep.equal(['deep', 'hi']);
    expect(textsIn(nested(2))).to.deep.equal(['deep', 'hi']);
    expect(textsIn(nested(20))).to.deep.equal(['hi']);
  });

  it('are not taken from data', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'aGk=' };
    expect(textsIn({ type: 'wrap', content: [{ type: 'image', source }] })).to.deep.equal(['hi']);
    expect(textsIn({ type: 'document', source: { ...source, media_type: 'application/pdf' } })).to.deep.equal(['hi']);
    expect(textsIn({ type: 'search_result', source: 'https://x.example' })).to.deep.equal(['hi']);
    expect(textsIn({ type: 'tool_use', input: { text: 'no', content: 'no' } })).to.deep.equal(['hi']);
  });

  it('are taken from documents of text', () => {
    expect(textsIn({ type: 'document', source: { type: 'text', data: 'paper' } })).to.deep.equal(['paper', 'hi']);
    expect(textsIn({ type: 'document', source: { type: 'content', content: 'paper' } })).to.deep.equal(['paper', 'hi']);
  });

  it('never fail on blocks of strange shape', () => {
    for (const block of [
      { type: 'x', text: 5, content: { content: { content: null } } },
      { type: 'x', content: [null, 5, [], ['a'], { content: [[['b']]] }] },
      { type: 'x', source: [], content: undefined },
      { type: 'x', source: { type: 'text', data: { text: ['c'] } } },
    ]) {
      expect(textsIn(block).at(-1)).to.equal('hi');
    }
  });

  it('join to a system prompt, or to none', () => {
    expect(joinSystem(readSystem('a'))).to.equal('a');
    expect(joinSystem(readSystem(undefined))).to.equal(undefined);
    expect(joinSystem(['a', 'b'])).to.equal('a\n\nb');
  });
});
