// Images in the answers of text models as real clients read them, from each upstream's format, and as they send them back;
// what they cost, and what becomes of broken ones.
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { generateText, streamText } from 'ai';
import { expect } from 'chai';
import OpenAI from 'openai';
import {
  CHAT,
  DIALECTS,
  findFailure,
  MESSAGES,
  open,
  parseEvents,
  readHead,
  send,
  until,
} from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { newMedia, piecesOf } from '../contract/store/media.ts';
import { png } from '../media/sample-images.ts';

/** In the slow tests as long as one that a model draws, and longer than a line of text may be. */
const PNG = png({ bytes: longer(150_000, 1_500_000) });
const BASE64 = PNG.toString('base64');
const DATA_URL = `data:image/png;base64,${BASE64}`;
const SOURCE = { type: 'base64', media_type: 'image/png', data: BASE64 } as const;

interface Counts {
  readonly input: number;
  readonly output: number;
}

interface Format {
  /** The events of an answer with a text and an image. */
  write(base64: string, counts: Counts | undefined): readonly object[];
  /** The history of a request as the vendor gets it: each turn in short. */
  readTurns(body: Record<string, unknown>): readonly string[];
}

const chunk = (delta: object, finish: string | null = null) => ({
  ...{ id: 'gen-1', model: 'up-model', choices: [{ index: 0, delta, finish_reason: finish }] },
});

/** Texts as they are, images by their size. */
function shorten(value: unknown): string {
  return JSON.stringify(value).replaceAll(BASE64, '<png>');
}

const FORMATS: Readonly<Record<'chat' | 'contents' | 'responses' | 'messages', Format>> = {
  chat: {
    write: (base64, counts) => [
      chunk({ role: 'assistant', content: 'Here it is.' }),
      chunk({ content: '', images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } }] }),
      chunk({}, 'stop'),
      ...(counts ? [{ choices: [], usage: { prompt_tokens: counts.input, completion_tokens: counts.output } }] : []),
    ],
    readTurns: ({ messages }) => (messages as readonly object[]).map(shorten),
  },
  contents: {
    write: (base64, counts) => [
      { candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Here it is.' }] } }] },
      {
        candidates: [
          {
            index: 0,
            content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data: base64 } }] },
            finishReason: 'STOP',
          },
        ],
        ...(counts && { usageMetadata: { promptTokenCount: counts.input, candidatesTokenCount: counts.output } }),
      },
    ],
    readTurns: ({ contents }) => (contents as readonly object[]).map(shorten),
  },
  responses: {
    write: (base64, counts) => {
      const text = {
        ...{ type: 'message', id: 'm1', role: 'assistant' },
        content: [{ type: 'output_text', text: 'Here it is.' }],
      };
      const drawn = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: base64 };
      const usage = counts && { input_tokens: counts.input, output_tokens: counts.output };
      return [
        { type: 'response.created', response: { id: 'r1' } },
        { type: 'response.output_item.done', output_index: 0, item: text },
        {
          ...{ type: 'response.image_generation_call.partial_image', item_id: 'ig_1', output_index: 1 },
          ...{ partial_image_index: 0, partial_image_b64: BASE64.slice(0, 1000) },
        },
        { type: 'response.output_item.done', output_index: 1, item: drawn },
        { type: 'response.completed', response: { id: 'r1', status: 'completed', output: [text, drawn], usage } },
      ];
    },
    readTurns: ({ input }) => (input as readonly object[]).map(shorten),
  },
  messages: {
    write: (base64, counts) => {
      const source = { type: 'base64', media_type: 'image/png', data: base64 };
      const usage = counts && { input_tokens: counts.input, output_tokens: 1 };
      return [
        { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Here it is.' } },
        { type: 'content_block_stop', index: 0 },
        { type: 'content_block_start', index: 1, content_block: { type: 'image', source } },
        { type: 'content_block_stop', index: 1 },
        {
          ...{ type: 'message_delta', delta: { stop_reason: 'end_turn' } },
          usage: counts && { output_tokens: counts.output },
        },
        { type: 'message_stop' },
      ];
    },
    readTurns: ({ messages }) => (messages as readonly object[]).map(shorten),
  },
};
type Name = keyof typeof FORMATS;
const NAMES = Object.keys(FORMATS) as readonly Name[];

