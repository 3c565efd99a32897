// What clients read of a model before they call it, and what its limit of output does to a call.
import Anthropic from '@anthropic-ai/sdk';
import { expect } from 'chai';
import OpenAI from 'openai';
import { ask, CHAT, DIALECTS, send } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { chatAnswer, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const FACTS = {
  object: 'model',
  created: 0,
  owned_by: 'Test',
  display_name: 'model-b',
  context_length: 200_000,
  max_output_tokens: 4000,
  input_modalities: ['text', 'image', 'file', 'audio'],
  supported_parameters: [
    'max_tokens',
    'stop',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'response_format',
    'structured_outputs',
    'reasoning',
    'reasoning_effort',
    ...['temperature', 'top_p', 'top_k', 'seed', 'presence_penalty', 'frequency_penalty'],
  ],
};
const PRICED = [
  ...['id', 'aliases', 'type', 'endpoint', 'unit', 'price_rub', 'input_price_rub', 'output_price_rub', 'min_rub'],
  'provider',
];
const MESSAGE_FACTS = {
  display_name: 'model-b',
  created_at: '1970-01-01T00:00:00Z',
  max_input_tokens: 200_000,
  max_tokens: 4000,
};

describe('facts about models', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream(chatAnswer('Hello.', { input: 7, output: 4 }));
    const base = chatCatalog(upstream.url) as { models: readonly { readonly id: string }[] };
    const able = {
      vision: true,
      documents: true,
      audio: true,
      tools: true,
      json: true,
      reasoning: true,
      sampling: true,
    };
    const told = { ...base.models[0], id: 'model-b', aliases: [], ...able, context: 200_000, maxOutput: 4000 };
    const large = { ...base.models[0], id: 'model-c', aliases: [], context: 1e6, maxOutput: 128_000 };
    const dear = { ...told, id: 'model-d', price: { input: '1000', output: '100000' } };
    const smart = { lite: 'model-b' };
    gateway = await startGateway({ catalog: { ...base, models: [...base.models, told, large, dear], smart } });
    account = await gateway.account();
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const read = async (path: string, headers = {}) =>
    (await send(`${gateway.url}/api/v1/models${path}`, { key: account.key, headers })).json;

  it('are in the entries of all, beside their prices; what is unknown is left out', async () => {
    const { data } = await read('');
    const [plain, told, large] = data.filter(({ type }: { type: string }) => type === 'text');
    const { context_length: _, ...known } = FACTS;
    expect(plain).to.have.all.keys(...PRICED, ...Object.keys(known));
    expect(plain).to.include({ object: 'model', owned_by: 'Test', display_name: plain.id, max_output_tokens: 32_768 });
    expect(told).to.deep.equal({ ...plain, id: 'model-b', aliases: [], ...FACTS });
    // More than a call may have.
    expect(large).to.deep.include({ max_output_tokens: 32_768, input_modalities: ['text'] });
    expect(await read('/model-b')).to.deep.equal(told);
  });

  it('have further names for clients that send the version of the messages format', async () => {
    const headers = { 'anthropic-version': '2023-06-01' };
    const [plain, own] = [await read(''), await read('', headers)];
    const page = { has_more: false, first_id: 'model-a', last_id: 'smart' };
    const data = own.data.map((entry: object, at: number) => {
      const { created_at, max_input_tokens, max_tokens, ...rest } = entry as Record<string, unknown>;
      expect({ ...plain.data[at], display_name: rest.id }).to.deep.equal(rest);
      return { created_at, max_input_tokens, max_tokens };
    });
    const { display_name: _, ...numbers } = MESSAGE_FACTS;
    expect(data[1]).to.deep.equal(numbers);
    expect({ ...plain, ...page, data: own.data }).to.deep.equal(own);
    expect(await read('/model-b', headers)).to.deep.include(MESSAGE_FACTS);
  });

  it('reach the official clients', async () => {
    const { key } = account;
    const message = new Anthropic({ baseURL: `${gateway.url}/api`, apiKey: key, authToken: null, maxRetries: 0 });
    const ids: string[] = [];
    for await (const { id } of message.models.list()) ids.push(id);
    expect(ids).to.include.members(['model-a', 'model-b', 'smart']);
    expect(await message.models.retrieve('model-b')).to.deep.include(MESSAGE_FACTS);
    const chat = new OpenAI({ baseURL: `${gateway.url}/api/v1`, apiKey: key, maxRetries: 0 });
    expect((await chat.models.list()).data.map(({ id }) => id)).to.deep.equal(ids);
    expect(await chat.models.retrieve('model-b')).to.deep.include({ object: 'model', owned_by: 'Test', created: 0 });
  });

  for (const path of DIALECTS) {
    it(`hold and ask for no more than the model can give on ${path}`, async () => {
      for (const [model, asked, sent] of [
        ['model-b', 64_000, 4000],
        ['model-b', undefined, 4000],
        ['model-b', 300, 300],
        ['smart', 64_000, 4000],
        ['model-c', 64_000, 32_768],
      ] as const) {
        const body = ask('hi', { model, max_tokens: asked ?? null });
        const reply = await send(gateway.url + path, { key: account.key, body });
        expect(reply.status, reply.text).to.equal(200);
        expect(upstream.calls.at(-1)?.body.max_tokens).to.equal(sent);
        if (path !== CHAT) continue;
        // 5 tokens at 1000 RUB a million, the answer at 5000.
        const reserved = (5 * 1000 + Math.max(sent, 512) * 5000) / 1e6;
        expect(reply.json.billing.reserved_rub).to.be.closeTo(reserved, 1e-9);
      }
    });
  }

  it('let a balance answer that covers what the model can give', async () => {
    const body = ask('hi', { model: 'model-d', max_tokens: 64_000 });
    const covered = await send(gateway.url + CHAT, { key: account.key, body });
    expect([covered.status, covered.json.billing?.reserved_rub]).to.deep.equal([200, 400.005]);
  });
});
