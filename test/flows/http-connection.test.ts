// A call that is refused once its body is there leaves the connection to the next one.
import { Agent, request } from 'node:http';
import { expect } from 'chai';
import { ask, DIALECTS, readHead, sayFor } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

/** More than the listeners that Node takes for no mistake. */
const _CALLS_AT_ONCE = 25;

describe('a connection', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;

  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({ catalog: chatCatalog(upstream.url) });
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  for (const path of DIALECTS) {
    it(`${path}: serves the next call after refusals of bodies that came with their headers`, async () => {
      const { key } = await gateway.account();
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const ports = new Set<number | undefined>();
      const post = async (headers: Record<string, string>, body: object | '{') => {
        const sent = request(gateway.url + path, { method: 'POST', agent, headers });
        sent.once('socket', (socket) => {
          if (socket.localPort) ports.add(socket.localPort);
          else socket.once('connect', () => ports.add(socket.localPort));
        });
        const response = readHead(sent);
        sent.end(typeof body === 'string' ? body : JSON.stringify(sayFor(path, body)));
        const answer = await response;
        expect(answer.headers.connection).to.equal('keep-alive');
        answer.resume();
        await new Promise((resolve) => answer.once('end', resolve));
        return answer.statusCode;
      };
      const json = { 'content-type': 'application/json' };
      const known = { ...json, 'x-api-key': key };
      expect(await post(known, '{')).to.equal(400);
      expect(await post(json, ask('hi'))).to.equal(401);
      expect(await post(known, ask('hi', { model: 'nobody' }))).to.equal(400);
      expect(await post(known, ask('hi'))).to.equal(200);
      expect(ports.size).to.equal(1);
      agent.destroy();
    });
  }
});
