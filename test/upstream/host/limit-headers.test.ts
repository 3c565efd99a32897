// Limits that an upstream tells in its headers: how they are read, and that a key with nothing left is paused.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { type ClosableHost, createHost } from '../../../lib/upstream/host/host.ts';
import { findLimitsFlaw, readExhaustedMs } from '../../../lib/upstream/host/limit-headers.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const CALLS = { remaining: 'x-calls-left', reset: 'x-calls-reset' };
const TOKENS = { remaining: 'x-tokens-left', reset: 'x-tokens-reset' };
const signal = new AbortController().signal;

describe('limits in headers', () => {
  const TIMES: readonly (readonly [reset: string, ms: number | undefined])[] = [
    ['20', 20_000],
    ['0.5', 500],
    ['-3', 0],
    ['1s', 1000],
    ['250ms', 250],
    ['1m30s', 90_000],
    ['1h0m2.5s', 3_602_500],
    ['2d1h', 176_400_000],
    ['1000000000', 0],
    [String(NOW / 1000 + 7), 7000],
    [String(NOW + 7000), 7000],
    ['2026-01-01T00:01:00Z', 60_000],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['2025-12-31T23:59:59Z', 0],
    ['', undefined],
    ['soon', undefined],
    ['1m30', undefined],
    ['9'.repeat(40), undefined],
  ];
  for (const [reset, ms] of TIMES) {
    it(`end in ${ms} ms with ${JSON.stringify(reset).slice(0, 30)}`, () => {
      expect(readExhaustedMs({ 'x-calls-left': '0', 'x-calls-reset': reset }, [CALLS], NOW)).to.equal(ms);
    });
  }

  it('count only with nothing left, the longest of several', () => {
    const read = (headers: Record<string, string | string[]>) => readExhaustedMs(headers, [CALLS, TOKENS], NOW);
    expect(read({ 'x-calls-left': '1', 'x-calls-reset': '9' })).to.equal(undefined);
    expect(read({ 'x-calls-left': '0' })).to.equal(undefined);
    expect(read({ 'x-calls-left': 'none', 'x-calls-reset': '9' })).to.equal(undefined);
    expect(read({ 'x-calls-left': ['0', '0'], 'x-calls-reset': '9' })).to.equal(undefined);
    expect(read({ 'x-calls-left': '-1', 'x-calls-reset': '9' })).to.equal(9000);
    const both = { 'x-calls-left': '0', 'x-calls-reset': '9', 'x-tokens-left': '0', 'x-tokens-reset': '8' };
    expect(read(both)).to.equal(9000);
    expect(read({ ...both, 'x-calls-left': '1' })).to.equal(8000);
    expect(readExhaustedMs(both, [], NOW)).to.equal(undefined);
  });

  it('are named by pairs of names in lower case', () => {
    for (const right of [undefined, [], [CALLS, TOKENS]]) expect(findLimitsFlaw(right)).to.equal(undefined);
    for (const wrong of [null, {}, CALLS, ['x'], [null], [{ remaining: 'x' }], [{ ...CALLS, reset: 'X-Reset' }]]) {
      expect(findLimitsFlaw(wrong), JSON.stringify(wrong)).to.include('limitHeaders');
    }
  });
});

describe('an upstream that tells its limits', () => {
  let server: Server;
  let origin: string;
  let keys: unknown[];
  let reply: { readonly status: number; readonly headers: Record<string, string>; readonly body: string };
  let now: number;
  let logged: { readonly message: string; readonly fields: object }[];
  let host: ClosableHost;

  before(async () => {
    server = createServer((incoming, response) => {
      keys.push(incoming.headers.authorization);
      incoming.resume();
      response.writeHead(reply.status, reply.headers).end(reply.body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    keys = [];
    logged = [];
    now = NOW;
    reply = { status: 200, headers: {}, body: '{}' };
    host = createHost({
      upstream: 'acme',
      allowedOrigins: [origin],
      log: { warn() {}, debug: (message, fields) => void logged.push({ message, fields }) },
      keys: ['one', 'two'],
      secrets: ['sk-secret-1'],
      vendor: { limitHeaders: [CALLS] },
      clock: { now: () => now, sleep: async () => undefined },
    });
  });
  afterEach(() => host.close());
  after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });

  const auth = (key: string) => ({ authorization: key });
  const post = () => host.json(origin, { method: 'POST', auth, body: '{}', signal }).catch((error: unknown) => error);

  it('is asked with the other key until there is more', async () => {
    reply = { ...reply, headers: { 'x-calls-left': '0', 'x-calls-reset': '60' } };
    await post();
    reply = { ...reply, headers: { 'x-calls-left': '5', 'x-calls-reset': '60' } };
    for (const _ of [1, 2, 3]) await post();
    expect(keys).to.deep.equal(['one', 'two', 'two', 'two']);
    expect(host.keyHealth()).to.include({ keys: 2, rate: 1 });
    now += 60_000;
    keys = [];
    for (const _ of [1, 2]) await post();
    expect(keys).to.have.members(['one', 'two']);
  });

  it('is asked all the same when no key has anything left', async () => {
    reply = { ...reply, headers: { 'x-calls-left': '0', 'x-calls-reset': '60' } };
    for (const _ of [1, 2, 3]) expect(await post()).to.include({ status: 200 });
  });

  it('is believed about a key that it refuses, in replies that the plugin reads itself too', async () => {
    reply = { status: 429, headers: { 'x-calls-left': '0', 'x-calls-reset': '60' }, body: '' };
    await post();
    expect(keys).to.deep.equal(['one', 'two']);
    now += 10_000;
    expect(host.keyHealth()).to.include({ rate: 2 });
    now += 50_000;
    expect(host.keyHealth()).to.include({ rate: 0 });
    reply = { ...reply, status: 200 };
    (await host.request(origin, { method: 'GET', auth, signal })).body.drop();
    expect(host.keyHealth()).to.include({ rate: 1 });
  });

  it('has the whole of its refusals in the log at debug, without secrets and images', async () => {
    const image = 'QUJD'.repeat(40);
    const told = `{"error":{"message":"no","hint":"${'long '.repeat(300)}","key":"sk-secret-1","image":"${image}"}}`;
    reply = { status: 400, headers: {}, body: told };
    await post();
    const body = told.replace('sk-secret-1', '[secret]').replace(image, '[bytes]');
    const message = 'an upstream has refused a request';
    expect(logged).to.deep.equal([{ message, fields: { upstream: 'acme', status: 400, body } }]);
    reply = { status: 200, headers: {}, body: '{}' };
    await post();
    expect(logged).to.have.length(1);
  });
});
