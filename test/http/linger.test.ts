import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { linger } from '../../lib/http/linger.ts';
import { until } from '../../testkit/client.ts';

describe('linger', () => {
  let server: Server;
  let socket: Socket;
  let text: string;
  let error: Error | undefined;
  let ended: number;
  let closed: number;

  before((next) => {
    server = createServer();
    server.listen(0, '127.0.0.1', next);
  });
  after((next) => {
    server.closeAllConnections();
    server.close(() => next());
  });

  /** Sends the head of a long body to a server that refuses it at once. */
  function start(answer: (request: IncomingMessage, response: ServerResponse) => void): void {
    server.removeAllListeners('request').once('request', answer);
    [text, error, ended, closed] = ['', undefined, 0, 0];
    socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', (reason) => {
      error = reason;
    });
    socket.on('end', () => {
      ended = performance.now();
    });
    socket.on('close', () => {
      closed = performance.now();
    });
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100000000\r\n\r\n');
  }

  const refuse = (request: IncomingMessage, response: ServerResponse) => {
    linger(request);
    response.writeHead(413, { connection: 'close' });
    response.end('too long');
  };

  it('lets a client read the answer that goes on sending', async () => {
    start(refuse);
    const piece = Buffer.alloc(256 * 1024);
    for (let at = 0; at < 40 && !text.includes('too long'); at += 1) {
      if (!socket.write(piece)) await sleep(1);
    }
    for (let at = 0; at < 20; at += 1) {
      socket.write(piece);
      await sleep(5);
    }
    expect(text).to.contain('413').and.to.contain('too long');
    expect(error).to.equal(undefined);
    expect(ended).to.be.above(0);
    socket.end();
    await until(() => closed > 0);
    expect(error).to.equal(undefined);
  });

  it('reads on at a measured pace, and all of it', async () => {
    let bytesRead = () => 0;
    start((request, response) => {
      const { socket: served } = request;
      bytesRead = () => served.bytesRead;
      refuse(request, response);
    });
    await until(() => ended > 0);
    // A pause is no credit for what comes after it.
    socket.write('x');
    await sleep(400);
    const bytes = 12 * 1024 * 1024;
    const [before, from] = [bytesRead(), performance.now()];
    socket.write(Buffer.alloc(bytes));
    await sleep(60);
    const read = bytesRead() - before;
    const steps = (performance.now() - from) / 50;
    expect(read).to.be.within(1, (steps + 2) * 2 * 1024 * 1024);
    await until(() => bytesRead() - before === bytes);
    socket.destroy();
  });

  it('is over after a while, whatever the client does', async () => {
    start(refuse);
    const sending = setInterval(() => socket.write('x'), 20);
    await until(() => ended > 0);
    await until(() => closed > 0, 5000);
    clearInterval(sending);
    expect(closed - ended).to.be.within(1500, 3500);
  });
});
