// What may have been paid is not asked for again in the same call, whatever the plugin tries.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Host } from '../../../lib/upstream/contract/host.ts';
import { type ClosableHost, createHost } from '../../../lib/upstream/host/host.ts';
import { callPlugin, nameUpstream } from '../../../lib/upstream/host/plugin-run.ts';

type Answer = (response: ServerResponse) => void;

const LOSSES: readonly (readonly [what: string, answer: Answer, kind: string])[] = [
  ['a connection that is closed', (response) => response.socket?.destroy(), 'network'],
  [
    'half of a body',
    (response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"id":', () => response.socket?.destroy());
    },
    'network',
  ],
  ['half of a JSON', (response) => response.end('{"id":'), 'protocol'],
  ['status 500', (response) => response.writeHead(500).end(), 'server'],
  ['status 503', (response) => response.writeHead(503).end(), 'overloaded'],
];

/** Nobody listens there. */
const CLOSED = 'http://127.0.0.1:1';

describe('a POST that may have arrived', () => {
  const asked: string[] = [];
  const warnings: string[] = [];
  let answer: Answer;
  let origin: string;
  let host: ClosableHost;

  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    request.resume().on('end', () => answer(response));
  });

  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    asked.length = 0;
    warnings.length = 0;
    const log = { warn: (message: string) => void warnings.push(message) };
    const clock = { now: Date.now, sleep: async () => {} };
    host = createHost({ upstream: 'acme', allowedOrigins: [origin, CLOSED], log, clock });
  });
  afterEach(() => host.close());
  after(() => void server.close());

  const run = <T>(work: (host: Host, signal: AbortSignal) => Promise<T>): Promise<unknown> =>
    callPlugin(nameUpstream('acme'), new AbortController().signal, (signal) => work(host, signal)).catch(
      (error: unknown) => error,
    );
  const post = (signal: AbortSignal) => ({ method: 'POST', body: '{"prompt":"A red square"}', signal }) as const;

  for (const [what, said, kind] of LOSSES) {
    it(`is not sent again after ${what}`, async () => {
      answer = said;
      const submit = (signal: AbortSignal) => host.json(`${origin}/images`, post(signal));
      const thrown = await run((_, signal) => submit(signal).catch(() => submit(signal)));
      expect(thrown).to.include({ name: 'UpstreamFault', kind });
      expect(asked).to.deep.equal(['POST /images']);
      expect(warnings).to.have.length(1);
    });
  }

  it('is sent again after a refusal, in another call, and as a poll', async () => {
    answer = (response) => response.writeHead(asked.length > 1 ? 200 : 429).end('{}');
    const submit = (signal: AbortSignal) => host.json(`${origin}/images`, post(signal));
    await run((_, signal) => submit(signal).catch(() => submit(signal)));
    expect(asked).to.have.length(2);
    answer = (response) => void response.socket?.destroy();
    await run((_, signal) => submit(signal));
    await run((_, signal) => submit(signal));
    expect(asked).to.have.length(4);
    answer = (response) => (asked.length < 7 ? response.socket?.destroy() : response.end('{"done":true}'));
    const ask = async (signal: AbortSignal) => ({ value: (await submit(signal)).value });
    expect(await run((_, signal) => host.poll({ ask, everyMs: 1, signal }))).to.deep.equal({ done: true });
    expect(asked).to.have.length(7);
    expect(warnings).to.deep.equal([]);
  });

  it('is not sent again behind a poll', async () => {
    const url = `${origin}/images`;
    const asking = async (given: Host, signal: AbortSignal) => {
      answer = (response) => response.end('{}');
      await given.poll({ ask: async () => await given.json(url, { method: 'GET', signal }), everyMs: 1, signal });
      answer = (response) => void response.socket?.destroy();
      return given.json(url, post(signal)).catch(() => given.json(url, post(signal)));
    };
    expect(await run(asking)).to.include({ kind: 'network' });
    expect(asked).to.deep.equal(['GET /images', 'POST /images']);
  });

  it('is not one that found nobody', async () => {
    const submit = (signal: AbortSignal) => host.json(`${CLOSED}/images`, post(signal));
    const thrown = await run((_, signal) => submit(signal).catch(() => submit(signal)));
    expect(thrown).to.include({ kind: 'network', unsent: true });
    expect(warnings).to.deep.equal([]);
  });
});
