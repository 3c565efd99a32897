import { expect } from 'chai';
import type { TextCall } from '../../lib/plugin/contract.ts';
import { createProvider } from '../../lib/plugin/settings.ts';
import plugin from '../../providers/openai-responses/index.ts';
import { interceptRequests, nock } from '../../testkit/interception.ts';

const ORIGIN = 'https://responses.example';
const ANSWER =
  'data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Hi"}\n\n' +
  'data: {"type":"response.completed","response":{"status":"completed"}}\n\n';

const CALL: TextCall = {
  model: 'gpt-x',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
  maxTokens: 64,
  options: {},
};

interface Sent {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

describe('openai-responses', () => {
  const closers: (() => Promise<void>)[] = [];

  interceptRequests();
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
    nock.cleanAll();
  });

  async function ask(settings: object, call: Partial<TextCall> = {}): Promise<Sent> {
    const log = { warn() {} };
    const { provider, close } = createProvider({ plugin, upstream: 'main', settings, log });
    closers.push(close);
    const sent: Sent[] = [];
    nock(ORIGIN)
      .post(/.*/)
      .reply(async (request: Request) => {
        const headers = Object.fromEntries(request.headers);
        sent.push({ path: new URL(request.url).pathname, headers, body: JSON.parse(await request.text()) });
        return [200, ANSWER, { 'content-type': 'text/event-stream' }];
      });
    const parts = await Array.fromAsync(provider.text?.({ ...CALL, ...call }, new AbortController().signal) ?? []);
    expect(parts.flat()).to.deep.include({ type: 'block-delta', index: 0, text: 'Hi' });
    return sent[0] as Sent;
  }

  it('asks for a stream that is not kept, and sends nothing else', async () => {
    const { path, headers, body } = await ask({ baseUrl: `${ORIGIN}/v1/`, apiKey: 'sk-test-01234' });
    expect(path).to.equal('/v1/responses');
    expect(headers.authorization).to.equal('Bearer sk-test-01234');
    expect(body).to.deep.equal({
      model: 'gpt-x',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
      max_output_tokens: 64,
      store: false,
      stream: true,
    });
  });

  it('says who said what by the types of the parts', async () => {
    const messages: TextCall['messages'] = [
      { role: 'assistant', content: [{ type: 'text', text: 'Before' }] },
      { role: 'user', content: [{ type: 'image', mediaType: 'image/png', bytes: Buffer.from('abc') }] },
    ];
    const { body, headers } = await ask({ baseUrl: ORIGIN }, { system: 'Be brief.', messages });
    expect(headers).not.to.have.property('authorization');
    expect(body.instructions).to.equal('Be brief.');
    expect(body.input).to.deep.equal([
      { role: 'assistant', content: [{ type: 'output_text', text: 'Before' }] },
      { role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,YWJj' }] },
    ]);
  });
});
