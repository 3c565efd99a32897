// That Node serves a connection by a listener that may be called later.
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { takeOver } from '../../lib/platform/late-http.ts';
import { until } from '../../testkit/client.ts';

const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

describe('takeOver', () => {
  let server: Server;
  let client: Socket;
  let accepted: Socket | undefined;
  let answers = '';

  before(async () => {
    server = createServer((_request, response) => response.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  after(() => {
    for (const socket of [client, accepted]) socket?.destroy();
    server.close();
  });

  it('leaves connections unserved until they are handed over, with what has arrived by then or comes after', async () => {
    const serve = takeOver(server);
    server.on('connection', (socket) => {
      accepted = socket;
    });
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.on('data', (bytes) => {
      answers += bytes;
    });
    client.write(GET);
    await until(() => accepted?.readableLength === GET.length);
    expect(accepted?.listenerCount('data')).to.equal(0);
    serve(accepted as Socket);
    await until(() => answers.endsWith('hello'));
    client.write(GET);
    await until(() => answers.split('hello').length === 3);
  });
});
