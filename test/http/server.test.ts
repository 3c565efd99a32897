import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { faceAt } from '../../lib/api/face.ts';
import { createHttp } from '../../lib/http/server.ts';
import { until } from '../../testkit/client.ts';

describe('http server', () => {
  it('still answers what comes on connections that were there before it closes', async () => {
    const http = createHttp({ faceAt, host: '127.0.0.1', port: 0 });
    http.server.route({ method: 'GET', path: '/', handler: () => 'here' });
    await http.start();
    const port = Number(http.server.info.port);
    // One that has said nothing yet, as of a proxy that has just opened it, and one that is kept alive.
    const [fresh, kept] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
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
    drained();
    await closing;
  });
});
