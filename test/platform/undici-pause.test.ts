// That undici hands out empty chunks after a pause, and what they are told by.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Agent } from 'undici';
import { isLeftOver } from '../../lib/platform/undici-pause.ts';

const BYTES = 200_000;

describe('isLeftOver', () => {
  let server: Server;
  /** Sends the second half, once: until then nothing arrives. */
  let sendRest: () => void;

  before((next) => {
    server = createServer((_request, response) => {
      response.writeHead(200, { 'content-length': BYTES });
      response.write(Buffer.alloc(BYTES / 2));
      sendRest = () => {
        response.end(Buffer.alloc(BYTES / 2));
        sendRest = () => undefined;
      };
      setTimeout(() => sendRest(), 1000);
    });
    server.listen(0, '127.0.0.1', next);
  });
  after((next) => {
    server.closeAllConnections();
    server.close(() => next());
  });

  it('is true of the chunks that come when a pause ends and nothing has arrived', async () => {
    const agent = new Agent();
    const chunks: Uint8Array[] = [];
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await new Promise<void>((resolve, reject) => {
      agent.dispatch(
        { origin, path: '/', method: 'GET' },
        {
          onRequestStart: () => undefined,
          onResponseStart: () => undefined,
          onResponseData(controller, chunk) {
            chunks.push(chunk);
            controller.pause();
            if (isLeftOver(chunk)) sendRest();
            setTimeout(() => controller.resume(), 1);
          },
          onResponseEnd: () => resolve(),
          onResponseError: (_controller, error) => reject(error),
        },
      );
    });
    await agent.close();
    expect(chunks.some(isLeftOver)).to.equal(true);
    expect(sizeOf(chunks.filter((chunk) => !isLeftOver(chunk)))).to.equal(BYTES);
  });
});

function sizeOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, { length }) => sum + length, 0);
}
