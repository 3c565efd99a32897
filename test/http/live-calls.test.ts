import { getEventListeners } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request } from '@hapi/hapi';
import { expect } from 'chai';
import { GONE } from '../../lib/calls/context.ts';
import { createLiveCalls } from '../../lib/http/live-calls.ts';
import type { LiveCall } from '../../lib/http/request-state.ts';
import { until } from '../../testkit/client.ts';
import { itTimed } from '../../testkit/timed.ts';

describe('live calls', () => {
  let server: Server;
  let calls: ReturnType<typeof createLiveCalls>;

  before((next) => {
    server = createServer();
    server.listen(0, '127.0.0.1', next);
  });
  beforeEach(() => {
    calls = createLiveCalls();
  });
  after((next) => {
    server.closeAllConnections();
    server.close(() => next());
  });

  /** A request that has arrived, in the shape of hapi's. */
  async function arrive() {
    const arrived = new Promise<[IncomingMessage, ServerResponse]>((resolve) => {
      server.once('request', (incoming, outgoing) => resolve([incoming, outgoing]));
    });
    const client = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false });
    client.on('error', () => undefined);
    client.on('response', (response) => response.resume());
    client.end();
    const [req, res] = await arrived;
    return { client, response: res, hapi: { raw: { req, res }, app: {} } as unknown as Request };
  }

  it('counts the streams among them', async () => {
    const first = calls.open((await arrive()).hapi);
    const second = calls.open((await arrive()).hapi);
    second.isStream = true;
    expect([calls.count(), calls.countStreams()]).to.deep.equal([2, 1]);
    first.close();
    expect([calls.count(), calls.countStreams()]).to.deep.equal([1, 1]);
    second.close();
    expect(calls.countStreams()).to.equal(0);
  });

  it('lives until it is closed', async () => {
    const { hapi, response } = await arrive();
    const listeners = hapi.raw.req.socket.listenerCount('error');
    const call = calls.open(hapi);
    expect([calls.count(), call.signal.aborted]).to.deep.equal([1, false]);
    call.close();
    expect(calls.count()).to.equal(0);
    response.end();
    await until(() => response.closed);
    expect([call.signal.aborted, response.listenerCount('close')]).to.deep.equal([false, 0]);
    expect(hapi.raw.req.socket.listenerCount('error')).to.equal(listeners);
  });

  it('aborts when the client leaves', async () => {
    const { hapi, client } = await arrive();
    const { signal } = calls.open(hapi);
    client.destroy();
    await until(() => signal.aborted, 500);
    expect(signal.reason).to.equal(GONE);
  });

  it('aborts as soon as the client resets the connection, before it is closed here', async () => {
    const { hapi, client, response } = await arrive();
    const { signal } = calls.open(hapi);
    const closed = new Promise<boolean>((resolve) => signal.addEventListener('abort', () => resolve(response.closed)));
    client.socket?.resetAndDestroy();
    expect(await closed).to.equal(false);
    await until(() => response.closed);
  });

  itTimed('aborts when the client leaves in the middle of the reply', async () => {
    const { hapi, client, response } = await arrive();
    const { signal } = calls.open(hapi);
    response.write('some');
    await sleep(10);
    client.destroy();
    await until(() => signal.aborted, 500);
    expect(signal.reason).to.equal(GONE);
  });

  itTimed('does not abort after the reply', async () => {
    const { hapi, response } = await arrive();
    const { signal } = calls.open(hapi);
    response.end('all');
    await until(() => response.closed);
    await sleep(10);
    expect(signal.aborted).to.equal(false);
  });

  it('has already aborted if the client left before', async () => {
    const { hapi, client, response } = await arrive();
    client.destroy();
    await until(() => response.destroyed);
    expect(calls.open(hapi).signal.reason).to.equal(GONE);
  });

  itTimed('drains at once if there is none', async () => {
    const startedAt = performance.now();
    expect(await calls.drain(5000)).to.equal(0);
    expect(performance.now() - startedAt).to.be.below(50);
  });

  itTimed('drains when the last one is closed', async () => {
    const open = [calls.open((await arrive()).hapi), calls.open((await arrive()).hapi)];
    let left: number | undefined;
    const drained = calls.drain(5000).then((count) => {
      left = count;
    });
    open[0]?.close();
    await sleep(20);
    expect(left).to.equal(undefined);
    open[1]?.close();
    await drained;
    expect(left).to.equal(0);
  });

  itTimed('drains no longer than allowed, and returns how many are left', async () => {
    const open: LiveCall[] = [];
    for (let at = 0; at < 3; at += 1) open.push(calls.open((await arrive()).hapi));
    const startedAt = performance.now();
    expect(await calls.drain(50)).to.equal(3);
    expect(performance.now() - startedAt).to.be.within(45, 300);
    for (const call of open) call.close();
    expect(await calls.drain(50)).to.equal(0);
  });

  it('ends all with a reason, but keeps the reason of calls whose client left', async () => {
    const { hapi, client } = await arrive();
    const left = calls.open(hapi);
    client.destroy();
    await until(() => left.signal.aborted);
    const stays = calls.open((await arrive()).hapi);
    calls.endAll('stopping');
    expect([left.signal.reason, stays.signal.reason]).to.deep.equal([GONE, 'stopping']);
    expect(getEventListeners(stays.signal, 'abort')).to.have.length(0);
  });

  it('aborts at once after all calls were ended', async () => {
    const ending = createLiveCalls();
    ending.endAll('stopping');
    const late = ending.open((await arrive()).hapi);
    expect([late.signal.aborted, late.signal.reason]).to.deep.equal([true, 'stopping']);
    late.close();
  });
});
