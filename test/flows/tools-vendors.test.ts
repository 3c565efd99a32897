// Tools at vendors whose calls have no ids and whose arguments are objects, in both dialects: what the client
// gets, what the vendor gets back, and what is counted.
import { expect } from 'chai';
import { CHAT, MESSAGES, parseEvents, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { type Behaviour, SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

/** Longer than a double. */
const ARGUMENTS = '{"order":2512292042121000001,"city":"Санкт-Петербург"}';
const SCHEMA = { type: 'object', properties: { order: { type: 'integer' }, city: { type: 'string' } } };
const STATE = '0199e210-2f13-744c-8fe5-c9a19fe27db7';

const withArguments = (value: object) => JSON.stringify(value).replace('"ARGUMENTS"', ARGUMENTS);

interface Vendor {
  readonly settings: (url: string) => object;
  /** Text, and then a call. */
  readonly calling: string;
  readonly answer: string;
  /** How the vendor is told of the tools. */
  readonly tools: object;
  /** And of the call and its result. */
  readonly history: (args: string) => string;
  readonly cached: number;
}

const USAGE = { prompt_tokens: 300, completion_tokens: 20, total_tokens: 40, precached_prompt_tokens: 280 };

const chunk = (delta: object, end: object = {}) => {
  const value = {
    choices: [{ index: 0, delta, ...end }],
    model: 'GigaChat-2-Pro:2.0',
    ...('finish_reason' in end && { usage: USAGE }),
  };
  return `data: ${withArguments(value)}\n\n`;
};

const line = (message: object, status: string) =>
  `${withArguments({
    result: {
      alternatives: [{ message: { role: 'assistant', ...message }, status: `ALTERNATIVE_STATUS_${status}` }],
      usage: { inputTextTokens: '300', completionTokens: '20', totalTokens: '320' },
      modelVersion: '23.10.2024',
    },
  })}\n`;

const call = { function_call: { name: 'order', arguments: 'ARGUMENTS' }, functions_state_id: STATE };

const VENDORS: Readonly<Record<string, Vendor>> = {
  gigachat: {
    settings: (url) => ({ baseUrl: `${url}/api/v1`, authUrl: `${url}/oauth`, apiKey: 'a2V5' }),
    calling: `${chunk({ content: 'Let me see.' })}${chunk({ content: '', ...call }, { finish_reason: 'function_call' })}data: [DONE]\n\n`,
    answer: `${chunk({ content: 'Packed.' })}${chunk({ content: '' }, { finish_reason: 'stop' })}data: [DONE]\n\n`,
    tools: { functions: [{ name: 'order', description: 'Looks up.', parameters: SCHEMA }], function_call: 'auto' },
    history: (args) =>
      `{"role":"assistant","content":"Let me see.","function_call":{"name":"order","arguments":${args}},"functions_state_id":"${STATE}"},` +
      `{"role":"function","name":"order","content":"{\\"result\\":\\"packed\\"}"}`,
    cached: 280,
  },
  yandex: {
    settings: (url) => ({ baseUrl: url, apiKey: 'AQVN', folder: 'b1g' }),
    calling:
      line({ text: 'Let me see.' }, 'PARTIAL') +
      line(
        { toolCallList: { toolCalls: [{ functionCall: { name: 'order', arguments: 'ARGUMENTS' } }] } },
        'TOOL_CALLS',
      ),
    answer: line({ text: 'Packed.' }, 'FINAL'),
    tools: {
      tools: [{ function: { name: 'order', description: 'Looks up.', parameters: SCHEMA } }],
      toolChoice: { mode: 'AUTO' },
    },
    history: (args) =>
      `{"role":"assistant","text":"Let me see."},` +
      `{"role":"assistant","toolCallList":{"toolCalls":[{"functionCall":{"name":"order","arguments":${args}}}]}},` +
      `{"role":"user","toolResultList":{"toolResults":[{"functionResult":{"name":"order","content":"packed"}}]}}`,
    cached: 0,
  },
};

const buildCatalog = (url: string) => ({
  upstreams: Object.fromEntries(
    Object.entries(VENDORS).map(([name, { settings }]) => [name, { plugin: name, settings: settings(url) }]),
  ),
  models: Object.keys(VENDORS).map((name) => ({
    id: name,
    type: 'text',
    provider: 'Test',
    price: { input: '100000', output: '500000' },
    routes: [{ upstream: name, model: name }],
    tools: true,
  })),
});

const answerWith =
  (body: string): Behaviour =>
  ({ request, response }) => {
    if (request.url === '/oauth') response.end(JSON.stringify({ access_token: 't', expires_at: Date.now() + 1e6 }));
    else response.writeHead(200, SSE).end(body);
  };

const PROMPT = { role: 'user', content: 'Where is it?' };
const MESSAGE_TOOLS = {
  tools: [{ name: 'order', description: 'Looks up.', input_schema: SCHEMA }],
  tool_choice: { type: 'auto' },
};
const CHAT_TOOLS = {
  tools: [{ type: 'function', function: { name: 'order', description: 'Looks up.', parameters: SCHEMA } }],
  tool_choice: 'auto',
};

describe('tools at vendors without ids of calls', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({ catalog: buildCatalog(upstream.url) });
  });
  beforeEach(async () => {
    account = await gateway.account();
    upstream.calls.length = 0;
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const ask = (path: string, body: string | object) =>
    send(`${gateway.url}${path}`, { key: account.key, body, headers: { 'content-type': 'application/json' } });
  const sent = () => upstream.calls.at(-1)?.bytes.toString() ?? '';

  for (const [model, vendor] of Object.entries(VENDORS)) {
    it(`calls and answers through ${model} in the message dialect`, async () => {
      upstream.behave(answerWith(vendor.calling));
      const first = await ask(MESSAGES, { model, max_tokens: 100, messages: [PROMPT], ...MESSAGE_TOOLS });
      expect(first.json.stop_reason).to.equal('tool_use');
      const [text, use] = first.json.content;
      expect(text).to.deep.equal({ type: 'text', text: 'Let me see.' });
      expect(use).to.include({ type: 'tool_use', name: 'order' });
      expect(first.text).to.include(`"input":${ARGUMENTS}`);
      expect(JSON.parse(sent())).to.deep.include(vendor.tools);

      upstream.behave(answerWith(vendor.answer));
      const answer = first.text.slice(first.text.indexOf('"content":') + '"content":'.length);
      const content = answer.slice(0, answer.indexOf(',"stop_reason"'));
      const result = { type: 'tool_result', tool_use_id: use.id, content: 'packed' };
      const messages = [PROMPT, { role: 'assistant', content: 'CONTENT' }, { role: 'user', content: [result] }];
      const body = JSON.stringify({ model, max_tokens: 100, messages, ...MESSAGE_TOOLS }).replace('"CONTENT"', content);
      const second = await ask(MESSAGES, body);
      expect(second.json.content).to.deep.equal([{ type: 'text', text: 'Packed.' }]);
      expect(sent()).to.include(vendor.history(ARGUMENTS));
    });

    it(`calls and answers through ${model} in the chat dialect`, async () => {
      upstream.behave(answerWith(vendor.calling));
      const fields = { model, max_tokens: 100, ...CHAT_TOOLS };
      const first = await ask(CHAT, { ...fields, messages: [PROMPT] });
      const [{ message, finish_reason: reason }] = first.json.choices;
      expect(reason).to.equal('tool_calls');
      expect(message.content).to.equal('Let me see.');
      expect(message.tool_calls[0].function).to.deep.equal({ name: 'order', arguments: ARGUMENTS });
      expect(JSON.parse(sent())).to.deep.include(vendor.tools);

      upstream.behave(answerWith(vendor.answer));
      const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'packed' };
      const second = await ask(CHAT, { ...fields, messages: [PROMPT, message, result] });
      expect(second.json.choices[0]).to.deep.include({ finish_reason: 'stop' });
      expect(second.json.choices[0].message.content).to.equal('Packed.');
      expect(sent()).to.include(vendor.history(ARGUMENTS));
    });

    it(`streams a call of ${model} in both dialects`, async () => {
      upstream.behave(answerWith(vendor.calling));
      const fields = { model, max_tokens: 100, messages: [PROMPT], stream: true };
      const message = parseEvents((await ask(MESSAGES, { ...fields, ...MESSAGE_TOOLS })).text);
      const pieces = message.map(({ data }) => data.delta?.partial_json ?? '');
      expect(pieces.join('')).to.equal(ARGUMENTS);
      const chat = parseEvents((await ask(CHAT, { ...fields, ...CHAT_TOOLS })).text);
      const calls = chat.flatMap(({ data }) => data.choices?.[0]?.delta.tool_calls ?? []);
      expect(calls[0]).to.include({ index: 0, type: 'function' });
      expect(calls.map((piece) => piece.function.arguments ?? '').join('')).to.equal(ARGUMENTS);
      const { usage: counts } = chat.findLast(({ data }) => data.usage)?.data ?? {};
      expect(counts).to.include({ prompt_tokens: 300, completion_tokens: 20 });
      if (vendor.cached > 0) expect(counts.prompt_tokens_details).to.deep.equal({ cached_tokens: vendor.cached });
    });
  }
});
