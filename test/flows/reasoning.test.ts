// The reasoning of a model: delivered to those who ask for it, and given back to the upstream that wrote it.
import { expect } from 'chai';
import { ask, CHAT, MESSAGES, parseEvents, RESPONSES, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const event = (type: string, fields: object) => `event: ${type}\n${data({ type, ...fields })}`;

function messagesAnswer(): string {
  const block = (index: number, content: object, ...deltas: object[]) => [
    event('content_block_start', { index, content_block: content }),
    ...deltas.map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ];
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] };
  return [
    event('message_start', { message: { ...message, usage: { input_tokens: 20, output_tokens: 1 } } }),
    ...block(
      0,
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'Let me ' },
      { type: 'thinking_delta', thinking: 'think.' },
      { type: 'signature_delta', signature: 'c2lnbmVk' },
    ),
    ...block(1, { type: 'redacted_thinking', data: 'ZGF0YQ==' }),
    ...block(2, { type: 'text', text: '' }, { type: 'text_delta', text: 'Here.' }),
    ...block(
      3,
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
      { type: 'input_json_delta', partial_json: '{"at":1}' },
    ),
    event('message_delta', { delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 30 } }),
    event('message_stop', {}),
  ].join('');
}

function chatAnswer(): string {
  const chunk = (delta: object) => data({ choices: [{ index: 0, delta }] });
  return [
    chunk({ reasoning_content: 'Let me ' }),
    chunk({ reasoning_content: 'think.' }),
    chunk({ content: 'Here.' }),
    data({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    data({ choices: [], usage: { prompt_tokens: 20, completion_tokens: 30 } }),
    'data: [DONE]\n\n',
  ].join('');
}

/** The item of the upstream goes back as it came. */
const THOUGHT = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [
    { type: 'summary_text', text: 'Let me' },
    { type: 'summary_text', text: 'think.' },
  ],
  encrypted_content: 'Z0FBQUE=',
};

function responsesAnswer(): string {
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '{"at":1}' };
  const usage = { input_tokens: 20, output_tokens: 30, total_tokens: 50 };
  return [
    event('response.created', { response: { id: 'up_1', model: 'm' } }),
    event('response.output_item.added', { output_index: 0, item: { ...THOUGHT, summary: [] } }),
    event('response.reasoning_summary_text.delta', { output_index: 0, summary_index: 0, delta: 'Let me' }),
    event('response.output_item.done', { output_index: 0, item: THOUGHT }),
    event('response.output_item.done', { output_index: 1, item: call }),
    event('response.completed', { response: { id: 'up_1', status: 'completed', output: [THOUGHT, call], usage } }),
  ].join('');
}

const LOOK = { type: 'object', properties: {} };
const THINKING = { type: 'enabled', budget_tokens: 2048 };
const OF_MESSAGES = {
  model: 'messages',
  max_tokens: 4096,
  thinking: THINKING,
  tools: [{ name: 'look', input_schema: LOOK }],
};
const OF_CHAT = { model: 'messages', tools: [{ type: 'function', function: { name: 'look', parameters: LOOK } }] };

