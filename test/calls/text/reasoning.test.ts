import { expect } from 'chai';
import { resolveReasoning } from '../../../lib/calls/text/reasoning.ts';

describe('reasoning', () => {
  it('is left alone where it is off or up to the model', () => {
    expect(resolveReasoning({ mode: 'off' }, 8192)).to.deep.equal({ mode: 'off' });
    expect(resolveReasoning({ mode: 'auto' }, 8192)).to.deep.equal({ mode: 'auto' });
  });

  const rows = [
    ['minimal', 10_000, 1024],
    ['low', 10_000, 2000],
    ['medium', 10_000, 5000],
    ['high', 10_000, 8000],
    ['xhigh', 10_000, 9500],
    ['max', 10_000, 9500],
    ['low', 1025, 1024],
    ['low', 1100, 1024],
  ] as const;
  for (const [effort, maxTokens, budgetTokens] of rows) {
    it(`makes ${budgetTokens} tokens of ${effort} for ${maxTokens}`, () => {
      expect(resolveReasoning({ mode: 'on', effort }, maxTokens)).to.deep.equal({ mode: 'on', effort, budgetTokens });
    });
  }

  it('has no number where an answer has no room for one', () => {
    expect(resolveReasoning({ mode: 'on', effort: 'high' }, 1024)).to.deep.equal({ mode: 'on', effort: 'high' });
  });

  it('makes an effort of a number, which leaves room for the answer', () => {
    const made = (budgetTokens: number, maxTokens: number) => resolveReasoning({ mode: 'on', budgetTokens }, maxTokens);
    expect(made(1024, 8192)).to.deep.equal({ mode: 'on', effort: 'low', budgetTokens: 1024 });
    expect(made(4095, 8192)).to.deep.equal({ mode: 'on', effort: 'low', budgetTokens: 4095 });
    expect(made(4096, 8192)).to.deep.equal({ mode: 'on', effort: 'medium', budgetTokens: 4096 });
    expect(made(16_383, 32_768)).to.deep.equal({ mode: 'on', effort: 'medium', budgetTokens: 16_383 });
    expect(made(16_384, 32_768)).to.deep.equal({ mode: 'on', effort: 'high', budgetTokens: 16_384 });
    expect(made(1, 8192)).to.deep.equal({ mode: 'on', effort: 'low', budgetTokens: 1024 });
    expect(made(30_000, 8192)).to.deep.equal({ mode: 'on', effort: 'high', budgetTokens: 8191 });
  });
});
