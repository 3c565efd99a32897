// What Node's HTTP server does on a connection, without which nothing could be put before its parser.
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { isParserPaused, type Parse, replaceParser } from '../../lib/platform/http-parser.ts';
import { until } from '../../testkit/client.ts';

const GET = 'GET /one HTTP/1.1\r\nhost: x\r\n\r\n';

describe('the parser of a connection', () => {
  let server: Server;
  let urls: (string | undefined)[];
  let responses: ServerResponse[];
  let client: Socket;

  beforeEach((next) => {
    [urls, responses] = [[], []];
    server = createServer((request, response) => {
      urls.push(request.url);
      responses.push(response);
    });
    server.listen(0, '127.0.0.1', next);
  });
  afterEach((next) => {
    client.destroy();
    server.closeAllConnections();
    server.close(() => next());
  });

  function open(onConnection: (socket: Socket) => void): void {
    server.on('connection', onConnection);
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  }

  it('is the only listener to its data when the connection is told of', async () => {
    let listeners = 0;
    open((socket) => {
      listeners = socket.listenerCount('data');
    });
    await until(() => listeners > 0);
    expect(listeners).to.equal(1);
  });

  it('parses what it is handed, and nothing else that comes', async () => {
    let came = 0;
    let parse: Parse | undefined;
    open((socket) => {
      parse = replaceParser(socket, ({ length }) => {
        came += length;
      });
    });
    client.write(GET);
    await until(() => came === GET.length);
    expect(urls).to.deep.equal([]);
    parse?.(Buffer.from('GET /two HTTP/1.1\r\nhost: x\r\n\r\n'));
    expect(urls).to.deep.equal(['/two']);
  });

  it('says that it is paused while too many replies wait, and resumes the socket once they are sent', async () => {
    let socket: Socket | undefined;
    let resumed = 0;
    open((opened) => {
      socket = opened;
    });
    client.pause();
    client.write(GET);
    await until(() => responses.length === 1);
    expect(isParserPaused(socket as Socket)).to.equal(false);
    responses[0]?.end(Buffer.alloc(32 * 1024 * 1024));
    socket?.on('resume', () => {
      resumed += 1;
    });
    client.write(GET);
    await until(() => isParserPaused(socket as Socket));
    client.resume();
    await until(() => resumed > 0 && !isParserPaused(socket as Socket));
  });
});
