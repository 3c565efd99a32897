// That Node and hapi finish a reply whose request's head was let go, and serve the next one on the same connection.
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import Hapi, { type Request, type Server } from '@hapi/hapi';
import { expect } from 'chai';
import { takeOverChunks } from '../../lib/platform/own-chunks.ts';
import { letGoOfHead } from '../../lib/platform/spent-request.ts';
import { until } from '../../testkit/client.ts';

describe('letGoOfHead', () => {
  let server: Server;
  let client: Socket;
  let text: string;
  let requests: Request[];
  afterEach(async () => {
    client.destroy();
    await server.stop();
  });

  /** Sends two requests on one connection; each reply is a stream that `write` continues. */
  async function ask(write: (response: ServerResponse) => void): Promise<void> {
    server = Hapi.server({ host: '127.0.0.1' });
    requests = [];
    const handler: Hapi.Lifecycle.Method = (request, h) => {
      const { res } = request.raw;
      requests.push(request);
      res.writeHead(200, { 'x-request': String(request.query.number) });
      res.flushHeaders();
      takeOverChunks(res);
      letGoOfHead(request);
      setImmediate(write, res);
      return h.abandon;
    };
    server.route({ method: 'POST', path: '/', options: { payload: { parse: false, output: 'stream' } }, handler });
    await server.start();
    text = '';
    client = connect((server.listener.address() as AddressInfo).port, '127.0.0.1');
    client.on('data', (chunk) => {
      text += chunk;
    });
    for (const number of [1, 2]) {
      client.write(`POST /?number=${number} HTTP/1.1\r\nhost: x\r\nx-key: secret\r\ncontent-length: 2\r\n\r\n{}`);
    }
  }

  it('leaves the reply as it is, and the connection open for the next request', async () => {
    await ask((response) => {
      response.write('3\r\none\r\n');
      response.end('3\r\ntwo\r\n0\r\n\r\n');
    });
    await until(() => text.split('0\r\n\r\n').length === 3);
    const replies = text.split('0\r\n\r\n', 2);
    expect(replies.map((reply) => /x-request: (\d)/.exec(reply)?.[1])).to.deep.equal(['1', '2']);
    for (const reply of replies) {
      expect(reply).to.match(/^HTTP\/1\.1 200 OK\r\n/);
      expect(reply).to.match(/\r\n\r\n3\r\none\r\n3\r\ntwo\r\n$/);
      expect(reply.match(/HTTP/g)).to.have.length(1);
    }
  });

  it('keeps nothing of what was sent', async () => {
    await ask((response) => response.end('0\r\n\r\n'));
    await until(() => requests.length === 2);
    const [{ raw, headers, query } = {} as Request] = requests;
    const { headersSent } = raw.res;
    expect([raw.req.headers, raw.req.rawHeaders, headers, query, headersSent]).to.deep.equal([{}, [], {}, {}, true]);
    expect(raw.res).to.have.property('_header').that.does.not.contain('x-request');
  });
});