describe('reasoning', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream();
    const model = (id: string) => ({
      id,
      type: 'text',
      provider: 'Test',
      tools: true,
      reasoning: true,
      routes: [{ upstream: id, model: 'm' }],
      price: { input: '100', output: '500' },
    });
    gateway = await startGateway({
      catalog: {
        upstreams: {
          messages: {
            plugin: 'anthropic',
            settings: { baseUrl: upstream.url, apiKey: 'secret', thinking: 'budget' },
          },
          responses: { plugin: 'openai-responses', settings: { baseUrl: `${upstream.url}/v1`, apiKey: 'secret' } },
          chat: { plugin: 'openai-compatible', settings: { baseUrl: `${upstream.url}/v1`, apiKey: 'secret' } },
        },
        models: [model('messages'), model('chat'), model('responses')],
      },
    });
    account = await gateway.account();
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  async function call(path: string, body: object, answer: string) {
    upstream.behave(({ response }) => void response.writeHead(200, SSE).end(answer));
    const called = upstream.nextCall();
    const reply = await send(gateway.url + path, { key: account.key, body });
    expect(reply.status, reply.text).to.equal(200);
    return { reply, asked: (await called).body as Record<string, unknown> };
  }

  const CONTENT = [
    { type: 'thinking', thinking: 'Let me think.', signature: 'c2lnbmVk' },
    { type: 'redacted_thinking', data: 'ZGF0YQ==' },
    { type: 'text', text: 'Here.' },
    { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 1 } },
  ];

  it('comes as blocks of its own in the messages dialect, and goes back unchanged', async () => {
    const { reply, asked } = await call(MESSAGES, ask('hi', OF_MESSAGES), messagesAnswer());
    expect(asked.thinking).to.deep.equal({ type: 'enabled', budget_tokens: 2048 });
    expect(reply.json.content).to.deep.equal(CONTENT);
    expect(reply.json.stop_reason).to.equal('tool_use');
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'seen' };
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: reply.json.content },
      { role: 'user', content: [result] },
    ];
    const next = await call(MESSAGES, { ...OF_MESSAGES, messages }, messagesAnswer());
    expect(next.asked.thinking).to.deep.equal({ type: 'enabled', budget_tokens: 2048 });
    expect((next.asked.messages as { content: unknown }[])[1]?.content).to.deep.equal(CONTENT);
  });

  it('streams as its maker streams it', async () => {
    const { reply } = await call(MESSAGES, ask('hi', { ...OF_MESSAGES, stream: true }), messagesAnswer());
    const events = parseEvents(reply.text).filter(({ data: read }) => 'index' in (read ?? {}));
    expect(events.map(({ data: read }) => read.content_block ?? read.delta ?? read.index)).to.deep.equal([
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'Let me ' },
      { type: 'thinking_delta', thinking: 'think.' },
      { type: 'signature_delta', signature: 'c2lnbmVk' },
      0,
      { type: 'redacted_thinking', data: 'ZGF0YQ==' },
      1,
      { type: 'text', text: '' },
      { type: 'text_delta', text: 'Here.' },
      2,
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
      { type: 'input_json_delta', partial_json: '{"at":1}' },
      3,
    ]);
  });

  it('is not delivered in the messages dialect to those who do not ask, and is billed', async () => {
    const { thinking: _, ...body } = OF_MESSAGES;
    const { reply } = await call(MESSAGES, ask('hi', body), messagesAnswer());
    expect(reply.json.content).to.deep.equal(CONTENT.slice(2));
    expect(reply.json.usage.output_tokens).to.equal(30);
  });

  it('comes as reasoning_content and reasoning_details in the chat dialect, and goes back unchanged', async () => {
    for (const stream of [false, true]) {
      const { reply } = await call(
        CHAT,
        ask('hi', { ...OF_CHAT, reasoning: { max_tokens: 2048 }, stream }),
        messagesAnswer(),
      );
      const chunks = stream ? parseEvents(reply.text).flatMap(({ data: read }) => read?.choices ?? []) : [];
      const message = stream
        ? {
            content: chunks.map(({ delta }) => delta.content ?? '').join(''),
            reasoning_content: chunks.map(({ delta }) => delta.reasoning_content ?? '').join(''),
            reasoning_details: chunks.flatMap(({ delta }) => delta.reasoning_details ?? []),
            tool_calls: [{ id: 'toolu_1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }],
          }
        : reply.json.choices[0].message;
      expect(message).to.deep.include({ content: 'Here.', reasoning_content: 'Let me think.' });
      expect(message.reasoning_details).to.deep.equal([
        { type: 'reasoning.text', text: 'Let me think.', signature: 'c2lnbmVk', format: 'messages', index: 0 },
        { type: 'reasoning.encrypted', data: 'ZGF0YQ==', format: 'messages', index: 1 },
      ]);
      const messages = [
        { role: 'user', content: 'hi' },
        { role: 'assistant', ...message },
        { role: 'tool', tool_call_id: 'toolu_1', content: 'seen' },
      ];
      const next = await call(CHAT, { ...OF_CHAT, messages, reasoning: { max_tokens: 2048 } }, messagesAnswer());
      expect(next.asked.thinking).to.deep.equal({ type: 'enabled', budget_tokens: 2048 });
      expect((next.asked.messages as { content: unknown }[])[1]?.content).to.deep.equal(CONTENT);
    }
  });

  it('comes over a chat upstream without anything to give back', async () => {
    const chat = await call(CHAT, ask('hi', { model: 'chat' }), chatAnswer());
    expect(chat.reply.json.choices[0].message).to.deep.equal({
      role: 'assistant',
      content: 'Here.',
      reasoning_content: 'Let me think.',
    });
    const thinking = { type: 'adaptive' };
    const message = await call(MESSAGES, ask('hi', { model: 'chat', thinking }), chatAnswer());
    expect(message.reply.json.content).to.deep.equal([
      { type: 'thinking', thinking: 'Let me think.', signature: '' },
      { type: 'text', text: 'Here.' },
    ]);
  });

  it('is asked for as a summary over a responses upstream, and comes from there, by those who want to see it', async () => {
    const summary = async (path: string, more: object) => {
      const { reply, asked } = await call(path, ask('hi', { model: 'responses', ...more }), responsesAnswer());
      return { reply, summary: (asked.reasoning as { summary?: unknown } | undefined)?.summary };
    };
    const message = await summary(MESSAGES, { thinking: { type: 'adaptive' } });
    expect(message.summary).to.equal('auto');
    expect(message.reply.json.content[0]).to.include({ type: 'thinking', thinking: 'Let me\n\nthink.' });
    expect((await summary(MESSAGES, { thinking: { type: 'adaptive', display: 'omitted' } })).summary).to.equal(
      undefined,
    );
    const chat = await summary(CHAT, { reasoning_effort: 'low' });
    expect(chat.summary).to.equal('auto');
    expect(chat.reply.json.choices[0].message.reasoning_content).to.equal('Let me\n\nthink.');
    expect((await summary(CHAT, { reasoning: { effort: 'low', exclude: true } })).summary).to.equal(undefined);
    expect((await summary(CHAT, {})).summary).to.equal(undefined);
  });

  it('is left out of the chat dialect where the client says so', async () => {
    const { reply } = await call(CHAT, ask('hi', { model: 'chat', reasoning: { exclude: true } }), chatAnswer());
    expect(reply.json.choices[0].message).to.deep.equal({ role: 'assistant', content: 'Here.' });
    expect(reply.json.usage.completion_tokens).to.equal(30);
  });

  describe('in the responses dialect', () => {
    /** The items of an answer, and what the upstream is asked when they come back with the results of their calls. */
    async function goRound(model: string, answer: string, stream: boolean) {
      const tools = [{ type: 'function', name: 'look', parameters: LOOK }];
      const body = { model, max_output_tokens: 4096, reasoning: { effort: 'high' }, tools, stream };
      const first = await call(RESPONSES, { ...body, input: 'hi' }, answer);
      const response = stream ? parseEvents(first.reply.text).at(-1)?.data.response : first.reply.json;
      const calls = response.output.filter(({ type }: { type: string }) => type === 'function_call');
      const results = calls.map(({ call_id: id }: { call_id: string }) => ({
        type: 'function_call_output',
        call_id: id,
        output: 'seen',
      }));
      const input = [
        { role: 'user', content: 'hi' },
        ...response.output,
        ...results,
        { role: 'user', content: 'go on' },
      ];
      const next = await call(RESPONSES, { ...body, input }, answer);
      return { output: response.output as Record<string, unknown>[], asked: next.asked };
    }

    for (const stream of [false, true]) {
      const how = stream ? ', streamed' : '';

      it(`goes round over a messages upstream${how}`, async () => {
        const { output, asked } = await goRound('messages', messagesAnswer(), stream);
        expect(output.map(({ type }) => type)).to.deep.equal(['reasoning', 'reasoning', 'message', 'function_call']);
        expect(output[0]).to.deep.include({
          summary: [{ type: 'summary_text', text: 'Let me think.' }],
          encrypted_content: 'messages:c2lnbmVk',
        });
        expect(output[1]).to.deep.include({ summary: [], encrypted_content: 'redacted:messages:ZGF0YQ==' });
        expect((asked.messages as { content: unknown }[])[1]?.content).to.deep.equal(CONTENT);
      });

      it(`goes round over a responses upstream${how}, item by item`, async () => {
        const { output, asked } = await goRound('responses', responsesAnswer(), stream);
        expect(output.map(({ type }) => type)).to.deep.equal(['reasoning', 'function_call']);
        expect(output[0]).to.deep.include({ summary: [{ type: 'summary_text', text: 'Let me\n\nthink.' }] });
        expect((asked.input as unknown[])[1]).to.deep.equal(THOUGHT);
      });

      it(`comes over a chat upstream${how} with nothing but its text to give back`, async () => {
        const { output, asked } = await goRound('chat', chatAnswer(), stream);
        expect(output[0]).to.deep.include({
          summary: [{ type: 'summary_text', text: 'Let me think.' }],
          encrypted_content: 'text:',
        });
        expect((asked.messages as unknown[])[1]).to.deep.equal({ role: 'assistant', content: 'Here.' });
      });

      it(`is dropped whole where another format wrote it${how}`, async () => {
        const { output } = await goRound('messages', messagesAnswer(), stream);
        const input = [{ role: 'user', content: 'hi' }, ...output.slice(0, 3), { role: 'user', content: 'go on' }];
        const other = await call(RESPONSES, { model: 'responses', input }, responsesAnswer());
        expect(JSON.stringify(other.asked.input)).not.to.contain('think').and.not.to.contain('c2lnbmVk');
      });
    }
  });

  it('is asked for in fields that are checked', async () => {
    for (const [reasoning, field] of [
      [{ effort: 'huge' }, 'reasoning.effort'],
      [{ max_tokens: 10 }, 'reasoning.max_tokens'],
      [{ exclude: 'yes' }, 'reasoning.exclude'],
      ['high', 'reasoning'],
    ] as const) {
      const body = ask('hi', { model: 'chat', reasoning });
      const reply = await send(gateway.url + CHAT, { key: account.key, body });
      expect([reply.status, reply.json.error.message]).to.satisfy(([status, message]: [number, string]) => {
        return status === 400 && message.includes(`\`${field}\``);
      });
    }
  });
});
