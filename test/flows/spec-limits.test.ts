// The buckets of the rate limit with the numbers of the specification: what counts where, and what does not count.
import { expect } from 'chai';
import { CHAT, MESSAGES, type Reply, send } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { EDITS, FORM_TYPE, GENERATIONS, imageCatalog } from '../../testkit/images.ts';

const VIDEOS = '/api/v1/videos';
const POLL = `${VIDEOS}?id=vid_${'0'.repeat(32)}`;
const BALANCE = '/api/v1/balance';
const MODELS = '/api/v1/models';

describe('rate limits', () => {
  let gateway: TestGateway;

  before(async () => {
    // As nobody has set them.
    const env = { RATE_LIMIT_PER_MINUTE: '30', BALANCE_RATE_LIMIT_PER_MINUTE: '120' };
    gateway = await startGateway({ catalog: imageCatalog('http://127.0.0.1:9'), env });
  });
  after(() => gateway.stop());

  const limited = (reply: Reply, perMinute: number) => {
    expect(reply.status, reply.text).to.equal(429);
    const { type, message } = reply.json.error;
    expect(type).to.equal('rate_limit_error');
    expect(message).to.contain(`${perMinute} per minute`);
    expect(reply.headers['retry-after']).to.match(/^[1-9]$|^[1-5]\d$/);
    expect(reply.headers).to.not.have.any.keys('x-should-retry');
  };

  it('count 30 of messages, chats, images, edits and videos together, refused ones too', async () => {
    const { key } = await gateway.account();
    const calls: readonly (readonly [path: string, body: unknown, status: number, type?: string])[] = [
      [MESSAGES, '{', 400],
      [CHAT, { model: 'film', messages: [] }, 400],
      [GENERATIONS, { prompt: '' }, 400],
      [EDITS, 'no form', 400, FORM_TYPE],
      [VIDEOS, { model: 'film' }, 400],
      [VIDEOS, 'hi', 415, 'text/plain'],
    ];
    for (let at = 0; at < 30; at += 1) {
      const [path, body, status, type] = calls[at % calls.length] ?? calls[0] ?? [];
      const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
      const reply = await send(gateway.url + path, { key, body, headers });
      expect([at, reply.status]).to.deep.equal([at, status]);
    }
    for (const path of [MESSAGES, CHAT, GENERATIONS, EDITS, VIDEOS]) {
      limited(await send(gateway.url + path, { key, body: '{' }), 30);
    }
    for (const [path, status] of [
      [MODELS, 200],
      [BALANCE, 200],
      [POLL, 404],
      ['/api/v1/none', 404],
    ] as const) {
      expect((await send(gateway.url + path, { key })).status).to.equal(status);
    }
  });

  it('do not count what comes without a key, preflights, and methods that are not taken', async () => {
    const { key } = await gateway.account();
    for (let at = 0; at < 31; at += 1) {
      expect((await send(gateway.url + GENERATIONS, { body: '{' })).status).to.equal(401);
      expect((await send(gateway.url + GENERATIONS, { key, method: 'OPTIONS' })).status).to.equal(204);
      expect((await send(gateway.url + GENERATIONS, { key })).status).to.equal(405);
    }
    expect((await send(gateway.url + GENERATIONS, { key, body: '{' })).status).to.equal(400);
  });

  for (const path of [POLL, BALANCE]) {
    it(`count 120 of ${path} by themselves`, async () => {
      const { key } = await gateway.account();
      const replies = [];
      for (let at = 0; at < 120; at += 1) replies.push((await send(gateway.url + path, { key })).status);
      expect(new Set(replies)).to.deep.equal(new Set([path === POLL ? 404 : 200]));
      limited(await send(gateway.url + path, { key }), 120);
      const other = path === POLL ? BALANCE : POLL;
      expect((await send(gateway.url + other, { key })).status).to.be.oneOf([200, 404]);
      expect((await send(gateway.url + VIDEOS, { key, body: '{' })).status).to.equal(400);
      for (let at = 0; at < 130; at += 1) await send(gateway.url + MODELS, { key });
      expect((await send(gateway.url + MODELS, { key })).status).to.equal(200);
    });
  }
});
