// How hapi ends the connection of a request whose body the handler read.
import { Agent, request as send } from 'node:http';
import Hapi, { type Server } from '@hapi/hapi';
import { expect } from 'chai';
import { markPayloadRead } from '../../lib/platform/hapi-payload.ts';
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
