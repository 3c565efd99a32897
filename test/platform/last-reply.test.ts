// When Node closes a connection after its last reply, and that the close can be taken over.
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { onLastReply } from '../../lib/platform/last-reply.ts';
import { until } from '../../testkit/client.ts';

describe('onLastReply', () => {
  let server: Server;
  let client: Socket;
  let text: string;
  afterEach(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });

  async function start(answer: (response: ServerResponse) => void): Promise<void> {
    server = createServer((_request, response) => answer(response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    text = '';
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.on('data', (chunk) => {
      text += chunk;
    });
    client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  }

  it('is called when the reply is written, in place of the close', async () => {
    let calls = 0;
    let socket: Socket | undefined;
    await start((response) => {
      socket = response.socket as Socket;
      onLastReply(socket, () => {
        expect(response.writableFinished).to.equal(true);
        calls += 1;
      });
      response.writeHead(200, { connection: 'close' }).end('all of it');
    });
    await until(() => calls > 0 && text.includes('all of it'));
    expect(calls).to.equal(1);
    expect(socket?.destroyed).to.equal(false);
    expect(socket?.writable).to.equal(true);
  });

  it('is not called after a reply that others may follow', async () => {
    let calls = 0;
    await start((response) => {
      onLastReply(response.socket as Socket, () => {
        calls += 1;
      });
      response.end('one of many');
    });
    await until(() => text.includes('one of many'));
    expect(calls).to.equal(0);
  });
});
