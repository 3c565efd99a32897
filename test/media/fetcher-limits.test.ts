// The default time limits of a fetcher: for an address, a name, an image, a post, and a result.
import { once } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { isFault } from '../../lib/base/faults.ts';
import { FetchFailure } from '../../lib/media/failure.ts';
import { createFetcher, type FetcherOptions } from '../../lib/media/fetcher.ts';
import { isUpstreamFault } from '../../lib/upstream/host/fault.ts';
import { MP4 } from './sample-images.ts';

const { signal } = new AbortController();

describe('media fetcher with default limits', () => {
  let now: number;
  let origin: string;
  /** What the server has said, and been asked. */
  let says: Buffer | undefined;
  let asked: number;
  let dialled: number;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.on('data', () => {
      asked += 1;
      if (says) socket.write(says);
    });
  });

  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    [now, asked, dialled, says] = [0, 0, 0, undefined];
    mock.timers.enable({ apis: ['setTimeout'] });
    // For those that import a timer by its name.
    syncBuiltinESMExports();
    mock.method(performance, 'now', () => now);
  });
  afterEach(() => {
    mock.timers.reset();
    syncBuiltinESMExports();
    mock.restoreAll();
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  const turn = async (turns = 20) => {
    for (let at = 0; at < turns; at += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await turn(1);
  };
  async function pass(ms: number): Promise<void> {
    now += ms;
    mock.timers.tick(ms);
    await turn();
  }

  /** What it ends with, once it has ended. */
  function watch(running: Promise<unknown>): { error?: unknown } {
    const seen: { error?: unknown } = {};
    running.then(
      () => expect.fail('it did not fail'),
      (error: unknown) => {
        seen.error = error;
      },
    );
    return seen;
  }
  const silent = (options: FetcherOptions = {}) =>
    createFetcher({
      resolve: async () => ['93.184.216.1', '93.184.216.2', '93.184.216.3', '93.184.216.4'],
      dial: () => {
        dialled += 1;
        return new Socket();
      },
      ...options,
    });
  const fetchImage = (url: string, options?: FetcherOptions) =>
    watch(silent(options).fetchImage(url, { field: 'FIELD', signal }));
  const reasonOf = ({ error }: { error?: unknown }) =>
    isFault(error) ? (error.cause as FetchFailure).reason : error instanceof FetchFailure ? error.reason : undefined;

  it('waits three seconds for each of three addresses', async () => {
    const ending = fetchImage('https://images.net/a.png');
    await until(() => dialled === 1);
    for (const more of [2, 3]) {
      await pass(2_999);
      expect(dialled).to.equal(more - 1);
      await pass(1);
      expect(dialled).to.equal(more);
    }
    await pass(3_000);
    await pass(1_000);
    expect([reasonOf(ending), dialled]).to.deep.equal(['no-connection', 3]);
  });

  it('waits four seconds for the addresses of a name', async () => {
    const ending = fetchImage('https://images.net/a.png', { resolve: () => new Promise(() => {}) });
    await turn();
    await pass(3_999);
    expect(reasonOf(ending)).to.equal(undefined);
    await pass(1);
    await pass(1_000);
    expect(reasonOf(ending)).to.equal('slow');
  });

  it('reports an unreachable host at whole seconds', async () => {
    const ending = fetchImage('https://10.0.0.1/a.png');
    await turn();
    await pass(999);
    expect(ending.error).to.equal(undefined);
    await pass(1);
    expect(reasonOf(ending)).to.equal('not-public');
  });

  const own = () => ({ trustedOrigins: new Set([origin]) });

  it('waits ten seconds for an image, then fails at once', async () => {
    const { fetchImage: fetch } = createFetcher(own());
    const ending = watch(fetch(`${origin}/a.png`, { field: 'FIELD', signal }));
    await until(() => asked === 1);
    await pass(9_999);
    expect(ending.error).to.equal(undefined);
    await pass(1);
    expect(reasonOf(ending)).to.equal('slow');
  });

  it('tells at once what is wrong with an image that has come', async () => {
    says = Buffer.from('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\n\r\ntext');
    const { fetchImage: fetch } = createFetcher(own());
    const ending = watch(fetch(`${origin}/a.png`, { field: 'FIELD', signal }));
    await until(() => asked === 1);
    await turn(200);
    expect(isFault(ending.error) && ending.error.data?.code).to.equal('image_unsupported');
  });

  it('waits ten seconds for the response to a post, then fails at once', async () => {
    const ending = watch(createFetcher(own()).post(`${origin}/in`, { headers: {}, body: '{}', signal }));
    await until(() => asked === 1);
    await pass(9_999);
    expect(ending.error).to.equal(undefined);
    await pass(1);
    expect(reasonOf(ending)).to.equal('slow');
  });

  const fetchFilm = () => {
    const request = { kind: 'video', bytesMax: 1e6, upstreamOrigin: origin, signal } as const;
    return watch(
      createFetcher().fetchResult(`${origin}/film`, request, async ({ chunks }) => {
        for await (const chunk of chunks) expect(chunk).not.to.have.length(0);
      }),
    );
  };

  const HEAD = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n');

  it('waits a minute for the head of a result', async () => {
    const ending = fetchFilm();
    await until(() => asked === 1);
    await pass(59_999);
    expect(ending.error).to.equal(undefined);
    await pass(1);
    expect(isUpstreamFault(ending.error) && ending.error.kind).to.equal('timeout');
  });

  it('waits ten minutes for a result', async () => {
    says = Buffer.concat([HEAD, MP4, Buffer.alloc(99)]);
    const ending = fetchFilm();
    await until(() => asked === 1);
    await turn(200);
    for (let waited = 0; waited < 580_000; waited += 20_000) {
      await pass(20_000);
      for (const socket of sockets) if (!socket.destroyed) socket.write('x');
      await turn(200);
    }
    await pass(19_999);
    expect(ending.error).to.equal(undefined);
    await pass(1);
    expect(isUpstreamFault(ending.error) && ending.error.kind).to.equal('timeout');
  });

  it('waits half a minute for the next bytes of a result', async () => {
    says = Buffer.concat([HEAD, MP4, Buffer.alloc(99)]);
    const ending = fetchFilm();
    await until(() => asked === 1);
    await turn(200);
    await pass(29_999);
    expect(ending.error).to.equal(undefined);
    await pass(1);
    expect(isUpstreamFault(ending.error) && ending.error.kind).to.equal('timeout');
  });
});
