// One request and its reply over real connections: when it begins, waits, pauses and is given up.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { ByteSource } from '../../../lib/stream/bytes.ts';
import { until } from '../../../testkit/client.ts';
import { type Exchanges, openExchanges } from '../../../testkit/exchanges.ts';

const MIB = 1024 * 1024;

describe('exchange', () => {
  let upstream: Exchanges;
  const gone = new Error('the client has gone');

  beforeEach(async () => {
    upstream = await openExchanges();
  });
  afterEach(() => upstream.close());

  /** Reads it to its end; `onData` may pause it. */
  function read(source: ByteSource, onData: (bytes: number) => void = () => undefined): Promise<number> {
    let bytes = 0;
    return new Promise((resolve, reject) => {
      source.open({
        data(chunk) {
          bytes += chunk.length;
          onData(bytes);
        },
        end: () => resolve(bytes),
        fail: reject,
      });
    });
  }

  it('takes hints for no reply', async () => {
    upstream.answer = (response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' });
      setTimeout(() => response.writeHead(201, { 'x-from': 'upstream' }).end('whole'), 20);
    };
    const { status, headers, source } = await upstream.ask();
    expect([status, headers['x-from'], await read(source)]).to.deep.equal([201, 'upstream', 5]);
  });

  it('begins no request whose signal aborted while it was connecting', async () => {
    upstream.answer = (response) => response.end();
    const controller = new AbortController();
    const asking = upstream.ask(controller.signal);
    controller.abort(gone);
    expect(await asking.catch((error: unknown) => error)).to.equal(gone);
    await sleep(100);
    expect(upstream.asked).to.have.length(0);
  });

  it('begins no request whose signal has aborted before', async () => {
    upstream.answer = (response) => response.end();
    expect(await upstream.ask(AbortSignal.abort(gone)).catch((error: unknown) => error)).to.equal(gone);
    await sleep(100);
    expect(upstream.asked).to.have.length(0);
  });

  it('is rejected with the reason of the signal, and closes the connection, while it waits for the reply', async () => {
    upstream.answer = () => undefined;
    const controller = new AbortController();
    const asking = upstream.ask(controller.signal);
    await until(() => upstream.asked.length === 1);
    controller.abort(gone);
    expect(await asking.catch((error: unknown) => error)).to.equal(gone);
    await until(() => upstream.asked[0]?.socket.destroyed === true);
  });

  it('lets nothing more come while nobody reads, and all of it afterwards', async () => {
    const body = Buffer.alloc(64 * MIB, 'x');
    let left = () => 0;
    upstream.answer = (response) => {
      response.end(body);
      left = () => response.writableLength;
    };
    const { source } = await upstream.ask();
    await sleep(200);
    expect(left()).to.be.above(48 * MIB);
    expect(await read(source)).to.equal(body.length);
  });

  it('stays paused when its reader pauses on what came early', async () => {
    upstream.answer = (response) => response.end(Buffer.alloc(4 * MIB, 'x'));
    const { source } = await upstream.ask();
    await sleep(100);
    let [seen, paused] = [0, false];
    const reading = read(source, (bytes) => {
      seen = bytes;
      if (!paused) source.pause();
      paused = true;
    });
    await sleep(150);
    expect(seen).to.be.within(1, MIB);
    source.resume();
    expect(await reading).to.equal(4 * MIB);
  });
});
