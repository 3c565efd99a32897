import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { styleAt } from '../../lib/api/response-styles.ts';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { readConfig } from '../../lib/config.ts';
import type { BadHttp } from '../../lib/http/bad-input.ts';
import { cannotListen, createHttp, findPort } from '../../lib/http/server.ts';
import { send, until } from '../../testkit/client.ts';
import { openTestHttp, type TestHttp } from '../../testkit/http.ts';
import { itTimed } from '../../testkit/timed.ts';

describe('http server', () => {
  it('answers requests on existing connections while it closes', async () => {
    const http = createHttp({ styleAt, host: '127.0.0.1', port: 0 });
    http.server.route({ method: 'GET', path: '/', handler: () => 'here' });
    await http.start();
    const port = Number(http.server.info.port);
    // One that has said nothing yet, as of a proxy that has just opened it, and one that is kept alive.
    const fresh = connect(port, '127.0.0.1');
    const kept = connect(port, '127.0.0.1');
    const read = { fresh: '', kept: '' };
    for (const [name, socket] of Object.entries({ fresh, kept })) {
      socket.setEncoding('utf8').on('data', (text) => {
        read[name as keyof typeof read] += text;
      });
    }
    await Promise.all([fresh, kept].map((socket) => once(socket, 'connect')));
    kept.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await until(() => read.kept.endsWith('here'));
    read.kept = '';
    let drained = () => {};
    const closing = http.close(
      () =>
        new Promise((resolve) => {
          drained = resolve;
        }),
    );
    const ends = [fresh, kept].map((socket) => once(socket, 'close'));
    for (const socket of [fresh, kept]) socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await Promise.all(ends);
    for (const text of Object.values(read)) {
      expect(text).to.match(/^HTTP\/1\.1 200 .*connection: close.*here$/is);
    }
    const refused = connect(port, '127.0.0.1');
    const [error] = await once(refused, 'error');
    expect(error.code).to.equal('ECONNREFUSED');
    let isClosed = false;
    void closing.then(() => {
      isClosed = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isClosed).to.equal(false);
    drained();
    await closing;
  });

  describe('with a route', () => {
    let http: TestHttp;
    before(async () => {
      http = openTestHttp();
      http.server.route({ method: ['GET', 'POST'], path: '/', handler: () => 'here'.repeat(1000) });
      await http.start();
    });
    after(() => http.close(async () => undefined));

    const ask = (headers: Readonly<Record<string, string>>, body?: string) =>
      send(`http://127.0.0.1:${http.server.info.port}/`, { headers, body });

    it('accepts up to 32 KiB of headers', async () => {
      expect((await ask({ x: 'y'.repeat(31 * 1024) })).status).to.equal(200);
      expect((await ask({ x: 'y'.repeat(33 * 1024) })).status).to.equal(431);
    });

    it('does not compress replies', async () => {
      const { text, headers } = await ask({ 'accept-encoding': 'gzip, deflate, br' });
      expect(text).to.equal('here'.repeat(1000));
      expect(headers).not.to.have.any.keys('content-encoding', 'vary');
    });

    it('ignores invalid cookies and content types', async () => {
      expect((await ask({ cookie: 'a="b; =; c d' })).status).to.equal(200);
      for (const type of ['nothing', 'multipart/form-data', '/', '']) {
        expect((await ask({ 'content-type': type }, '{')).status, type).to.equal(200);
      }
    });
  });

  it('keeps idle connections longer than clients and proxies do, and limits the time of headers and requests', () => {
    const { trustedProxies } = readConfig({});
    const { listener } = createHttp({ styleAt, host: '127.0.0.1', port: 0, trustedProxies }).server;
    expect(listener).to.include({ keepAliveTimeout: 130_000, headersTimeout: 10_000, requestTimeout: 900_000 });
    expect(listener.maxRequestsPerSocket).to.equal(10_000);
    const behind = createHttp({ styleAt, host: '127.0.0.1', port: 0, trustedProxies: '10.0.0.0/8' }).server;
    expect(behind.listener).to.include({ keepAliveTimeout: 620_000, headersTimeout: 10_000 });
  });

  it('listens on its address alone, and with another one only if both share the port', async () => {
    const host = '127.0.0.1';
    const open = async (port: number, sharesPort?: boolean) => {
      const http = createHttp({ styleAt, host, port, ...(sharesPort !== undefined && { sharesPort }) });
      await http.start();
      return http;
    };
    const first = await open(0);
    const { address, port } = first.server.listener.address() as AddressInfo;
    expect(address).to.equal(host);
    const refused = await open(port).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(OperatorError);
    await first.close(async () => undefined);
    const sharing = await open(port, true);
    if (process.platform === 'linux') await (await open(port, true)).close(async () => undefined);
    await sharing.close(async () => undefined);
  });

  it('closes connections beyond its maximum at once', async () => {
    const http = createHttp({ styleAt, host: '127.0.0.1', port: 0, connectionsMax: 2 });
    http.server.route({ method: 'GET', path: '/', handler: () => 'here' });
    await http.start();
    const port = Number(http.server.info.port);
    const kept = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    await Promise.all(kept.map((socket) => once(socket, 'connect')));
    const refused = connect(port, '127.0.0.1').on('error', () => undefined);
    await once(refused, 'close');
    kept[0]?.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(kept[0] as Socket, 'data');
    for (const socket of kept) socket.destroy();
    await http.close(async () => undefined);
  });

  itTimed('disconnects a client that reads nothing of a long reply, but not one that waits for a reply', async () => {
    const http = createHttp({ styleAt, host: '127.0.0.1', port: 0, stallMs: 200 });
    let left = false;
    http.server.route([
      {
        method: 'GET',
        path: '/long',
        handler({ raw: { res } }) {
          res.once('close', () => {
            left = !res.writableFinished;
          });
          return Buffer.alloc(50_000_000);
        },
      },
      { method: 'GET', path: '/slow', handler: () => new Promise((resolve) => setTimeout(resolve, 800, 'slow')) },
    ]);
    await http.start();
    const port = Number(http.server.info.port);
    const lazy = connect(port, '127.0.0.1').pause();
    const patient = connect(port, '127.0.0.1');
    lazy.on('error', () => undefined).write('GET /long HTTP/1.1\r\nhost: x\r\n\r\n');
    patient.write('GET /slow HTTP/1.1\r\nhost: x\r\n\r\n');
    const [answer] = await once(patient, 'data');
    expect(String(answer)).to.match(/200 OK.*slow$/s);
    await until(() => left);
    for (const socket of [lazy, patient]) socket.destroy();
    await http.close(async () => undefined);
  });

  itTimed('closes idle connections as soon as no request is running', async () => {
    const http = createHttp({ styleAt, host: '127.0.0.1', port: 0 });
    http.server.route({ method: 'GET', path: '/', handler: () => 'here' });
    await http.start();
    const kept = connect(Number(http.server.info.port), '127.0.0.1');
    kept.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(kept, 'data');
    const startedAt = performance.now();
    await http.close(async () => undefined);
    expect(performance.now() - startedAt).to.be.below(700);
  });

  it('writes no refusal into a reply that has started', async () => {
    const http = createHttp({ styleAt, host: '127.0.0.1', port: 0 });
    http.server.route({
      method: 'POST',
      path: '/',
      handler({ raw: { res } }, h) {
        res.writeHead(200, { 'content-length': '100' }).write('half');
        return h.abandon;
      },
    });
    await http.start();
    const client = connect(Number(http.server.info.port), '127.0.0.1').on('error', () => undefined);
    let text = '';
    client.setEncoding('utf8').on('data', (part) => {
      text += part;
    });
    client.write('POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
    await until(() => text.endsWith('half'));
    const closed = once(client, 'close');
    client.write('no chunk\r\n');
    await closed;
    expect(text.endsWith('half'), text).to.equal(true);
    await http.close(async () => undefined);
  });

  it('sends all of a reply that has ended but is not read yet', async () => {
    // More than the sockets' buffers hold, and less than a busy machine reads in a second.
    const bytes = 8 * 1024 * 1024;
    const http = createHttp({ styleAt, host: '127.0.0.1', port: 0 });
    http.server.route({ method: 'GET', path: '/', handler: () => 'x'.repeat(bytes) });
    await http.start();
    const client = connect(Number(http.server.info.port), '127.0.0.1');
    client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(client, 'readable');
    const closing = http.close(async () => undefined);
    await new Promise((resolve) => setTimeout(resolve, 20));
    let received = 0;
    for await (const { length } of client) received += length;
    await closing;
    expect(received).to.be.above(bytes);
  });

  it('gives the last replies a second, then closes their connections', async () => {
    const http = createHttp({ styleAt, host: '127.0.0.1', port: 0 });
    http.server.route({ method: 'GET', path: '/', handler: () => 'x'.repeat(32 * 1024 * 1024) });
    await http.start();
    const client = connect(Number(http.server.info.port), '127.0.0.1').on('error', () => undefined);
    client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(client, 'readable');
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      let isClosed = false;
      const closing = http
        .close(async () => undefined)
        .then(() => {
          isClosed = true;
        });
      const turns = async () => {
        for (let count = 0; count < 20; count += 1) await new Promise((resolve) => setImmediate(resolve));
      };
      await turns();
      mock.timers.tick(999);
      await turns();
      expect(isClosed).to.equal(false);
      mock.timers.tick(1);
      await closing;
    } finally {
      mock.timers.reset();
      client.destroy();
    }
  });

  it('closes a connection that sent no HTTP, even if its client keeps it open', async () => {
    const http = createHttp({ styleAt, host: '127.0.0.1', port: 0 });
    await http.start();
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const port = Number(http.server.info.port);
      const clients = [1, 2, 3].map(() => connect({ port, host: '127.0.0.1', allowHalfOpen: true }));
      const ends = clients.map((client) => once(client, 'end'));
      for (const client of clients) client.resume().write('nonsense\r\n\r\n');
      await Promise.all(ends);
      const count = () =>
        new Promise((resolve) => http.server.listener.getConnections((_error, many) => resolve(many)));
      mock.timers.tick(1999);
      expect(await count()).to.equal(3);
      mock.timers.tick(1);
      for (let turns = 0; turns < 1000 && (await count()) !== 0; turns += 1) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(await count()).to.equal(0);
      for (const client of clients) client.destroy();
    } finally {
      mock.timers.reset();
      await http.close(async () => undefined);
    }
  });

  it('removes its own error listener once it listens', async () => {
    const http = createHttp({ styleAt, host: '127.0.0.1', port: 0 });
    const before = http.server.listener.listenerCount('error');
    await http.start();
    expect(http.server.listener.listenerCount('error')).to.equal(before);
    await http.close(async () => undefined);
  });

  it('reports all input that was not HTTP, with the id sent to the client', async () => {
    const told: BadHttp[] = [];
    const http = createHttp({ styleAt, host: '127.0.0.1', port: 0, headersTimeoutMs: 400 });
    http.onBadHttp((refusal) => void told.push(refusal));
    await http.start();
    const ids: (string | undefined)[] = [];
    for (const bytes of [
      'nonsense\r\n\r\n',
      `GET / HTTP/1.1\r\nx: ${'y'.repeat(40_000)}`,
      'CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n',
      'GET / HTTP/1.1\r\n',
    ]) {
      const client = connect(Number(http.server.info.port), '127.0.0.1');
      client.write(bytes);
      const [reply] = await once(client.setEncoding('utf8'), 'data');
      ids.push(/\r\nx-request-id: (.*)\r\n/.exec(reply)?.[1]);
      client.destroy();
    }
    // Nobody is told of one that was opened ahead and never used.
    const unused = connect(Number(http.server.info.port), '127.0.0.1');
    let bytes = '';
    unused.setEncoding('utf8').on('data', (text: string) => {
      bytes += text;
    });
    await once(unused, 'close');
    expect(bytes).to.equal('');
    // Nor of one that is reset.
    const codes: (string | undefined)[] = [];
    http.server.listener.on('clientError', ({ code }: NodeJS.ErrnoException) => codes.push(code));
    const gone = connect(Number(http.server.info.port), '127.0.0.1');
    gone.write('GET / HTTP/1.1\r\n');
    await once(http.server.listener, 'connection');
    gone.resetAndDestroy();
    await until(() => codes.includes('ECONNRESET'));
    await http.close(async () => undefined);
    expect(told.map(({ request_id }) => request_id)).to.deep.equal(ids);
    expect(told.map(({ status, reason }) => [status, reason])).to.deep.equal([
      [400, 'HPE_INVALID_METHOD'],
      [431, 'HPE_HEADER_OVERFLOW'],
      [405, 'CONNECT'],
      [408, 'ERR_HTTP_REQUEST_TIMEOUT'],
    ]);
  });

  const reasons: readonly (readonly [code: string, variable: string, reason: string])[] = [
    ['EADDRINUSE', 'PORT', 'the port is in use'],
    ['EACCES', 'PORT', 'permission denied'],
    ['EADDRNOTAVAIL', 'HOST', 'EADDRNOTAVAIL'],
    ['ENOTFOUND', 'HOST', 'ENOTFOUND'],
    ['EOTHER', 'PORT', 'EOTHER'],
  ];
  for (const [code, variable, reason] of reasons) {
    it(`tells the operator which setting to check for ${code}`, () => {
      const at = { host: 'here', port: 80 };
      const error = cannotListen({ code }, at);
      expect(error).to.be.instanceOf(OperatorError);
      expect(error.message).to.equal(`Cannot listen on here:80 (${variable}): ${reason}`);
      expect(cannotListen({ code }, { ...at, variable: 'METRICS_PORT' }).message).to.contain('(METRICS_PORT)');
    });
  }

  it('finds a free port for workers and leaves it free', async () => {
    const host = '127.0.0.1';
    const port = await findPort({ host, port: 0 });
    expect(port).to.be.within(1, 65_535);
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(port, host, resolve));
    const refused = await findPort({ host, port }).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(OperatorError);
    expect((refused as Error).message).to.contain(`${host}:${port} (PORT): the port is in use`);
    await new Promise((resolve) => holder.close(resolve));
    expect(await findPort({ host, port })).to.equal(port);
  });
});
