// What hapi does with a request whose body the handler read, or that it has answered.
import { Agent, request as send } from 'node:http';
import Hapi, { type Server } from '@hapi/hapi';
import { expect } from 'chai';
import { forgetAbandoned, markPayloadRead } from '../../lib/platform/hapi-request.ts';
import { readHead } from '../../testkit/client.ts';

describe('markPayloadRead', () => {
  let server: Server;
  let marks: boolean;

  before(async () => {
    server = Hapi.server({ port: 0, host: '127.0.0.1' });
    server.route({
      method: 'POST',
      path: '/',
      options: { payload: { parse: false, output: 'stream' } },
      handler: (request) => {
        expect(request).to.have.property('_isPayloadPending', true);
        if (marks) markPayloadRead(request);
        return 'ok';
      },
    });
    await server.start();
  });
  after(() => server.stop());

  /** What the reply says of the connection, while some of the body is still to come. */
  async function connectionOf(): Promise<string | undefined> {
    const agent = new Agent({ keepAlive: true });
    const sent = send(server.info.uri, { method: 'POST', agent, headers: { 'content-length': 10 } });
    sent.on('error', () => undefined);
    sent.write('half ');
    const { headers } = await readHead(sent);
    sent.destroy();
    agent.destroy();
    return headers.connection;
  }

  it('keeps the connection open, which hapi would close', async () => {
    marks = false;
    expect(await connectionOf()).to.equal('close');
    marks = true;
    expect(await connectionOf()).to.equal('keep-alive');
  });
});

describe('forgetAbandoned', () => {
  it('takes away the listeners by which hapi refers to the request, and no others', async () => {
    const server = Hapi.server({ port: 0, host: '127.0.0.1' });
    const counts: number[] = [];
    let closed = 0;
    server.route({
      method: 'GET',
      path: '/',
      handler: (request, h) => {
        const { res } = request.raw;
        const before = res.listeners('close').length;
        res.on('close', () => {
          closed += 1;
        });
        forgetAbandoned(request);
        counts.push(before - (res.listeners('close').length - 1));
        res.end('written');
        return h.abandon;
      },
    });
    await server.start();
    const reply = await fetch(server.info.uri);
    expect(await reply.text()).to.equal('written');
    await server.stop();
    expect([counts, closed]).to.deep.equal([[2], 1]);
  });
});
