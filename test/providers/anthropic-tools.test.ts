// What a messages upstream is asked when calls of tools and thinking meet.
import { expect } from 'chai';
import type { Content, TextCall, Tools } from '../../lib/plugin/contract.ts';
import { readArguments } from '../../lib/stream/arguments.ts';
import { bodyOf } from '../../providers/anthropic/request.ts';

const TOOLS: Tools = { list: [{ name: 'look', schema: { type: 'object' } }] };

function asked(more: Partial<TextCall>, thinking: 'adaptive' | 'budget' = 'budget'): Record<string, unknown> {
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }] as const;
  const call: TextCall = { model: 'm', messages, maxTokens: 9000, options: {}, tools: TOOLS, ...more };
  const wire = { baseUrl: 'https://x.example', version: '1', auth: 'bearer', thinking } as const;
  return bodyOf(call, wire, readArguments)(() => '') as Record<string, unknown>;
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

  it('puts results first, and takes ids of other upstreams', () => {
    const id = 'functions.look:0';
    const content: Content[] = [
      { type: 'text', text: 'and?' },
      { type: 'tool-result', id, name: 'look', isError: false, content: [] },
    ];
    const { messages } = asked({
      messages: [
        { role: 'assistant', content: [{ type: 'tool-call', id, name: 'look', json: '[1]' }] },
        { role: 'user', content },
      ],
    });
    expect(messages).to.deep.equal([
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'functions_look_0', name: 'look', input: { INVALID_JSON: '[1]' } }],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'functions_look_0', content: [] },
          { type: 'text', text: 'and?' },
        ],
      },
    ]);
  });
});
