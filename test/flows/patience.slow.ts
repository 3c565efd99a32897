// How patient a gateway is when nobody shortens its times: heartbeats, bodies and headers that do not come.
import { connect } from 'node:net';
import { expect } from 'chai';
import { ask, MESSAGES, send } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { chatStall, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

describe('patience', function () {
  this.timeout(40_000);
  let upstream: TestUpstream;
  let gateway: TestGateway;

  before(async () => {
    upstream = await startUpstream(chatStall());
    gateway = await startGateway({
      catalog: chatCatalog(upstream.url),
      env: { FIRST_TOKEN_TIMEOUT_MS: '18000' },
    });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  /** Sends something on a raw socket; resolves to what came until it was closed, and when that was. */
  function closed(text: string): Promise<{ raw: string; ms: number }> {
    const { port, hostname } = new URL(gateway.url);
    const startedAt = performance.now();
    return new Promise((resolve) => {
      const socket = connect(Number(port), hostname);
      let raw = '';
      socket.on('data', (chunk) => {
        raw += chunk;
      });
      socket.on('error', () => undefined);
      socket.on('close', () => resolve({ raw, ms: performance.now() - startedAt }));
      socket.write(text);
    });
  }

  it('sends a keep-alive after 15 s, and waits 10 s for headers and for each piece of a body', async () => {
    const { key } = await gateway.account();
    const headLine = `POST ${MESSAGES} HTTP/1.1\r\nhost: x\r\n`;
    const [stream, body, headers] = await Promise.all([
      send(gateway.url + MESSAGES, { key, body: ask('hi', { stream: true }) }),
      closed(`${headLine}x-api-key: ${key}\r\ncontent-length: 100\r\n\r\n{"model`),
      closed(headLine),
    ]);
    expect(stream.text.match(/^: keep-alive$/gm)).to.have.length(1);
    expect(stream.text).to.contain('did not answer in time').and.to.contain('Charge refunded');
    expect(body.raw).to.match(/^HTTP\/1\.1 408 /);
    expect(body.ms).to.be.within(9_000, 13_000);
    expect(headers.raw).to.match(/^(HTTP\/1\.1 408 |$)/);
    expect(headers.ms).to.be.within(9_000, 14_000);
    await gateway.checkMoney();
  });
});
