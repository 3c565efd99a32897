import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect } from 'chai';
import { freeBytes, freeOwn } from '../../lib/platform/free-bytes.ts';
import { replaceParser } from '../../lib/platform/http-parser.ts';
import { until } from '../../testkit/client.ts';

describe('freeing bytes', () => {
  it('takes their memory away from everybody', () => {
    const bytes = Buffer.allocUnsafeSlow(1000);
    const part = bytes.subarray(10, 20);
    freeBytes(bytes);
    expect([bytes.length, part.length]).to.deep.equal([0, 0]);
  });

  it('leaves bytes alone that share their memory with others', () => {
    const whole = Buffer.allocUnsafeSlow(1000).fill('a');
    for (const part of [whole.subarray(1), whole.subarray(0, 999)]) freeOwn(part);
    expect(whole.toString()).to.equal('a'.repeat(1000));
    freeOwn(whole);
    expect(whole.length).to.equal(0);
  });

  it("may be done to what was parsed: Node's parser hands on copies of a body", async () => {
    const body = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251));
    const received: Buffer[] = [];
    const server = createServer((request) => void request.on('data', (chunk: Buffer) => received.push(chunk)));
    server.on('connection', (socket) => {
      const parse = replaceParser(socket, (bytes) => {
        parse(bytes);
        freeOwn(bytes);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`);
    client.write(body);
    const length = () => received.reduce((sum, chunk) => sum + chunk.length, 0);
    await until(() => length() === body.length).finally(() => {
      client.destroy();
      server.closeAllConnections();
      server.close();
    });
    expect(Buffer.concat(received).equals(body)).to.equal(true);
  });
});
