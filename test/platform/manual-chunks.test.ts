// Node sends writes unframed once chunking is taken over, and in order, also if some go directly to the socket.
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { directOutput } from '../../lib/http/sse-reply.ts';
import { takeOverChunks } from '../../lib/platform/manual-chunks.ts';
import { until } from '../../testkit/client.ts';

describe('manual chunks', () => {
  let server: Server;
  let client: Socket;
  let text: string;
  afterEach(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });

  async function ask(requests: string, answer: (response: ServerResponse) => void): Promise<void> {
    server = createServer((_request, response) => answer(response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    text = '';
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.on('data', (chunk) => {
      text += chunk;
    });
    client.write(requests);
  }

  const get = (version = '1.1') => `GET / HTTP/${version}\r\nhost: x\r\n\r\n`;

  it('leaves the framing to the caller, and the connection open for the next request', async () => {
    let replies = 0;
    await ask(get() + get(), (response) => {
      response.writeHead(200).flushHeaders();
      expect(takeOverChunks(response)).to.equal(true);
      expect(takeOverChunks(response)).to.equal(false);
      response.write('3\r\none\r\n');
      response.end('3\r\ntwo\r\n0\r\n\r\n');
      response.once('finish', () => {
        replies += 1;
      });
    });
    await until(() => replies === 2);
    await until(() => text.split('0\r\n\r\n').length === 3);
    for (const reply of text.split('0\r\n\r\n', 2)) {
      expect(reply).to.match(/^HTTP\/1\.1 200 OK\r\n/);
      expect(reply).to.contain('\r\nTransfer-Encoding: chunked\r\n');
      expect(reply).to.match(/\r\n\r\n3\r\none\r\n3\r\ntwo\r\n$/);
    }
  });

  it('is refused for replies without chunks', async () => {
    await ask(get('1.0'), (response) => {
      expect(takeOverChunks(response)).to.equal(false);
      response.writeHead(200).flushHeaders();
      expect(takeOverChunks(response)).to.equal(false);
      response.end('all of it');
    });
    await until(() => text.endsWith('\r\n\r\nall of it'));
  });

  it('writes to the socket only when the reply has its turn on the connection', async () => {
    const replies: ServerResponse[] = [];
    await ask(get() + get(), (response) => {
      response.writeHead(200).flushHeaders();
      takeOverChunks(response);
      response.write('3\r\none\r\n');
      directOutput(response).write('3\r\ntwo\r\n');
      replies.push(response);
    });
    await until(() => replies.length === 2);
    const [first, second] = replies as [ServerResponse, ServerResponse];
    expect(directOutput(first)).to.equal(first.socket);
    expect(directOutput(second)).to.equal(second);
    first.end('0\r\n\r\n');
    await until(() => directOutput(second) !== second);
    expect(directOutput(second)).to.equal(second.socket);
    directOutput(second).write('5\r\nthree\r\n');
    second.end('0\r\n\r\n');
    await until(() => text.split('0\r\n\r\n').length === 3);
    expect(text).to.match(/\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\nHTTP/);
    expect(text).to.match(/\r\n\r\n3\r\none\r\n3\r\ntwo\r\n5\r\nthree\r\n0\r\n\r\n$/);
  });

  it('does not write to a closed connection', async () => {
    let response: ServerResponse | undefined;
    await ask(get(), (made) => {
      made.writeHead(200).flushHeaders();
      takeOverChunks(made);
      response = made;
    });
    await until(() => response !== undefined);
    response?.socket?.destroy();
    expect(directOutput(response as ServerResponse)).to.equal(response);
  });
});
