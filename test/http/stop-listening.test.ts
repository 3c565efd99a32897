// A server that stops listening without closing idle connections.
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { stopListening } from '../../lib/http/stop-listening.ts';
import { until } from '../../testkit/client.ts';

const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

describe('stopListening', () => {
  let server: Server;
  let client: Socket;
  let replies: number;

  beforeEach(async () => {
    server = createServer((_request, response) => response.end('ok'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    replies = 0;
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.on('data', (chunk) => {
      replies += String(chunk).split('HTTP/1.1 200').length - 1;
    });
    client.write(GET);
    await until(() => replies === 1);
  });
  afterEach(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });

  it('refuses new connections and keeps idle ones until they close', async () => {
    const { port } = server.address() as AddressInfo;
    let stopped = false;
    void stopListening(server).then(() => {
      stopped = true;
    });
    const refusal = await new Promise((resolve) => connect(port, '127.0.0.1').once('error', resolve));
    expect(refusal).to.have.property('code', 'ECONNREFUSED');
    client.write(GET);
    await until(() => replies === 2);
    expect(stopped).to.equal(false);
    client.destroy();
    await until(() => stopped);
  });

  it('differs from server.close, which cuts idle connections', async () => {
    const closed = new Promise((resolve) => client.once('close', resolve));
    server.close();
    await closed;
  });
});
