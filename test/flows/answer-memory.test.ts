// Images of answers share the memory of large bodies: what has no room waits for it, what never fits is refused and
// refunded, and nothing stays taken.
import { expect } from 'chai';
import {
  CHAT,
  DIALECTS,
  findFailure,
  open,
  parseEvents,
  RESPONSES,
  readHead,
  send,
  until,
} from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { describeLong } from '../../testkit/long.ts';
import { itTimed } from '../../testkit/timed.ts';
import { chatChunk, chatEnd, SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { png } from '../media/sample-images.ts';

const MIB = 1024 * 1024;
/** A busy machine has to ask meanwhile. */
const STALL_MS = 8000;
/** In base64 more than half of what a key may have. */
const LARGE = png({ bytes: 19 * MIB }).toString('base64');

function writeImage(base64: string): string {
  const images = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } }];
  return `data: ${JSON.stringify({ id: 'up_1', choices: [{ index: 0, delta: { images } }] })}\n\n`;
}

const EVENT = writeImage(LARGE);
/** Another one, as equal ones are told once. */
const SECOND = writeImage(png({ bytes: 19 * MIB + 1 }).toString('base64'));

describeLong('the memory for images of answers', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream();
    const model = {
      ...{ id: 'm', type: 'text', provider: 'Test', price: { input: '1000', output: '5000' } },
      routes: [
        { upstream: 'up', model: 'm' },
        { upstream: 'other', model: 'm' },
      ],
    };
    const up = { plugin: 'openai-compatible', settings: { baseUrl: `${upstream.url}/v1`, apiKey: 'secret' } };
    gateway = await startGateway({
      catalog: { upstreams: { up, other: up }, models: [model] },
      env: { CLIENT_STALL_MS: String(STALL_MS) },
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

  const draw = (...events: readonly string[]) => {
    upstream.behave(({ response }) => {
      response.writeHead(200, SSE);
      response.end(chatChunk('Here.') + events.join('') + chatEnd({ input: 8, output: 1300 }));
    });
  };
  const body = { model: 'm', max_tokens: 2000, messages: [{ role: 'user', content: 'Draw.' }] };
  const ask = (path: string, more: object = {}) =>
    send(gateway.url + path, { key: account.key, body: { ...body, ...more } });
  const charged = async () => {
    await until(async () => (await gateway.wallet(account)).held === 0n);
    return (await gateway.wallet(account)).charged;
  };

  it('refuses and refunds a whole answer that does not fit, without another route', async () => {
    draw(EVENT, SECOND);
    const calls = upstream.calls.length;
    const { status, json } = await ask(CHAT);
    expect([status, json.error.message]).to.deep.equal([
      503,
      'Too many large answers are being delivered at the moment. Charge refunded.',
    ]);
    expect(await charged()).to.equal(0n);
    expect(upstream.calls.length - calls).to.equal(1);
    draw(EVENT);
    expect((await ask(CHAT)).json.choices[0].message.images).to.have.length(1);
    expect(await charged()).to.equal(8n * 1000n + 1300n * 5000n);
  }).timeout(60_000);

  it('ends a stream at an image that does not fit, for the price of what came before', async () => {
    draw(EVENT, SECOND);
    const { text } = await ask(CHAT, { stream: true });
    expect(findFailure(parseEvents(text))?.message).to.equal(
      'Too many large answers are being delivered at the moment.',
    );
    expect(text.includes(LARGE)).to.equal(true);
    expect(Number(await charged()) / 5000).to.be.within(1000, 1100);
  }).timeout(60_000);

  it('is free again after each answer, in every dialect', async () => {
    draw(EVENT);
    for (const path of DIALECTS) {
      for (const stream of [true, false]) {
        const { status, text } = await ask(path, { stream });
        expect([status, text.includes(LARGE)], `${path} ${stream}`).to.deep.equal([200, true]);
      }
    }
  }).timeout(60_000);

  const stalls = {
    'in the middle of an image': [CHAT, 100_000],
    'at the end of a response, which repeats it': [RESPONSES, LARGE.length + 100_000],
  } as const;
  for (const [name, [path, charsRead]] of Object.entries(stalls)) {
    itTimed(`is taken by a client that reads nothing more ${name}, until it is disconnected`, async function () {
      this.timeout(120_000);
      draw(EVENT);
      const stalled = open(gateway.url + path, { key: account.key, body: { ...body, stream: true } });
      stalled.on('error', () => undefined);
      const response = await readHead(stalled);
      let chars = 0;
      await new Promise<void>((resolve) => {
        response
          .on('error', () => undefined)
          .on('data', (chunk: Buffer) => {
            chars += chunk.length;
            if (chars < charsRead) return;
            response.pause();
            resolve();
          });
      });
      // Others wait for its memory.
      const at = performance.now();
      expect((await ask(CHAT)).status).to.equal(200);
      expect(performance.now() - at).to.be.above(0.9 * STALL_MS);
      stalled.destroy();
      await charged();
    });
  }
});
