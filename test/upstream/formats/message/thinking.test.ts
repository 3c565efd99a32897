import { expect } from 'chai';
import type { Content, Reasoning, TextCall, ThinkingQuirks } from '../../../../lib/upstream/contract/provider.ts';
import { messageThinking } from '../../../../lib/upstream/formats/message/thinking.ts';

const ADAPTIVE: ThinkingQuirks = { by: 'adaptive', off: 'disabled' };
const BUDGET: ThinkingQuirks = { by: 'budget', off: 'disabled' };
const CALL: Content = { type: 'tool-call', id: 'a', name: 'look', json: '{}' };
const on = (effort: 'minimal' | 'low' | 'xhigh', budgetTokens?: number): Reasoning => ({
  mode: 'on',
  effort,
  ...(budgetTokens !== undefined && { budgetTokens }),
});

function write(reasoning: Reasoning | undefined, quirks: ThinkingQuirks, more: Partial<TextCall> = {}): unknown {
  const call: TextCall = { model: 'm', messages: [], maxTokens: 9000, options: {}, ...more };
  return JSON.parse(JSON.stringify(messageThinking({ ...call, ...(reasoning && { reasoning }) }, quirks)));
}

const effort = (name: string) => ({ output_config: { effort: name } });

describe('thinking of the messages format', () => {
  it('is what the model chooses where nobody asks', () => {
    for (const quirks of [ADAPTIVE, BUDGET]) expect(write(undefined, quirks)).to.deep.equal({});
  });

  it('is turned off as the model wants that, and an effort counts all the same, but the highest', () => {
    const off = { thinking: { type: 'disabled' } };
    expect(write({ mode: 'off' }, ADAPTIVE)).to.deep.equal(off);
    expect(write({ mode: 'off', effort: 'medium' }, ADAPTIVE)).to.deep.equal({ ...off, ...effort('medium') });
    for (const most of ['xhigh', 'max'] as const)
      expect(write({ mode: 'off', effort: most }, ADAPTIVE)).to.deep.equal({ ...off, ...effort('high') });
    expect(write({ mode: 'off', effort: 'medium' }, BUDGET)).to.deep.equal(off);
    const between = { by: 'adaptive', off: 'between_tools' } as const;
    expect(write({ mode: 'off' }, between)).to.deep.equal({ thinking: { type: 'between_tools' } });
    expect(write({ mode: 'off', effort: 'max' }, { by: 'adaptive', off: 'low' })).to.deep.equal(effort('low'));
  });

  it('is adaptive with an effort, of which none is minimal', () => {
    const thinking = { type: 'adaptive' };
    expect(write({ mode: 'auto', display: 'omitted' }, ADAPTIVE)).to.deep.equal({
      thinking: { ...thinking, display: 'omitted' },
    });
    for (const [asked, sent] of [
      ['minimal', 'low'],
      ['low', 'low'],
      ['xhigh', 'xhigh'],
    ] as const)
      expect(write(on(asked, 2000), ADAPTIVE)).to.deep.equal({ thinking, ...effort(sent) });
  });

  it('has a budget where there is one', () => {
    expect(write({ ...on('low', 2000), display: 'summarized' } as Reasoning, BUDGET)).to.deep.equal({
      thinking: { type: 'enabled', budget_tokens: 2000, display: 'summarized' },
    });
    for (const reasoning of [on('low'), { mode: 'auto' } as const]) expect(write(reasoning, BUDGET)).to.deep.equal({});
  });

  it('is left out where a call is required', () => {
    const list = [{ name: 'look', schema: {} }];
    for (const choice of ['any', { name: 'look' }] as const) {
      expect(write(on('low', 2000), BUDGET, { tools: { list, choice } })).to.deep.equal({});
      expect(write(on('low', 2000), ADAPTIVE, { tools: { list, choice } })).to.deep.equal(effort('low'));
      expect(write({ mode: 'off' }, BUDGET, { tools: { list, choice } })).to.deep.equal({
        thinking: { type: 'disabled' },
      });
    }
    expect(write(on('low', 2000), BUDGET, { tools: { list, choice: 'auto' } })).to.have.property('thinking');
  });

  it('is left out where an answer is to be continued', () => {
    const said = (role: 'user' | 'assistant') => ({ role, content: [{ type: 'text', text: 'Hi' }] }) as const;
    const continued = [said('user'), said('assistant')];
    expect(write(on('low', 2000), BUDGET, { messages: continued })).to.deep.equal({});
    expect(write({ mode: 'off' }, BUDGET, { messages: continued })).to.deep.equal({ thinking: { type: 'disabled' } });
    expect(write(on('low', 2000), BUDGET, { messages: [...continued, said('user')] })).to.have.property('thinking');
  });

  it('has no budget where a call of the history lacks its thoughts in the format of the model', () => {
    const thought = (format?: string): Content => ({
      type: 'reasoning',
      text: 'Hm.',
      ...(format !== undefined && { state: { format, value: 's' } }),
    });
    const next = { role: 'user', content: [{ type: 'text', text: 'And?' }] } as const;
    const asks = (content: readonly Content[], quirks: Partial<ThinkingQuirks> = {}) => {
      const messages = [{ role: 'assistant', content } as const, next];
      return Object.keys(write(on('low', 2000), { ...BUDGET, ...quirks }, { messages }) as object);
    };
    expect(asks([thought('messages'), CALL])).to.deep.equal(['thinking']);
    expect(asks([{ type: 'text', text: 'Hi' }])).to.deep.equal(['thinking']);
    for (const content of [[CALL], [thought(), CALL], [thought('chat'), CALL]]) expect(asks(content)).to.deep.equal([]);
    expect(asks([thought(), CALL], { takesUnsigned: true })).to.deep.equal(['thinking']);
    expect(asks([thought('own'), CALL], { stateFormat: 'own' })).to.deep.equal(['thinking']);
    expect(asks([thought('messages'), CALL], { stateFormat: 'own' })).to.deep.equal([]);
  });
});