describe('images in answers at real clients', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream();
    const settings = { baseUrl: `${upstream.url}/v1`, apiKey: 'secret' };
    const model = (id: string, route: string, more: object = {}) => ({
      ...{ id, type: 'text', provider: 'Test', price: { input: '1000', output: '5000' }, vision: true },
      routes: [{ upstream: route, model: 'm' }],
      ...more,
    });
    gateway = await startGateway({
      catalog: {
        upstreams: {
          chat: { plugin: 'openai-compatible', settings: { ...settings, reasoning: 'reasoning' } },
          plain: { plugin: 'openai-compatible', settings },
          contents: { plugin: 'gemini', settings: { ...settings, baseUrl: `${upstream.url}/v1beta` } },
          responses: { plugin: 'openai-responses', settings },
          messages: { plugin: 'anthropic', settings },
        },
        models: [
          ...NAMES.map((name) => model(name, name)),
          model('plain', 'plain'),
          model('whole', 'chat', { delivery: 'buffered' }),
          model('blind', 'plain', { vision: false }),
        ],
      },
    });
  });
  beforeEach(async () => {
    account = await gateway.account();
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const answer = (name: Name, { base64 = BASE64, counts }: { base64?: string; counts?: Counts } = {}) => {
    const events = FORMATS[name].write(base64, counts).map((value) => `data: ${JSON.stringify(value)}\n\n`);
    const mark = name === 'chat' ? 'data: [DONE]\n\n' : '';
    upstream.behave(({ response }) => void response.writeHead(200, SSE).end(events.join('') + mark));
  };
  const counted = { input: 20, output: 1300 };
  const openai = () => new OpenAI({ apiKey: account.key, baseURL: `${gateway.url}/api/v1`, maxRetries: 0 });
  const anthropic = () => new Anthropic({ apiKey: account.key, baseURL: `${gateway.url}/api`, maxRetries: 0 });
  const charged = async () => {
    await until(async () => (await gateway.wallet(account)).held === 0n);
    return (await gateway.wallet(account)).charged;
  };
  const cost = ({ input, output }: Counts) => BigInt(input) * 1000n + BigInt(output) * 5000n;
  const asked = { role: 'user', content: 'Draw a dot.' } as const;
  const again = { role: 'user', content: 'Make it blue.' } as const;

  /** The history that the vendor got last. */
  const turns = (name: Name) => FORMATS[name].readTurns(upstream.calls.at(-1)?.body ?? {});

  for (const name of NAMES) {
    describe(`from an upstream of ${name}`, () => {
      beforeEach(() => answer(name, { counts: counted }));

      it('are content blocks for @anthropic-ai/sdk, streamed and not', async () => {
        const request = { model: name, max_tokens: 2000, messages: [asked] };
        const blocks = [
          { type: 'text', text: 'Here it is.' },
          { type: 'image', source: SOURCE },
        ];
        const { content } = await anthropic().messages.create(request);
        expect(content).to.deep.equal(blocks);
        const streamed = await anthropic().messages.stream(request).finalMessage();
        expect(streamed.content).to.deep.equal(blocks);
        expect(await charged()).to.equal(2n * cost(counted));
        const messages = [asked, { role: 'assistant', content: streamed.content }, again] as Anthropic.MessageParam[];
        await anthropic().messages.create({ ...request, messages });
        expect(turns(name).join()).to.contain('<png>');
      });

      it('are images beside the text for openai, streamed and not', async () => {
        const request = { model: name, max_tokens: 2000, messages: [asked] };
        const images = [{ type: 'image_url', index: 0, image_url: { url: DATA_URL } }];
        const whole = await openai().chat.completions.create(request);
        const message = whole.choices[0]?.message;
        expect(message).to.deep.equal({ role: 'assistant', content: 'Here it is.', images });
        const { choices } = await openai().chat.completions.stream(request).finalChatCompletion();
        expect(choices[0]?.message).to.deep.include({ content: 'Here it is.', images });
        expect(await charged()).to.equal(2n * cost(counted));
        const messages = [asked, message, again] as OpenAI.Chat.ChatCompletionMessageParam[];
        await openai().chat.completions.create({ ...request, messages });
        expect(turns(name).join()).to.contain('<png>');
      });

      it('are items of a response for openai, streamed and not', async () => {
        const request = { model: name, max_output_tokens: 2000, input: 'Draw a dot.' };
        const check = ({ output, output_text: text }: OpenAI.Responses.Response) => {
          const [, drawn] = output;
          expect(text).to.equal('Here it is.');
          expect(drawn).to.deep.include({
            ...{ type: 'image_generation_call', status: 'completed', result: BASE64, output_format: 'png' },
          });
        };
        check(await openai().responses.create(request));
        const types: string[] = [];
        const stream = openai().responses.stream(request);
        stream.on('event', ({ type, ...event }) => {
          if ('item_id' in event && event.item_id.startsWith('ig_')) types.push(type);
        });
        const response = await stream.finalResponse();
        check(response);
        expect(types).to.deep.equal(
          ['in_progress', 'generating', 'completed'].map((step) => `response.image_generation_call.${step}`),
        );
        expect(await charged()).to.equal(2n * cost(counted));
        const input = [asked, ...response.output, again] as OpenAI.Responses.ResponseInput;
        await openai().responses.create({ ...request, input });
        expect(turns(name).join()).to.contain('<png>');
      });

      it('cost a thousand tokens each where the upstream did not count them', async () => {
        const ask = { model: name, max_tokens: 5000, messages: [asked] };
        answer(name, { counts: { input: 20, output: 6 } });
        await send(gateway.url + CHAT, { key: account.key, body: ask });
        expect(await charged()).to.equal(cost({ input: 20, output: 1006 }));
        answer(name);
        const { json } = await send(gateway.url + CHAT, { key: account.key, body: ask });
        expect(json.usage.completion_tokens).to.be.within(1002, 1010);
        expect(json.choices[0].message.images).to.have.length(1);
      });

      it('fail the answer in words if they are broken, and only what was delivered is paid', async () => {
        for (const path of DIALECTS) {
          answer(name, { base64: PNG.subarray(0, -9).toString('base64'), counts: counted });
          const body = { model: name, max_tokens: 2000, messages: [asked] };
          const whole = await send(gateway.url + path, { key: account.key, body });
          expect([whole.status, whole.json.error.message], path).to.deep.equal([
            502,
            'The upstream provider sent an image that is broken or too large. Charge refunded.',
          ]);
          const before = await charged();
          const streamed = await send(gateway.url + path, { key: account.key, body: { ...body, stream: true } });
          expect(findFailure(parseEvents(streamed.text))?.message, path).to.equal(
            'The upstream provider sent an image that is broken or too large.',
          );
          expect((await charged()) - before > 0n, path).to.equal(true);
        }
      });
    });
  }

  it('are the result of a tool for the AI SDK over responses', async () => {
    answer('responses', { counts: counted });
    const sdk = createOpenAI({ apiKey: account.key, baseURL: `${gateway.url}/api/v1` });
    const asking = { model: sdk.responses('responses'), prompt: 'Draw a dot.', maxRetries: 0 };
    const { text, content } = await generateText(asking);
    expect(text).to.equal('Here it is.');
    const result = content.find((part) => part.type === 'tool-result');
    expect(result).to.deep.include({ toolName: 'image_generation', output: { result: BASE64 } });
    const streamed = await streamText(asking).toolResults;
    expect(streamed[0]).to.deep.include({ toolName: 'image_generation', output: { result: BASE64 } });
  });

  it('that are larger than the gateway takes fail the answer in words', async () => {
    answer('chat', { base64: png({ bytes: 21 * 1024 * 1024 }).toString('base64') });
    const { status, json } = await send(gateway.url + CHAT, {
      ...{ key: account.key, body: { model: 'chat', messages: [asked] } },
    });
    expect([status, json.error.message]).to.deep.equal([
      ...[502, 'The upstream provider sent an image that is broken or too large. Charge refunded.'],
    ]);
    expect(await charged()).to.equal(0n);
  }).timeout(20_000);

  it('come from a model whose answers are held back until they are whole', async () => {
    answer('chat', { counts: counted });
    const { json } = await send(gateway.url + CHAT, { key: account.key, body: { model: 'whole', messages: [asked] } });
    expect(json.choices[0].message.images[0].image_url.url).to.equal(DATA_URL);
    const streamed = await send(gateway.url + CHAT, {
      ...{ key: account.key, body: { model: 'whole', messages: [asked], stream: true } },
    });
    expect(streamed.text).to.contain(DATA_URL);
  });

  it('close the upstream at once when the client leaves in the middle of one', async () => {
    const [text] = FORMATS.chat.write(BASE64, undefined);
    const line = `data: ${JSON.stringify(FORMATS.chat.write(BASE64, undefined)[1])}\n\n`;
    upstream.behave(({ response }) => {
      response.writeHead(200, SSE);
      response.write(`data: ${JSON.stringify(text)}\n\n`);
      response.write(line.slice(0, line.length / 2));
    });
    for (const path of DIALECTS) {
      const called = upstream.nextCall();
      const before = await charged();
      const sent = open(gateway.url + path, {
        ...{ key: account.key, body: { model: 'chat', max_tokens: 2000, messages: [asked], stream: true } },
      });
      const response = await readHead(sent);
      await new Promise((resolve) => response.once('data', resolve));
      response.resume();
      sent.destroy();
      const { closed } = await called;
      await closed;
      // The prompt and the words, or the minimum of a call.
      expect((await charged()) - before > 0n, path).to.equal(true);
      expect((await charged()) - before < cost({ input: 1000, output: 100 }), path).to.equal(true);
    }
  });

  describe('in a history', () => {
    const history = [
      asked,
      { role: 'assistant', content: 'Here it is.', images: [{ type: 'image_url', image_url: { url: DATA_URL } }] },
      again,
    ];
    const ask = async (model: string) => {
      answer(model in FORMATS ? (model as Name) : 'chat', { counts: counted });
      const { status } = await send(gateway.url + CHAT, { key: account.key, body: { model, messages: history } });
      expect(status).to.equal(200);
      return turns(model in FORMATS ? (model as Name) : 'chat').slice(1);
    };
    const url = '{"type":"image_url","image_url":{"url":"data:image/png;base64,<png>"}}';

    it('are where they were, for a vendor that takes them there', async () => {
      expect(await ask('chat')).to.deep.equal([
        `{"role":"assistant","content":"Here it is.","images":[${url}]}`,
        '{"role":"user","content":"Make it blue."}',
      ]);
      expect((await ask('contents'))[0]).to.match(
        /^\{"role":"model","parts":\[\{"text":"Here it is\."[^{]*\},\{"inlineData":\{"mimeType":"image\/png","data":"<png>"\}/,
      );
    });

    it('are in the message that follows, for other vendors', async () => {
      const before = '{"type":"text","text":"Of the answer before:"}';
      expect(await ask('plain')).to.deep.equal([
        '{"role":"assistant","content":"Here it is."}',
        `{"role":"user","content":[${before},${url},{"type":"text","text":"Make it blue."}]}`,
      ]);
      expect((await ask('responses'))[1]).to.contain('"type":"input_image","image_url":"data:image/png;base64,<png>"');
    });

    it('are only told to a model that sees no images, which answers all the same', async () => {
      expect(await ask('blind')).to.deep.equal([
        JSON.stringify({ role: 'assistant', content: 'Here it is.\n\n[image]' }),
        '{"role":"user","content":"Make it blue."}',
      ]);
      expect(upstream.calls.at(-1)?.body.model).to.equal('m');
    });

    it('may be links to stored files', async () => {
      const stored = newMedia({ account: account.id, expiresAt: Date.now() + 60_000 });
      const { id } = await gateway.store.media.write(stored, piecesOf(PNG));
      const link = { type: 'image_url', image_url: { url: `${gateway.url}/media/${id}.png` } };
      answer('chat', { counts: counted });
      const messages = [asked, { role: 'assistant', content: 'Here it is.', images: [link] }, again];
      const { status } = await send(gateway.url + CHAT, { key: account.key, body: { model: 'chat', messages } });
      expect(status).to.equal(200);
      expect(turns('chat')[1]).to.equal(`{"role":"assistant","content":"Here it is.","images":[${url}]}`);
    });

    it('may be all of an answer', async () => {
      const messages = [asked, { role: 'assistant', content: [{ type: 'image', source: SOURCE }] }, again];
      answer('chat', { counts: counted });
      const body = { model: 'blind', max_tokens: 2000, messages };
      expect((await send(gateway.url + MESSAGES, { key: account.key, body })).status).to.equal(200);
      expect(turns('chat')[1]).to.equal('{"role":"assistant","content":"[image]"}');
    });
  });
});
