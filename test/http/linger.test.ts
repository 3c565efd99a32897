import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createAllowance, linger } from '../../lib/http/linger.ts';
import { until } from '../../testkit/client.ts';
import { itTimed } from '../../testkit/timed.ts';

const MIB = 1024 * 1024;

describe('what may be swallowed of refused bodies', () => {
  /** Takes all there is for so many steps, in pieces of 64 KiB. */
  function drain(allowance: ReturnType<typeof createAllowance>, steps: number): number {
    let bytes = 0;
    for (let at = 0; at < steps; at += 1) {
      for (; allowance.isLeft(); bytes += MIB / 16) allowance.take(MIB / 16);
      allowance.step();
    }
    return bytes;
  }

  it('is 2 MiB a step, and after 48 MiB a fifth of that', () => {
    const allowance = createAllowance();
    expect(drain(allowance, 1)).to.equal(2 * MIB);
    expect(drain(allowance, 28) / MIB).to.equal(56);
    expect(drain(allowance, 100) / MIB).to.be.within(38, 44);
  });

  it('is paid back when more was read than there was', () => {
    const allowance = createAllowance();
    allowance.take(7 * MIB);
    const lefts = Array.from({ length: 4 }, () => allowance.step() && allowance.isLeft());
    expect(lefts).to.deep.equal([false, false, true, true]);
    expect(drain(allowance, 1)).to.equal(2 * MIB);
  });

  it('is all there again after six seconds without a byte, and no sooner', () => {
    const allowance = createAllowance();
    for (let at = 0; at < 24; at += 1) {
      allowance.take(2 * MIB);
      allowance.step();
    }
    let steps = 1;
    while (allowance.step()) steps += 1;
    expect(steps).to.be.within(90, 125);
    expect(drain(allowance, 24) / MIB).to.be.within(48, 49);
  });
});

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

  itTimed('lets a client read the answer that goes on sending', async () => {
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

  itTimed('reads on at a measured pace, and all of it', async () => {
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
