import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { HOUR_MS } from '../../../lib/base/durations.ts';
import type { HostRequest, Token, TokenAuth, UpstreamFault } from '../../../lib/upstream/contract/provider.ts';
import { type ClosableHost, createHost } from '../../../lib/upstream/host/host.ts';

const never = new AbortController().signal;

/** An exchange that a test answers itself. */
interface Exchange {
  readonly key: string;
  readonly signal: AbortSignal;
  readonly answer: (token: Token) => void;
  readonly fail: (error: Error) => void;
}

describe('tokens of keys', () => {
  let now: number;
  let host: ClosableHost;
  let origin: string;
  let exchanges: Exchange[];
  let auth: TokenAuth;
  /** What arrived, and what it is answered: the last one again and again. */
  let arrived: (string | undefined)[];
  let statuses: number[];
  let body: string;
  let closeServer: () => Promise<unknown>;

  beforeEach(async () => {
    now = 1_800_000_000_000;
    [exchanges, arrived, statuses, body] = [[], [], [200], '{}'];
    const server = createServer((incoming, response) => {
      arrived.push(incoming.headers.authorization);
      response.writeHead((statuses.length > 1 ? statuses.shift() : statuses[0]) as number).end(body);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closeServer = () => new Promise((resolve) => server.close(resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    host = createHost({
      upstream: 'acme',
      allowedOrigins: [origin],
      keys: ['key-1'],
      log: { warn() {} },
      clock: { now: () => now, sleep: () => Promise.reject(new Error('nothing sleeps')) },
    });
    auth = host.tokens({
      exchange: (key, signal) =>
        new Promise((answer, fail) => {
          exchanges.push({ key, signal, answer, fail });
        }),
      headers: (token) => ({ authorization: `Bearer ${token}` }),
    });
  });
  afterEach(async () => {
    await host.close();
    await closeServer();
  });

  const ask = (more: Partial<HostRequest> = {}) => host.json(origin, { method: 'GET', auth, signal: never, ...more });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const answer = (at: number, value: string, lifeMs = HOUR_MS) =>
    exchanges[at]?.answer({ value, expiresAt: now + lifeMs });
  const failure = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.fail('it did not fail'),
      (error: Error) => error,
    );

  /** A request that needs an exchange, and has it. */
  async function askWith(value: string, lifeMs?: number): Promise<void> {
    const before = exchanges.length;
    const asked = ask();
    await until(() => exchanges.length > before);
    answer(before, value, lifeMs);
    await asked;
  }

  async function until(isSo: () => boolean): Promise<void> {
    for (let turns = 0; !isSo() && turns < 10_000; turns++) await turn();
  }

  it('are got once and kept', async () => {
    await askWith('one-token');
    await ask();
    expect(arrived).to.deep.equal(['Bearer one-token', 'Bearer one-token']);
    expect(exchanges.map(({ key }) => key)).to.deep.equal(['key-1']);
  });

  it('are got by one exchange for all calls that wait', async () => {
    const asked = [ask(), ask(), ask()];
    await turn();
    expect(exchanges).to.have.length(1);
    answer(0, 'one-token');
    await Promise.all(asked);
    expect(arrived).to.deep.equal(Array(3).fill('Bearer one-token'));
  });

  it('are got anew a minute before they end', async () => {
    await askWith('one-token');
    now += HOUR_MS - 60_001;
    await ask();
    expect(exchanges).to.have.length(1);
    now += 1;
    await askWith('two-token');
    expect(arrived).to.deep.equal(['Bearer one-token', 'Bearer one-token', 'Bearer two-token']);
  });

  it('are got for every call where nobody knows when they end', async () => {
    await askWith('one-token', Number.NaN);
    await askWith('two-token');
    expect(exchanges).to.have.length(2);
  });

  it('are one for each key', async () => {
    const asked = [auth('key-1', never), auth('key-2', never)];
    expect(exchanges.map(({ key }) => key)).to.deep.equal(['key-1', 'key-2']);
    answer(1, 'two-token');
    answer(0, 'one-token');
    expect(await Promise.all(asked)).to.deep.equal([
      { authorization: 'Bearer one-token' },
      { authorization: 'Bearer two-token' },
    ]);
  });

  it('are got anew, once, when a request is answered 401', async () => {
    await askWith('one-token');
    statuses = [401, 200];
    await askWith('two-token');
    expect(arrived).to.deep.equal(['Bearer one-token', 'Bearer one-token', 'Bearer two-token']);
    statuses = [401];
    const failed = failure(ask());
    await until(() => exchanges.length === 3);
    answer(2, 'three-token');
    expect(await failed).to.include({ kind: 'auth', status: 401 });
    expect(arrived.slice(3)).to.deep.equal(['Bearer two-token', 'Bearer three-token']);
  });

  it('are not got anew for a token that another call has replaced', async () => {
    await askWith('one-token');
    const old = await auth('key-1', never);
    auth.refuse('key-1', old);
    const renewed = auth('key-1', never);
    answer(1, 'two-token');
    await renewed;
    auth.refuse('key-1', old);
    expect(await auth('key-1', never)).to.deep.equal({ authorization: 'Bearer two-token' });
    expect(exchanges).to.have.length(2);
  });

  it('are asked for again after an exchange that failed', async () => {
    const asked = [failure(ask()), failure(ask())];
    await turn();
    exchanges[0]?.fail(host.fault.make('overloaded', 'later'));
    for (const error of await Promise.all(asked)) expect((error as UpstreamFault).kind).to.equal('overloaded');
    await askWith('one-token');
    expect(arrived).to.deep.equal(['Bearer one-token']);
  });

  it('are waited for by others when one call gives up', async () => {
    const controller = new AbortController();
    const aborted = failure(ask({ signal: controller.signal }));
    const asked = ask();
    await turn();
    controller.abort(new Error('gone'));
    expect((await aborted).message).to.equal('gone');
    expect(exchanges[0]?.signal.aborted).to.equal(false);
    answer(0, 'one-token');
    await asked;
  });

  it('are given up when the last call gives up, and got for the next', async () => {
    const controller = new AbortController();
    const aborted = failure(ask({ signal: controller.signal }));
    await turn();
    controller.abort(new Error('gone'));
    await aborted;
    expect(exchanges[0]?.signal.aborted).to.equal(true);
    await askWith('one-token');
    expect(arrived).to.deep.equal(['Bearer one-token']);
  });

  it('are got by another exchange after one that hangs, however many calls still join it', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const asked = [failure(ask())];
      for (let seconds = 0; seconds < 20; seconds += 5) {
        await turn();
        asked.push(failure(ask()));
        mock.timers.tick(5_000);
      }
      for (const error of await Promise.all(asked)) expect((error as UpstreamFault).kind).to.equal('timeout');
      expect(exchanges.map(({ signal }) => signal.aborted)).to.deep.equal([true]);
      await askWith('one-token');
      mock.timers.tick(60_000);
      expect(arrived).to.deep.equal(['Bearer one-token']);
    } finally {
      mock.timers.reset();
    }
  });

  it('stay out of the log', async () => {
    await askWith('one-token');
    [statuses, body] = [[500], '{"error":"one-token two-token"}'];
    expect(await failure(ask())).to.have.property('detail', '[secret] two-token');
    now += HOUR_MS;
    const failed = failure(ask());
    await turn();
    answer(1, 'two-token');
    expect(await failed).to.have.property('detail', 'one-token [secret]');
  });

  it('make the headers of a result that is fetched', async () => {
    const authorized = host.authorize(auth);
    await turn();
    answer(0, 'one-token');
    expect(await authorized).to.deep.equal({ authorization: 'Bearer one-token' });
  });
});
