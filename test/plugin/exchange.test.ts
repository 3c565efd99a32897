// One request to an upstream on a real socket: what comes before its reply, more than anybody reads, and the end of it.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Agent } from 'undici';
import { exchange } from '../../lib/plugin/exchange.ts';
import type { ByteSource } from '../../lib/stream/bytes.ts';
import { until } from '../../testkit/client.ts';

const MIB = 1024 * 1024;

describe('exchange', () => {
  let server: Server;
  let agent: Agent;
  let asked: IncomingMessage[];
  let answer: (response: ServerResponse) => void;
  const gone = new Error('the client has gone');

  beforeEach(async () => {
    asked = [];
    agent = new Agent({ connections: null, pipelining: 1 });
    server = createServer((request, response) => {
      asked.push(request);
      answer(response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    await agent.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  function ask(signal = new AbortController().signal) {
    const { port } = server.address() as AddressInfo;
    const target = { origin: `http://127.0.0.1:${port}`, path: '/', method: 'GET', bodyTimeout: 0 } as const;
    return exchange(agent, target, signal);
  }

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
    answer = (response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' });
      setTimeout(() => response.writeHead(201, { 'x-from': 'upstream' }).end('whole'), 20);
    };
    const { status, headers, source } = await ask();
    expect([status, headers['x-from'], await read(source)]).to.deep.equal([201, 'upstream', 5]);
  });

  it('begins no request whose signal aborted while it was connecting', async () => {
    answer = (response) => response.end();
    const controller = new AbortController();
    const asking = ask(controller.signal);
    controller.abort(gone);
    expect(await asking.catch((error: unknown) => error)).to.equal(gone);
    await sleep(100);
    expect(asked).to.have.length(0);
  });

  it('is rejected with the reason of the signal, and closes the connection, while it waits for the reply', async () => {
    answer = () => undefined;
    const controller = new AbortController();
    const asking = ask(controller.signal);
    await until(() => asked.length === 1);
    controller.abort(gone);
    expect(await asking.catch((error: unknown) => error)).to.equal(gone);
    await until(() => asked[0]?.socket.destroyed === true);
  });

  it('lets nothing more come while nobody reads, and all of it afterwards', async () => {
    const body = Buffer.alloc(64 * MIB, 'x');
    let left = () => 0;
    answer = (response) => {
      response.end(body);
      left = () => response.writableLength;
    };
    const { source } = await ask();
    await sleep(200);
    expect(left()).to.be.above(48 * MIB);
    expect(await read(source)).to.equal(body.length);
  });

  it('stays paused when its reader pauses on what came early', async () => {
    answer = (response) => response.end(Buffer.alloc(4 * MIB, 'x'));
    const { source } = await ask();
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
