// Citations as real clients read them, through the whole gateway, and as they send them back.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { generateText, streamText } from 'ai';
import { expect } from 'chai';
import OpenAI from 'openai';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`;

const CITED = {
  ...{ type: 'char_location' as const, cited_text: 'The grass is green.', document_index: 0, document_title: 'Notes' },
  ...{ start_char_index: 0, end_char_index: 19, file_id: null },
};
const ANNOTATION = {
  type: 'url_citation' as const,
  url_citation: { url: 'https://example.com/grass', title: 'Grass', start_index: 0, end_index: 5 },
};

const MESSAGE = [
  { type: 'message_start', message: { id: 'm', model: 'm', usage: { input_tokens: 9, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Well, ' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '', citations: [] } },
  { type: 'content_block_delta', index: 1, delta: { type: 'citations_delta', citation: CITED } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'green.' } },
  { type: 'content_block_stop', index: 1 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } },
  { type: 'message_stop' },
];
const chunk = (delta: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const CHAT = [chunk({ content: 'Green.' }), chunk({ annotations: [ANNOTATION] }), chunk({}, 'stop')];

describe('citations at real clients', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream();
    const model = (id: string, more: object = {}) => ({
      ...{ id, type: 'text', provider: 'Test', price: { input: '100', output: '500' } },
      routes: [{ upstream: id.replace('-whole', ''), model: 'm' }],
      ...more,
    });
    const settings = { baseUrl: `${upstream.url}/v1`, apiKey: 'secret' };
    gateway = await startGateway({
      catalog: {
        upstreams: {
          messages: { plugin: 'anthropic', settings: { ...settings, baseUrl: upstream.url } },
          chat: { plugin: 'openai-compatible', settings },
        },
        models: [model('messages', { documents: true }), model('chat'), model('chat-whole', { delivery: 'buffered' })],
      },
    });
    account = await gateway.account();
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const answer = (...events: readonly object[]) => {
    upstream.behave(({ response }) => void response.writeHead(200, SSE).end(events.map(data).join('')));
  };

  it('of a document come with their passage, and go back to the vendor', async () => {
    const client = new Anthropic({ apiKey: account.key, baseURL: `${gateway.url}/api`, maxRetries: 0 });
    const source = { type: 'text', media_type: 'text/plain', data: 'The grass is green.' } as const;
    const document = { type: 'document', source, title: 'Notes', citations: { enabled: true } } as const;
    const asked = { role: 'user', content: [document, { type: 'text', text: 'Which colour?' }] } as const;
    const request = { model: 'messages', max_tokens: 64, messages: [asked] } as never;
    answer(...MESSAGE);
    const whole = await client.messages.create(request);
    const said = [
      { type: 'text', text: 'Well, ' },
      { type: 'text', text: 'green.', citations: [CITED] },
    ];
    expect((whole as Anthropic.Message).content).to.deep.equal(said);
    const { content } = await client.messages.stream(request).finalMessage();
    expect(content).to.deep.equal(said);
    const called = upstream.nextCall();
    const messages = [asked, { role: 'assistant', content }, { role: 'user', content: 'Sure?' }] as never;
    await client.messages.create({ model: 'messages', max_tokens: 64, messages });
    const sent = (await called).body.messages as { content: object[] }[];
    const { file_id: _, ...taken } = CITED;
    expect(sent[0]?.content[0]).to.deep.equal(document);
    expect(sent[1]?.content[1]).to.deep.equal({ type: 'text', text: 'green.', citations: [taken] });
  });

  it('of a page come as annotations, streamed or held back until the answer is whole', async () => {
    const client = new OpenAI({ apiKey: account.key, baseURL: `${gateway.url}/api/v1`, maxRetries: 0 });
    answer(...CHAT);
    for (const model of ['chat', 'chat-whole']) {
      const messages = [{ role: 'user', content: 'Which colour?' }] as const;
      const stream = client.chat.completions.stream({ model, messages: [...messages] });
      const { choices } = await stream.finalChatCompletion();
      const collected = choices[0]?.message as { annotations?: unknown } | undefined;
      expect(collected?.annotations, model).to.deep.equal([ANNOTATION]);
      const whole = await client.chat.completions.create({ model, messages: [...messages] });
      const message = whole.choices[0]?.message;
      expect(message?.annotations, model).to.deep.equal([ANNOTATION]);
      const again = [...messages, message, { role: 'user', content: 'Sure?' }] as never;
      expect((await client.chat.completions.create({ model, messages: again })).choices).to.have.length(1);
      const events: unknown[] = [];
      const streamed = client.responses.stream({ model, input: 'Which colour?' });
      streamed.on('event', (event) => {
        if (event.type === 'response.output_text.annotation.added') events.push(event);
      });
      const { output } = await streamed.finalResponse();
      const { url_citation: cited, type } = ANNOTATION;
      const [item] = output;
      const [part] = item?.type === 'message' ? item.content : [];
      expect(part?.type === 'output_text' && part.annotations, model).to.deep.equal([{ type, ...cited }]);
      expect(events, model).to.have.length(1);
      const input = [{ role: 'user', content: 'Which colour?' }, item, { role: 'user', content: 'Sure?' }] as never;
      expect((await client.responses.create({ model, input })).status).to.equal('completed');
    }
  });

  it('are pages to the AI SDK in each format, whose reader takes no other shape', async () => {
    answer(chunk({ content: 'Green.' }), { ...chunk({}, 'stop'), citations: ['https://example.com/grass'] });
    const settings = { apiKey: account.key, baseURL: `${gateway.url}/api/v1` };
    const openai = createOpenAI(settings);
    const models = [openai.chat('chat'), openai.responses('chat'), createAnthropic(settings)('chat')];
    for (const model of models) {
      const asked = { model, prompt: 'Which colour?', maxOutputTokens: 64, maxRetries: 0 };
      const whole = await generateText(asked);
      const streamed = streamText(asked);
      for (const { text, sources } of [whole, { text: await streamed.text, sources: await streamed.sources }]) {
        expect(text, model.provider).to.equal('Green.');
        const urls = sources.map((source) => source.sourceType === 'url' && source.url);
        expect(urls, model.provider).to.deep.equal(['https://example.com/grass']);
      }
    }
  });
});
