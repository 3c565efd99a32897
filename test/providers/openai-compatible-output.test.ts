// What a chat completions upstream is asked for: the form of the answer, the counts, and reasoning in the way it takes.
import { expect } from 'chai';
import type { Effort, OutputFormat, Reasoning, TextCall, Tools } from '../../lib/upstream/contract/provider.ts';
import plugin from '../../providers/openai-compatible/index.ts';
import { HELLO, useVendor } from '../../testkit/vendor.ts';

const ORIGIN = 'https://chat.example';
const ANSWER = `data: ${JSON.stringify({ choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop' }] })}\n\n`;

const schema = { type: 'object' };
const SHAPED: OutputFormat = { type: 'json-schema', name: 'place', schema, strict: true };
const TOOLS: Tools = { list: [{ name: 'look', schema }] };
const high: Reasoning = { mode: 'on', effort: 'high', budgetTokens: 2000 };
const on = (effort: Effort): Reasoning => ({ mode: 'on', effort });
const off: Reasoning = { mode: 'off' };
const auto: Reasoning = { mode: 'auto' };
const CACHED = { cacheKey: 'c', cacheRetention: '24h' };

describe('openai-compatible: form of the answer, counts and reasoning', () => {
  const vendor = useVendor(plugin, ORIGIN, { baseUrl: `${ORIGIN}/v1`, apiKey: 'k1' });

  /** What is in the body besides what every call has. */
  async function asked(call: Partial<TextCall>, options: object): Promise<object> {
    const whole = { ...HELLO, model: 'm', ...call, options: { ...options } };
    const { sent } = await vendor.tell(vendor.open(), whole, ANSWER);
    expect(sent.headers).to.include({ accept: 'text/event-stream, application/json' });
    const { model: _, messages: __, tools: ___, tool_choice: ____, max_tokens: _____, ...body } = sent.body;
    return body;
  }

  const streamed = { stream: true, stream_options: { include_usage: true } };
  const shaped = { response_format: { type: 'json_schema', json_schema: { name: 'place', schema, strict: true } } };
  const rows: readonly (readonly [call: Partial<TextCall>, options: object, asked: object])[] = [
    [{}, {}, streamed],
    [{}, { usage: 'usage_include' }, { stream: true, usage: { include: true } }],
    [{}, { usage: 'none' }, { stream: true }],
    [CACHED, {}, streamed],
    [CACHED, { cacheKey: 'send' }, { ...streamed, prompt_cache_key: 'c', prompt_cache_retention: '24h' }],
    [CACHED, { cacheKey: 'key' }, { ...streamed, prompt_cache_key: 'c' }],
    [{ format: { type: 'json' } }, {}, { ...streamed, response_format: { type: 'json_object' } }],
    [{ format: SHAPED }, {}, { ...streamed, ...shaped }],
    [{ format: SHAPED }, { schemas: 'whole' }, { stream: false, ...shaped }],
    [
      { format: SHAPED },
      { schemas: 'whole', usage: 'usage_include' },
      { stream: false, usage: { include: true }, ...shaped },
    ],
    [{ format: { type: 'json' } }, { schemas: 'whole' }, { ...streamed, response_format: { type: 'json_object' } }],
    [{ reasoning: high }, {}, { ...streamed, reasoning_effort: 'high' }],
    [{ reasoning: off }, {}, { ...streamed, reasoning_effort: 'none' }],
    [{ reasoning: auto }, {}, streamed],
    [{ reasoning: high }, { reasoning: 'reasoning' }, { ...streamed, reasoning: { effort: 'high' } }],
    [{ reasoning: off }, { reasoning: 'reasoning' }, { ...streamed, reasoning: { effort: 'none' } }],
    [
      { reasoning: high },
      { reasoning: 'thinking' },
      { ...streamed, thinking: { type: 'enabled' }, reasoning_effort: 'high' },
    ],
    [{ reasoning: off }, { reasoning: 'thinking' }, { ...streamed, thinking: { type: 'disabled' } }],
    [{ reasoning: auto }, { reasoning: 'thinking' }, streamed],
    [
      { reasoning: high },
      { reasoning: 'enable_thinking' },
      { ...streamed, enable_thinking: true, thinking_budget: 2000 },
    ],
    [{ reasoning: on('low') }, { reasoning: 'enable_thinking' }, { ...streamed, enable_thinking: true }],
    [{ reasoning: auto }, { reasoning: 'enable_thinking' }, { ...streamed, enable_thinking: true }],
    [{ reasoning: off }, { reasoning: 'enable_thinking' }, { ...streamed, enable_thinking: false }],
    [{}, { reasoning: 'enable_thinking' }, streamed],
    [{ reasoning: high }, { reasoning: 'none' }, streamed],
    [{ tools: { ...TOOLS, single: true } }, {}, { ...streamed, parallel_tool_calls: false }],
    [{ tools: { ...TOOLS, single: true } }, { parallelCalls: 'omit' }, streamed],
    [{ reasoning: high, tools: TOOLS }, {}, { ...streamed, reasoning_effort: 'high' }],
    [{ reasoning: high, tools: TOOLS }, { toolReasoning: 'off' }, { ...streamed, reasoning_effort: 'none' }],
    [{ tools: TOOLS }, { toolReasoning: 'off' }, { ...streamed, reasoning_effort: 'none' }],
    [{ reasoning: high }, { toolReasoning: 'off' }, { ...streamed, reasoning_effort: 'high' }],
    [{ reasoning: high, tools: TOOLS }, { toolReasoning: 'blank' }, { ...streamed, reasoning_effort: 'high' }],
    ...(['any', { name: 'look' }] as const).map((choice): [Partial<TextCall>, object, object] => [
      { reasoning: high, tools: { ...TOOLS, choice } },
      { toolReasoning: 'blank' },
      { ...streamed, reasoning_effort: 'none' },
    ]),
    ...(
      [
        [['low', 'medium', 'high'], off, 'low'],
        [['low', 'medium', 'high'], on('minimal'), 'low'],
        [['low', 'medium', 'high'], on('medium'), 'medium'],
        [['low', 'medium', 'high'], on('max'), 'high'],
        [['high', 'none'], on('low'), 'high'],
        [['high', 'none'], off, 'none'],
        [['none'], on('high'), 'high'],
      ] as const
    ).map(([efforts, reasoning, effort]): [Partial<TextCall>, object, object] => [
      { reasoning },
      { efforts },
      { ...streamed, reasoning_effort: effort },
    ]),
  ];
  for (const [call, options, expected] of rows) {
    it(`asks for ${JSON.stringify(expected)} for ${JSON.stringify(call)} ${JSON.stringify(options)}`, async () => {
      expect(await asked(call, options)).to.deep.equal(expected);
    });
  }

  it('says to OpenRouter which tools are not strict, and to others only what the client says', async () => {
    const tools: Tools = { list: [...TOOLS.list, { name: 'hear', schema, strict: true }] };
    for (const [reasoning, said] of [
      ['reasoning', { strict: false }],
      ['none', {}],
    ] as const) {
      const { sent } = await vendor.tell(
        vendor.open(),
        { ...HELLO, model: 'm', tools, options: { reasoning } },
        ANSWER,
      );
      expect(sent.body.tools).to.deep.equal([
        { type: 'function', function: { name: 'look', parameters: schema, ...said } },
        { type: 'function', function: { name: 'hear', parameters: schema, strict: true } },
      ]);
    }
  });

  it('names the tool that has to be called, or requires a call of that tool alone', async () => {
    const list = [...TOOLS.list, { name: 'hear', schema }];
    const named = { type: 'function', function: { name: 'hear' } };
    for (const [toolChoice, choice, asked, offered] of [
      ['any', { name: 'hear' }, named, ['look', 'hear']],
      ['words', { name: 'hear' }, 'required', ['hear']],
      ['words', 'any', 'required', ['look', 'hear']],
      ['words', 'auto', 'auto', ['look', 'hear']],
      ['words', undefined, undefined, ['look', 'hear']],
    ] as const) {
      const tools: Tools = { list, ...(choice && { choice }) };
      const call = { ...HELLO, model: 'm', tools, options: { toolChoice } };
      const { body } = (await vendor.tell(vendor.open(), call, ANSWER)).sent;
      const names = (body.tools as { function: { name: string } }[]).map((tool) => tool.function.name);
      expect([body.tool_choice, names]).to.deep.equal([asked, offered]);
    }
  });

  it('gives thoughts back in the field in which the upstream looks for them', async () => {
    const call = { type: 'tool-call', id: 'a', name: 'look', json: '{}' } as const;
    const said = { role: 'assistant', content: [{ type: 'reasoning', text: 'Hm.' }, call] } as const;
    for (const [toolReasoning, thoughts] of [
      ['blank', { reasoning_content: 'Hm.' }],
      ['reasoning', { reasoning: 'Hm.' }],
      ['free', {}],
    ] as const) {
      const { sent } = await vendor.tell(
        vendor.open(),
        { ...HELLO, model: 'm', messages: [said], options: { toolReasoning } },
        ANSWER,
      );
      const [{ content: _, tool_calls: __, ...message } = {}] = sent.body.messages as readonly Record<
        string,
        unknown
      >[];
      expect(message).to.deep.equal({ role: 'assistant', ...thoughts });
    }
  });

  for (const [where, more, usage] of [
    ['of llama.cpp', { timings: { prompt_n: 2, cache_n: 5, predicted_n: 4 } }, { input: 2, cacheRead: 5, output: 4 }],
    ['of Groq', { x_groq: { usage: { prompt_tokens: 3, completion_tokens: 1 } } }, { input: 3, output: 1 }],
    [
      'of Bedrock',
      { 'amazon-bedrock-invocationMetrics': { inputTokenCount: 6, outputTokenCount: 2 } },
      { input: 6, output: 2 },
    ],
  ] as const) {
    it(`takes the counts ${where}`, async () => {
      const chunk = { choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop' }], ...more };
      const { parts } = await vendor.tell(
        vendor.open(),
        { ...HELLO, model: 'm' },
        `data: ${JSON.stringify(chunk)}\n\n`,
      );
      expect(parts).to.deep.include({ type: 'usage', ...usage });
    });
  }
});
