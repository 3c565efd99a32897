// Replies in progress: requests that come before an earlier one is answered, and when all are sent.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect } from 'chai';
import { watchReplies } from '../../lib/http/replies.ts';
import { until } from '../../testkit/client.ts';
import { openTestHttp } from '../../testkit/http.ts';

describe('replies in progress', () => {
  it('answers only the first of pipelined requests, then closes the connection', async () => {
    const http = openTestHttp();
    const heard: string[] = [];
    const warnings: string[] = [];
    const onWarning = ({ name }: Error) => warnings.push(name);
    process.on('warning', onWarning);
    let answer = () => {};
    http.server.route({
      method: 'GET',
      path: '/{name}',
      async handler({ params }) {
        heard.push(String(params.name));
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        return 'late';
      },
    });
    await http.start();
    const client = connect(Number(http.server.info.port), '127.0.0.1').on('error', () => undefined);
    let text = '';
    client.on('data', (part) => {
      text += part;
    });
    client.write('GET /first HTTP/1.1\r\nhost: x\r\n\r\n');
    await until(() => heard.length === 1);
    const closed = once(client, 'close');
    // So many that a listener for each would be a leak in Node's eyes.
    client.write('GET /second HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(12));
    await new Promise((resolve) => setTimeout(resolve, 20));
    answer();
    await closed;
    process.off('warning', onWarning);
    expect([heard, warnings]).to.deep.equal([['first'], []]);
    expect(text).to.match(/^HTTP\/1\.1 200 .*connection: close.*late$/is);
    expect(text.split('HTTP/1.1')).to.have.length(2);
    await http.close(async () => undefined);
  });

  it('closes a connection that pipelines many requests at once', async () => {
    const http = openTestHttp();
    http.server.route({ method: 'GET', path: '/', handler: () => new Promise(() => undefined) });
    await http.start();
    const client = connect(Number(http.server.info.port), '127.0.0.1').on('error', () => undefined);
    const closed = once(client, 'close');
    client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(18));
    await closed;
    await http.close(async () => undefined);
  });

  it('closes a connection that pipelines a large body', async () => {
    const http = openTestHttp();
    http.server.route({ method: 'GET', path: '/', handler: () => new Promise(() => undefined) });
    await http.start();
    const client = connect(Number(http.server.info.port), '127.0.0.1').on('error', () => undefined);
    const closed = once(client, 'close');
    client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\nPOST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9000000\r\n\r\n');
    client.write(Buffer.alloc(1024 * 1024 + 1));
    await closed;
    await http.close(async () => undefined);
  });

  it('are those to requests that wait for a go-ahead, too', async () => {
    const http = openTestHttp();
    http.server.route({ method: 'POST', path: '/', handler: () => new Promise(() => undefined) });
    await http.start();
    const client = connect(Number(http.server.info.port), '127.0.0.1').on('error', () => undefined);
    const closed = once(client, 'close');
    client.write('POST / HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 0\r\n\r\n'.repeat(18));
    await closed;
    await http.close(async () => undefined);
  });

  it('are sent when the last has ended', async () => {
    const open: ServerResponse[] = [];
    const listener = createServer((_request, response) => open.push(response));
    const replies = watchReplies(listener, 60_000);
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const { port } = listener.address() as AddressInfo;
    const clients = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')] as const;
    for (const client of clients) client.resume().write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await until(() => open.length === 2);
    let isSent = false;
    const sent = replies.sent().then(() => {
      isSent = true;
    });
    const [first, last] = open as [ServerResponse, ServerResponse];
    first.end();
    await once(first, 'close');
    await new Promise((resolve) => setImmediate(resolve));
    expect(isSent).to.equal(false);
    last.end();
    await sent;
    for (const client of clients) client.destroy();
    listener.close();
  });
});
