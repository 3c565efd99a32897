// Results of an upstream with a proxy in its settings: a real proxy on loopback that resolves names itself.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request as send } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { expect } from 'chai';
import type { ResultRequest } from '../../lib/media/fetcher.ts';
import { isUpstreamFault } from '../../lib/upstream/host/fault.ts';
import { itTimed } from '../../testkit/timed.ts';
import { Network, redirect, reply } from './network.ts';
import { PNG } from './sample-images.ts';
import { expectSecrecy, imageReply } from './stage.ts';

const UPSTREAM = 'http://models.intranet:8000';

describe('media results through a proxy', () => {
  const network = new Network();
  const sockets = new Set<Socket>();
  let proxy: Server;
  let url: string;
  /** What the proxy was asked for, and by whom. */
  let asked: string[];
  let passwords: (string | undefined)[];
  let answer: 'serve' | 'refuse' | 'wait';

  /** The proxy's own look-up. */
  const dial = (host: string) => {
    const [name = '', port = '80'] = host.split(':');
    const [address = '0.0.0.0'] = network.names.get(name) as readonly string[];
    return network.dial(address, Number(port));
  };
  const note = ({ method, url: target, headers }: IncomingMessage) => {
    asked.push(`${method} ${target}`);
    passwords.push(headers['proxy-authorization']);
    return target ?? '';
  };

  before(async () => {
    const server = createServer((incoming, response) => {
      const target = new URL(note(incoming));
      const { 'proxy-authorization': _, ...headers } = incoming.headers;
      const options = { path: target.pathname, headers, createConnection: () => dial(target.host) };
      send(options, (reached) => {
        response.writeHead(reached.statusCode ?? 0, reached.headers);
        reached.pipe(response);
      }).end();
    });
    server.on('connect', (incoming, client: Socket) => {
      const target = note(incoming);
      if (answer === 'wait') return;
      if (answer === 'refuse') return void client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      const reached = dial(target).once('connect', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
      for (const socket of [client, reached]) sockets.add(socket.on('error', () => undefined));
      client.pipe(reached).pipe(client);
    });
    server.on('connection', (socket) => sockets.add(socket));
    proxy = server.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    url = `http://operator:pass%20word@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    [asked, passwords, answer] = [[], [], 'serve'];
    network.forget();
  });
  after(async () => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
    await network.close();
  });

  const fetchResult = (from: string, changes: Partial<ResultRequest> = {}): Promise<Buffer> => {
    const signal = new AbortController().signal;
    const headers = { authorization: 'Bearer secret' };
    const request = { kind: 'image', bytesMax: 1e6, upstreamOrigin: UPSTREAM, headers, signal, proxy: url } as const;
    return network.fetcher().fetchResult(from, { ...request, ...changes }, async ({ chunks }) => {
      const parts: Uint8Array[] = [];
      for await (const chunk of chunks) parts.push(chunk);
      return Buffer.concat(parts);
    });
  };
  const refused = async (from: string, kind: string, changes: Partial<ResultRequest> = {}) => {
    const thrown: unknown = await fetchResult(from, changes).catch((error) => error);
    if (!isUpstreamFault(thrown)) throw new Error('not refused', { cause: thrown });
    expect(thrown.kind, thrown.detail).to.equal(kind);
    expect(thrown.detail).not.to.match(/operator|pass|127\.0/);
    expectSecrecy(thrown);
  };
  const basic = `Basic ${btoa('operator:pass word')}`;

  it("are fetched through a tunnel: the proxy resolves the name, and the host's certificate is verified", async () => {
    await network.host('cdn.images.net', imageReply(PNG));
    expect((await fetchResult('https://cdn.images.net/a.png')).equals(PNG)).to.equal(true);
    expect(asked).to.deep.equal(['CONNECT cdn.images.net:443']);
    expect(passwords).to.deep.equal([basic]);
    expect(network.resolved).to.deep.equal([]);
    expect(network.heads.join()).not.to.match(/authorization/i);
    await network.host('other.images.net', imageReply(PNG), { certificate: ['cdn.images.net'] });
    await refused('https://other.images.net/a.png', 'network');
    expect(network.heads).to.have.length(1);
  });

  it("are fetched from the upstream's origin with the operator's headers, but without them after a redirect", async () => {
    await network.host('cdn.images.net', imageReply(PNG));
    await network.host('models.intranet', redirect('https://cdn.images.net/b.png'), {
      certificate: 'none',
      address: '10.0.0.1',
      port: 8000,
    });
    expect((await fetchResult(`${UPSTREAM}/results/1`)).equals(PNG)).to.equal(true);
    expect(asked).to.deep.equal([`GET ${UPSTREAM}/results/1`, 'CONNECT cdn.images.net:443']);
    expect(passwords).to.deep.equal([basic, basic]);
    const [own = '', other = ''] = network.heads;
    expect(own)
      .to.match(/\r\nauthorization: Bearer secret\r\n/i)
      .and.not.to.match(/proxy-auth/i);
    expect(other).not.to.match(/secret|proxy-auth/i);
  });

  it("verify the host's certificate even if the environment disables that", async () => {
    await network.host('named.images.net', imageReply(PNG), { certificate: ['other.net'] });
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      await refused('https://named.images.net/a.png', 'network');
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
    expect(network.heads).to.deep.equal([]);
  });

  it('are refused by the text of a URL without contacting the proxy', async () => {
    for (const from of [
      'http://cdn.images.net:8080/a.png',
      'https://cdn.images.net:8443/a.png',
      'https://10.0.0.1/a.png',
      'https://[::1]/a.png',
      'https://2130706433/a.png',
      'https://169.254.169.254/latest/meta-data',
      'https://localhost/a.png',
      'https://models.intranet/a.png',
      'https://operator@cdn.images.net/a.png',
      'http://models.intranet:8001/a.png',
    ]) {
      await refused(from, 'protocol');
    }
    expect(asked).to.deep.equal([]);
    await network.host('turn.images.net', redirect('https://192.168.0.1/a.png'));
    await refused('https://turn.images.net/a.png', 'protocol');
    expect(asked).to.deep.equal(['CONNECT turn.images.net:443']);
  });

  it('are a network fault if the proxy refuses or is unreachable', async () => {
    answer = 'refuse';
    await refused('https://cdn.images.net/a.png', 'network');
    await refused('https://cdn.images.net/a.png', 'network', { proxy: 'http://operator:pass@127.0.0.1:9' });
  });

  itTimed('end with the call while the proxy does not respond', async () => {
    answer = 'wait';
    const call = new AbortController();
    const fetching = fetchResult('https://cdn.images.net/a.png', { signal: call.signal }).catch((error) => error);
    while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const startedAt = performance.now();
    call.abort('gone');
    expect(await fetching).to.equal('gone');
    expect(performance.now() - startedAt).to.be.below(500);
  });

  it("never include clients' images, which do not use the proxy", async () => {
    await network.host('mine.images.net', reply({ headers: { 'content-type': 'image/png' }, body: PNG }));
    const { signal } = new AbortController();
    await network.fetcher().fetchImage('https://mine.images.net/a.png', { field: 'f', signal });
    expect([asked, network.resolved]).to.deep.equal([[], ['mine.images.net']]);
  });
});
