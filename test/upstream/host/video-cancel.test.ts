// How the host cancels a job of a video: with its key, once, and what a refusal becomes.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { VideoWire } from '../../../lib/upstream/contract/provider.ts';
import { type ClosableHost, createHost } from '../../../lib/upstream/host/host.ts';
import { KeyRing } from '../../../lib/upstream/host/key-ring.ts';

const signal = new AbortController().signal;

describe('jobs of video that are cancelled', () => {
  let server: Server;
  let origin: string;
  let seen: object[];
  let reply: { readonly status: number; readonly body: string };
  let host: ClosableHost;

  before(async () => {
    server = createServer(async (incoming, response) => {
      const body = Buffer.concat(await incoming.toArray()).toString();
      const { method, url, headers } = incoming;
      seen.push({ method, url, key: headers.authorization, version: headers['x-version'], body });
      response.writeHead(reply.status).end(reply.body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    seen = [];
    host = createHost({ upstream: 'acme', allowedOrigins: [origin], log: { warn() {} }, keys: ['one', 'two'] });
  });
  afterEach(() => host.close());
  after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });

  const wire: VideoWire = {
    auth: (key) => ({ authorization: key }),
    headers: { 'x-version': '3' },
    submission: () => ({ url: '', idOf: () => '', lookAt: () => '' }),
    read: () => ({ status: 'queued' }),
  };
  const cancellation: VideoWire['cancellation'] = ({ url }) => ({ method: 'POST', url: `${url}/cancel`, body: '{}' });
  const make = (more: Partial<VideoWire> = { cancellation }) =>
    host.video.jobs({ baseUrl: origin }, { ...wire, ...more });

  it('are so only by an upstream that can', () => {
    expect(make({})).not.to.have.property('cancel');
  });

  it('with the key that started them', async () => {
    reply = { status: 204, body: '' };
    const keyId = new KeyRing(['two']).take()?.id ?? '';
    for (const _ of [1, 2, 3]) await make().cancel?.({ id: '7', url: `${origin}/jobs/7`, keyId }, signal);
    const asked = { method: 'POST', url: '/jobs/7/cancel', key: 'two', version: '3', body: '{}' };
    expect(seen).to.have.length(3);
    for (const request of seen) expect(request).to.include(asked);
  });

  it('once, and a refusal is its fault', async () => {
    for (const status of [404, 409, 429, 500]) {
      reply = { status, body: '{"error":{"message":"too late"}}' };
      seen = [];
      const ref = { id: '7', url: `${origin}/jobs/7`, keyId: new KeyRing(['one']).take()?.id ?? '' };
      const error = await make()
        .cancel?.(ref, signal)
        .catch((thrown: unknown) => thrown);
      expect([(error as { status: number }).status, seen.length]).to.deep.equal([status, 1]);
    }
    const lost = await make()
      .cancel?.({ id: '7' }, signal)
      .catch((thrown: unknown) => thrown);
    expect(lost).to.include({ kind: 'protocol' });
  });
});
