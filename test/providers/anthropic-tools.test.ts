// What a messages upstream is asked when calls of tools and thinking meet.
import { expect } from 'chai';
import type { TextCall, Tools } from '../../lib/upstream/contract/provider.ts';
import { createHost } from '../../lib/upstream/host/host.ts';
import { buildMessagesBody } from '../../providers/anthropic/request.ts';

const TOOLS: Tools = { list: [{ name: 'look', schema: { type: 'object' } }] };

const HOST = createHost({ upstream: 'acme', allowedOrigins: [], log: { warn() {} } });

function asked(
  more: Partial<TextCall>,
  thinking: 'adaptive' | 'budget' = 'budget',
  unsignedThinking: 'omit' | 'send' | 'blank' = 'omit',
): Record<string, unknown> {
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }] as const;
  const call: TextCall = { model: 'm', messages, maxTokens: 9000, options: {}, tools: TOOLS, ...more };
  const wire = {
    baseUrl: 'https://x.example',
    version: '1',
    auth: 'bearer',
    thinkingOff: 'disabled',
    thinking,
    betas: [],
    systemMessages: 'in_place',
    unsignedThinking,
    cachedInput: 'beside',
  } as const;
  return buildMessagesBody(call, wire, HOST)(() => '') as Record<string, unknown>;
}

const reasoning = { mode: 'on', effort: 'high', budgetTokens: 2000 } as const;

describe('anthropic: tools and thinking', () => {
  it('does not think where a call is demanded, which is refused', () => {
    for (const style of ['adaptive', 'budget'] as const) {
      expect(asked({ reasoning }, style)).to.have.property('thinking');
      for (const choice of ['any', { name: 'look' }] as const) {
        expect(asked({ reasoning, tools: { ...TOOLS, choice } }, style)).to.not.have.property('thinking');
      }
    }
  });

  it('sends thoughts without a signature back only where the vendor wants them', () => {
    const call = { type: 'tool-call', id: 'a', name: 'look', json: '{}' } as const;
    const thought = { type: 'reasoning', text: 'Hm' } as const;
    const foreign = { ...thought, state: { format: 'responses', value: '{}' } } as const;
    const result = { type: 'tool-result', id: 'a', name: 'look', content: [], isError: false } as const;
    const answered = { role: 'user', content: [result] } as const;
    const messages = [{ role: 'assistant', content: [thought, foreign, call] }, answered] as const;
    const use = { type: 'tool_use', id: 'a', name: 'look', input: {} };
    const contentOf = (style: 'omit' | 'send') => {
      const [message] = asked({ messages, reasoning }, 'budget', style).messages as { content: object[] }[];
      return message?.content;
    };
    expect(contentOf('omit')).to.deep.equal([use]);
    expect(contentOf('send')).to.deep.equal([{ type: 'thinking', thinking: 'Hm', signature: '' }, use]);
    expect(asked({ messages, reasoning }, 'budget', 'omit')).to.not.have.property('thinking');
    expect(asked({ messages, reasoning }, 'budget', 'send')).to.have.property('thinking');
    const thoughtless = [{ role: 'assistant', content: [call] }, answered] as const;
    expect(asked({ messages: thoughtless, reasoning }, 'budget', 'send')).to.not.have.property('thinking');
  });

  it('sends a blank thought before a call that has none, where the vendor refuses it otherwise', () => {
    const call = { type: 'tool-call', id: 'a', name: 'look', json: '{}' } as const;
    const thought = { type: 'reasoning', text: 'Hm' } as const;
    const said = { type: 'text', text: 'I look.' } as const;
    const result = { type: 'tool-result', id: 'a', name: 'look', content: [], isError: false } as const;
    const turn = (...content: readonly (typeof call | typeof thought | typeof said)[]) =>
      [{ role: 'assistant', content } as const, { role: 'user', content: [result] } as const] as const;
    const messages = [...turn(said, call), ...turn(thought, call), { role: 'assistant', content: [said] } as const];
    const kindsOf = (more: Partial<TextCall>) =>
      (asked({ messages, ...more }, 'budget', 'blank').messages as { role: string; content: { type: string }[] }[])
        .filter(({ role, content }) => role === 'assistant' && typeof content !== 'string')
        .map(({ content }) => content.map(({ type }) => type));
    const whole = [
      ['thinking', 'text', 'tool_use'],
      ['thinking', 'tool_use'],
    ];
    expect(kindsOf({})).to.deep.equal(whole);
    expect(kindsOf({ reasoning })).to.deep.equal(whole);
    expect(kindsOf({ reasoning: { mode: 'off' } })).to.deep.equal([['text', 'tool_use'], whole[1]]);
    const [first] = asked({ messages }, 'budget', 'blank').messages as { content: object[] }[];
    expect(first?.content[0]).to.deep.equal({ type: 'thinking', thinking: ' ', signature: '' });
    expect(asked({ messages: turn(call), reasoning }, 'budget', 'blank')).to.have.property('thinking');
  });
});
