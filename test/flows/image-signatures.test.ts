// What a vendor signs of an answer with an image comes back to it where it was, in each dialect: without its signatures
// the next call is refused.
import { expect } from 'chai';
import { CHAT, MESSAGES, RESPONSES, send } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { PNG } from '../media/sample-images.ts';

const BASE64 = PNG.toString('base64');
const inline = { inlineData: { mimeType: 'image/png', data: BASE64 } };
const user = { role: 'user', content: 'Draw a dot.' };

/** A request, and the next one with its answer. */
interface Conversation {
  readonly path: string;
  readonly more?: object;
  // biome-ignore lint/suspicious/noExplicitAny: a reply of each dialect
  readonly read: (json: any) => readonly object[];
}

const CONVERSATIONS: Readonly<Record<string, Conversation>> = {
  'a chat': { path: CHAT, read: ({ choices }) => [choices[0].message] },
  messages: {
    path: MESSAGES,
    more: { thinking: { type: 'enabled', budget_tokens: 1024 } },
    read: ({ content }) => [{ role: 'assistant', content }],
  },
  responses: { path: RESPONSES, read: ({ output }) => output },
};

describe('signatures of answers with images', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let key: string;

  before(async () => {
    upstream = await startUpstream();
    const settings = { baseUrl: `${upstream.url}/v1beta`, apiKey: 'secret' };
    gateway = await startGateway({
      catalog: {
        upstreams: { google: { plugin: 'gemini', settings } },
        models: [
          {
            ...{ id: 'drawer', type: 'text', provider: 'Test', price: { input: '100', output: '500' } },
            ...{ vision: true, reasoning: true, routes: [{ upstream: 'google', model: 'gemini-3-pro-image' }] },
          },
        ],
      },
    });
    ({ key } = await gateway.account());
    const parts = [
      { text: 'A dot, they say.', thought: true },
      { text: 'Here:', thoughtSignature: 'first' },
      { ...inline, thoughtSignature: 'second' },
    ];
    const event = {
      candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1300 },
    };
    upstream.behave(({ response }) => void response.writeHead(200, SSE).end(`data: ${JSON.stringify(event)}\n\n`));
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  /** The turn of the model as the vendor gets it back. */
  async function goOn({ path, more, read }: Conversation, change = (turn: readonly object[]) => turn) {
    const ask = (messages: readonly object[]) =>
      send(gateway.url + path, { key, body: { model: 'drawer', max_tokens: 3000, messages, ...more } });
    const { json } = await ask([user]);
    expect((await ask([user, ...change(read(json)), user])).status).to.equal(200);
    const sent = upstream.calls.at(-1)?.body.contents as { parts: unknown[] }[] | undefined;
    return sent?.[1]?.parts;
  }

  for (const [name, conversation] of Object.entries(CONVERSATIONS)) {
    it(`come back in ${name}`, async () => {
      expect(await goOn(conversation)).to.deep.equal([
        { text: 'Here:', thoughtSignature: 'first' },
        { ...inline, thoughtSignature: 'second' },
      ]);
    });
  }

  it('are told to be missing where a client does not give them back', async () => {
    const plain = ([message]: readonly object[]) => [{ ...message, reasoning_details: undefined }];
    const none = { thoughtSignature: 'skip_thought_signature_validator' };
    expect(await goOn(CONVERSATIONS['a chat'] as Conversation, plain)).to.deep.equal([
      { text: 'Here:', ...none },
      { ...inline, ...none },
    ]);
  });
});
