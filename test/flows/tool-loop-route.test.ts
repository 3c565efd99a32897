// A tool loop that began on the second route of its model, because the first failed: it goes on there, where what the model
// wants back means something, and the next question goes to the first route again.
import { expect } from 'chai';
import { CHAT, MESSAGES, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { createMessageVendor } from '../../testkit/prompt-cache.ts';
import { answerStatus, type Behaviour, SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const TOOL = { name: 'look', description: 'Looks.' };
const SCHEMA = { type: 'object', properties: {} };
const DETAIL = { type: 'reasoning.text', text: 'Let me see.', signature: 'opaque', format: 'of-a-vendor', index: 0 };

/** Reasons, then calls the tool. */
const reasoned: Behaviour = ({ response }) => {
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
  const chunks = [
    { choices: [{ index: 0, delta: { reasoning_details: [DETAIL] } }] },
    { choices: [{ index: 0, delta: { tool_calls: [call] } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    { choices: [], usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 } },
  ];
  response.writeHead(200, SSE);
  response.end(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`);
};

describe('the route of a tool loop', () => {
  let first: TestUpstream;
  let second: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;
  const well = () => createMessageVendor({ calls: 1, tool: 'look', arguments: () => '{}' }).behaviour;

  beforeEach(async () => {
    first = await startUpstream(answerStatus(503));
    second = await startUpstream(reasoned);
    const routes = ['first', 'second'].map((upstream) => ({ upstream, model: 'm' }));
    const price = { input: '1000', output: '5000' };
    gateway = await startGateway({
      catalog: {
        upstreams: {
          first: { plugin: 'anthropic', settings: { baseUrl: first.url, apiKey: 'key' } },
          second: {
            plugin: 'openai-compatible',
            settings: { baseUrl: `${second.url}/v1`, apiKey: 'key', reasoning: 'reasoning' },
          },
        },
        models: [{ id: 'model-a', type: 'text', provider: 'Test', tools: true, reasoning: true, price, routes }],
      },
    });
    account = await gateway.account();
  });
  afterEach(async () => {
    await gateway.checkMoney();
    await gateway.stop();
    await first.close();
    await second.close();
  });

  async function post(path: string, body: object) {
    const asked = { model: 'model-a', max_tokens: 2000, ...body };
    const { status, json, text } = await send(gateway.url + path, { key: account.key, body: asked });
    if (status !== 200) throw new Error(`${status}: ${text}`);
    return json;
  }
  const counts = () => [first.calls.length, second.calls.length];

  it('is the one that it began on, in a chat', async () => {
    const tools = [{ type: 'function', function: { ...TOOL, parameters: SCHEMA } }];
    const messages: object[] = [{ role: 'user', content: 'Look.' }];
    const { choices } = await post(CHAT, { tools, messages });
    expect(counts()).to.deep.equal([1, 1]);
    first.behave(well());
    messages.push(choices[0].message, { role: 'tool', tool_call_id: 'call_1', content: 'seen' });
    await post(CHAT, { tools, messages });
    expect(counts()).to.deep.equal([1, 2]);
    expect(second.calls[1]?.body.messages).to.have.deep.nested.property('[1].reasoning_details', [DETAIL]);
    messages.push({ role: 'assistant', content: 'I saw it.' }, { role: 'user', content: 'Good.' });
    await post(CHAT, { tools, messages });
    expect(counts()).to.deep.equal([2, 2]);
  });

  it('is the one that it began on, in messages', async () => {
    const tools = [{ ...TOOL, input_schema: SCHEMA }];
    const messages: object[] = [{ role: 'user', content: 'Look.' }];
    const thinking = { type: 'enabled', budget_tokens: 1024 };
    const { content } = await post(MESSAGES, { tools, messages, thinking });
    first.behave(well());
    const result = { type: 'tool_result', tool_use_id: content.at(-1).id, content: 'seen' };
    messages.push({ role: 'assistant', content }, { role: 'user', content: [result] });
    await post(MESSAGES, { tools, messages, thinking });
    expect(counts()).to.deep.equal([1, 2]);
  });

  it('is another one if that fails', async () => {
    const tools = [{ type: 'function', function: { ...TOOL, parameters: SCHEMA } }];
    const messages: object[] = [{ role: 'user', content: 'Look.' }];
    const { choices } = await post(CHAT, { tools, messages });
    first.behave(well());
    second.behave(answerStatus(503));
    messages.push(choices[0].message, { role: 'tool', tool_call_id: 'call_1', content: 'seen' });
    await post(CHAT, { tools, messages });
    expect(counts()).to.deep.equal([2, 2]);
  });
});
