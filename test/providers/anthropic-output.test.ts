// What a messages upstream is asked for: the form of the answer, and thinking before it in the way its models take.
import { expect } from 'chai';
import type { OutputFormat, Reasoning, TextCall, TextMessage } from '../../lib/upstream/contract/provider.ts';
import plugin from '../../providers/anthropic/index.ts';
import { HELLO, useVendor } from '../../testkit/vendor.ts';

const ORIGIN = 'https://messages.example';
const ANSWER = `data: ${JSON.stringify({ type: 'message', content: 'Hi', stop_reason: 'end_turn' })}\n\n`;

const schema = { type: 'object' };
const SHAPED: OutputFormat = { type: 'json-schema', name: 'place', schema };
const on = (effort: 'minimal' | 'low' | 'high' | 'max', budgetTokens?: number): Reasoning => ({
  mode: 'on',
  effort,
  ...(budgetTokens !== undefined && { budgetTokens }),
});
const off = (effort: 'low' | 'medium' | 'high' | 'xhigh' | 'max'): Reasoning => ({ mode: 'off', effort });
const AFTER_A_CALL: readonly TextMessage[] = [
  ...HELLO.messages,
  { role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'look', json: '{}' }] },
  { role: 'user', content: [{ type: 'tool-result', id: 'a', name: 'look', isError: false, content: [] }] },
];

describe('anthropic: form of the answer and thinking', () => {
  const vendor = useVendor(plugin, ORIGIN, { baseUrl: ORIGIN, apiKey: 'k1' });

  async function asked(call: Partial<TextCall>, options: object) {
    const { sent } = await vendor.tell(
      vendor.open(),
      { ...HELLO, model: 'm', ...call, options: { ...options } },
      ANSWER,
    );
    const { thinking, output_config: config } = sent.body;
    return { ...(thinking !== undefined && { thinking }), ...(config !== undefined && { config }) };
  }

  const adaptive = { thinking: { type: 'adaptive' } };
  const budget = { thinking: 'budget' };
  const rows: readonly (readonly [call: Partial<TextCall>, options: object, asked: object])[] = [
    [{}, {}, {}],
    [{ format: { type: 'json' } }, {}, {}],
    [
      { format: SHAPED },
      {},
      { config: { format: { type: 'json_schema', schema: { ...schema, additionalProperties: false } } } },
    ],
    [{ reasoning: on('high', 2000) }, {}, { ...adaptive, config: { effort: 'high' } }],
    [{ reasoning: on('minimal') }, {}, { ...adaptive, config: { effort: 'low' } }],
    [{ reasoning: on('max') }, {}, { ...adaptive, config: { effort: 'max' } }],
    [{ reasoning: { mode: 'auto' } }, {}, adaptive],
    [{ reasoning: { mode: 'off' } }, {}, { thinking: { type: 'disabled' } }],
    [{ reasoning: { mode: 'off' } }, { thinkingOff: 'between_tools' }, { thinking: { type: 'between_tools' } }],
    [{ reasoning: { mode: 'off' } }, { thinkingOff: 'low' }, { config: { effort: 'low' } }],
    [{ reasoning: off('high') }, { thinkingOff: 'low' }, { config: { effort: 'low' } }],
    [{ reasoning: off('low') }, {}, { thinking: { type: 'disabled' }, config: { effort: 'low' } }],
    [{ reasoning: off('max') }, {}, { thinking: { type: 'disabled' }, config: { effort: 'high' } }],
    [{ reasoning: off('xhigh') }, {}, { thinking: { type: 'disabled' }, config: { effort: 'high' } }],
    [
      { reasoning: off('medium') },
      { thinkingOff: 'between_tools' },
      { thinking: { type: 'between_tools' }, config: { effort: 'medium' } },
    ],
    [{ reasoning: off('low') }, budget, { thinking: { type: 'disabled' } }],
    [{ reasoning: on('high', 2000) }, { thinkingOff: 'low' }, { ...adaptive, config: { effort: 'high' } }],
    [{ reasoning: on('high', 2000) }, budget, { thinking: { type: 'enabled', budget_tokens: 2000 } }],
    [{ reasoning: on('high') }, budget, {}],
    [{ reasoning: { mode: 'auto' } }, budget, {}],
    [{ reasoning: on('high', 2000), messages: AFTER_A_CALL }, budget, {}],
    [{ reasoning: on('high', 2000), messages: AFTER_A_CALL }, {}, { ...adaptive, config: { effort: 'high' } }],
  ];
  for (const [{ messages, ...call }, options, expected] of rows) {
    const named = [JSON.stringify(call), messages && 'after a call', JSON.stringify(options)].filter(Boolean).join(' ');
    it(`asks for ${JSON.stringify(expected)} for ${named}`, async () => {
      expect(await asked({ ...call, ...(messages && { messages }) }, options)).to.deep.equal(expected);
    });
  }
});
