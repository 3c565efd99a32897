// Early replies to clients that are still sending, over real sockets and through hapi.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { fault } from '../../lib/base/faults.ts';
import { until } from '../../testkit/client.ts';
import { openTestHttp, type TestHttp } from '../../testkit/http.ts';
import { itTimed } from '../../testkit/timed.ts';

describe('a reply before the end of the request', () => {
  let http: TestHttp;
  let socket: Socket;
  let text: string;
  let error: Error | undefined;
  let closed: number;

  before(async () => {
    http = openTestHttp();
    const refuse = () => {
      throw fault('body_too_large', { hint: '48 MiB' });
    };
    http.server.route({ method: 'POST', path: '/', handler: refuse });
    await http.start();
  });
  after(() => http.close(async () => undefined));

  /** Sends the head of a body of so many bytes. */
  function start(bytes: number): void {
    [text, error, closed] = ['', undefined, 0];
    socket = connect({ port: Number(http.server.info.port), host: '127.0.0.1', allowHalfOpen: true });
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', (reason) => {
      error = reason;
    });
    socket.on('close', () => {
      closed = performance.now();
    });
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes}\r\n\r\n`);
  }

  it('is complete at once, even while the client is still sending', async () => {
    const bytes = 20 * 1024 * 1024;
    start(bytes);
    await until(() => /"code":"request_too_large"|too large|48 MiB/.test(text));
    expect(text)
      .to.match(/^HTTP\/1\.1 413 /)
      .and.to.match(/connection: close/i)
      .and.to.match(/content-length: \d+/i);
    socket.write(Buffer.alloc(bytes));
    await until(() => socket.writableLength === 0);
    socket.end();
    await until(() => closed > 0);
    expect(error).to.equal(undefined);
  });

  itTimed('closes the connection after two seconds, even if the client keeps sending', async () => {
    start(100_000_000);
    const from = performance.now();
    const sending = setInterval(() => socket.write('x'), 20);
    await until(() => closed > 0 || error !== undefined, 5000).finally(() => clearInterval(sending));
    expect(performance.now() - from).to.be.within(1500, 3500);
    socket.destroy();
  });

  itTimed('ends at once when the client has left', async () => {
    start(100_000_000);
    await until(() => text.includes('413'));
    socket.destroy();
    await sleep(20);
    const from = performance.now();
    await until(() => http.server.info.started !== 0 && closed > 0);
    expect(performance.now() - from).to.be.below(500);
  });
});
