import { expect } from 'chai';
import { countBufferedInput, estimateInput } from '../../lib/text/estimate.ts';
import type { TextRequest } from '../../lib/text/request.ts';

function request(texts: readonly string[], more: Partial<TextRequest> = {}): TextRequest {
  return {
    model: 'model-a',
    system: undefined,
    messages: texts.map((text) => ({ role: 'user', content: [{ type: 'text', text }] })),
    messageCount: texts.length,
    images: 0,
    maxTokens: 1000,
    stream: false,
    ...more,
  };
}

const tokensOf = (texts: readonly string[], more?: Partial<TextRequest>) => estimateInput(request(texts, more)).tokens;

describe('estimate of input', () => {
  it('is a token for four bytes, rounded up once, and four for each message', () => {
    expect(tokensOf([''])).to.equal(4);
    expect(tokensOf(['a'])).to.equal(5);
    expect(tokensOf(['abcd'])).to.equal(5);
    expect(tokensOf(['abcde'])).to.equal(6);
    expect(tokensOf(['a', 'b', 'c'])).to.equal(1 + 12);
  });

  it('counts bytes, not characters', () => {
    expect(tokensOf(['привет'])).to.equal(3 + 4);
    expect(tokensOf(['👋'])).to.equal(1 + 4);
  });

  it('counts the system prompt and every part of a message', () => {
    expect(tokensOf(['abcd'], { system: 'efgh' })).to.equal(2 + 4);
    const content = ['abcd', 'efgh', 'ijkl'].map((text) => ({ type: 'text' as const, text }));
    expect(tokensOf([], { messages: [{ role: 'assistant', content }], messageCount: 1 })).to.equal(3 + 4);
  });

  it('adds a thousand for each image', () => {
    expect(tokensOf(['abcd'], { images: 3 })).to.equal(1 + 4 + 3000);
  });

  it('believes counts far above itself, but not without limit', () => {
    const { tokens, tokensMax } = estimateInput(request(['x'.repeat(4_000_000)], { images: 4 }));
    expect(tokens).to.equal(1_000_000 + 4 + 4000);
    expect(tokensMax).to.equal(8_000_000 + 16 * 4004 + 100_000);
  });
});

describe('input of a buffered model', () => {
  it('is a token for four characters, rounded up once, and nothing for messages', () => {
    expect(countBufferedInput(request(['abcd', 'e']))).to.equal(2);
    expect(countBufferedInput(request(['привет!!']))).to.equal(2);
    expect(countBufferedInput(request(['👋👋👋👋'], { system: '👋' }))).to.equal(2);
    expect(countBufferedInput(request(['']))).to.equal(0);
  });
});
