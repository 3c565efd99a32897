// What is known of a write that a reader takes only in part.
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { markOfTaken } from '../../lib/platform/socket-bytes.ts';
import { until } from '../../testkit/client.ts';

const BYTES = 32 * 1024 * 1024;

describe('markOfTaken', () => {
  let server: Server;
  let reader: Socket;
  afterEach(() => {
    reader.destroy();
    server.close();
  });

  it('changes while the reader takes one long write, of which the socket itself knows nothing, and stays while it does not', async () => {
    let writer: Socket | undefined;
    server = createServer((socket) => {
      writer = socket.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    reader = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    await until(() => writer !== undefined);
    const socket = writer as Socket;
    socket.write(Buffer.alloc(BYTES));
    await sleep(100);
    const [before, known] = [markOfTaken(socket), socket.bytesWritten - socket.writableLength];
    await sleep(100);
    expect(markOfTaken(socket), 'nobody reads').to.equal(before);
    reader.once('data', () => reader.pause()).resume();
    await until(() => {
      if (markOfTaken(socket) === before) reader.once('data', () => reader.pause()).resume();
      return markOfTaken(socket) !== before;
    });
    expect(socket.bytesWritten - socket.writableLength).to.equal(known);
  });
});
