// A connection that has to wait for its turn: what it has sent is passed on when the turn comes, and it is read on.
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { createFeed, type Feed } from '../../lib/http/feed.ts';
import type { Turns } from '../../lib/http/turns.ts';
import { until } from '../../testkit/client.ts';

const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

describe('feed that waits for its turn', () => {
  let server: Server;
  let client: Socket;
  let replies: number;
  /** Whose turn is still to come. */
  let waiting: (() => void)[];
  let mayBegin: boolean;

  beforeEach(async () => {
    [waiting, mayBegin, replies] = [[], true, 0];
    const turns: Turns = {
      begin(again) {
        if (!mayBegin) waiting.push(again);
        return mayBegin;
      },
      read: () => true,
    };
    let feed: Feed | undefined;
    server = createServer((request, response) => {
      feed?.begin(request);
      response.on('finish', () => feed?.answered());
      mayBegin = false;
      response.end('ok');
    });
    server.on('connection', (socket: Socket) => {
      feed = createFeed(socket, turns);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.setEncoding('utf8').on('data', (text: string) => {
      replies += text.split('HTTP/1.1 200').length - 1;
    });
  });
  afterEach(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });

  for (const [what, first, rest] of [
    ['a request', GET + GET, ''],
    ['the beginning of one', GET + GET.slice(0, 10), GET.slice(10)],
  ] as const) {
    it(`passes on ${what} in its turn, and reads on`, async () => {
      client.write(first);
      await until(() => replies === 1 && waiting.length > 0);
      client.write(rest);
      mayBegin = true;
      for (const again of waiting.splice(0)) again();
      await until(() => replies === 2);
      mayBegin = true;
      client.write(GET);
      await until(() => replies === 3);
      expect(waiting).to.be.empty;
    });
  }
});
