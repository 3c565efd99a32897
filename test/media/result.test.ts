import { expect } from 'chai';
import type { Fetcher, FetcherOptions, ResultRequest } from '../../lib/media/fetcher.ts';
import type { RemoteResult } from '../../lib/media/result.ts';
import { readOrigins } from '../../lib/media/url.ts';
import type { UpstreamFaultKind } from '../../lib/upstream/contract/provider.ts';
import { isUpstreamFault } from '../../lib/upstream/host/fault.ts';
import { FILM } from '../../testkit/film-upstream.ts';
import { itTimed } from '../../testkit/timed.ts';
import { type Answer, flood, redirect, reply } from './network.ts';
import * as files from './sample-images.ts';
import { chunked, createStage, drip, expectSecrecy, imageReply, MIB, unmeasured } from './stage.ts';

const UPSTREAM = 'http://models.intranet:8000';
const headers = { Authorization: 'Bearer secret', 'Accept-Encoding': 'gzip', Host: 'evil.org' };

async function whole(result: RemoteResult): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of result.chunks) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('media results', () => {
  const { network, serve } = createStage();

  const request: ResultRequest = {
    kind: 'video',
    bytesMax: 4 * MIB,
    upstreamOrigin: `${UPSTREAM}/`,
    headers,
    signal: new AbortController().signal,
  };
  type Changes = Partial<ResultRequest> & { readonly options?: FetcherOptions };
  const fetchResult = <T>(url: string, { options, ...changes }: Changes, keep: Parameters<Fetcher['fetchResult']>[2]) =>
    network.fetcher(options).fetchResult(url, { ...request, ...changes }, keep) as Promise<T>;

  /** Servers behind the upstream's own origin, at an inner address. */
  let upstreams = 0;
  async function upstream(answer: Answer): Promise<string> {
    upstreams += 1;
    const address = `10.0.0.${upstreams}`;
    await network.host('models.intranet', answer, { certificate: 'none', address, port: 8000 });
    network.names.set('models.intranet', [address]);
    return `${UPSTREAM}/results/1`;
  }

  async function refused(url: string, kind: UpstreamFaultKind, changes: Changes = {}): Promise<void> {
    const thrown: unknown = await fetchResult(url, changes, whole).catch((error) => error);
    if (!isUpstreamFault(thrown)) throw new Error('not refused', { cause: thrown });
    expect(thrown.kind, thrown.detail).to.equal(kind);
    expectSecrecy(thrown);
  }

  const film = Buffer.concat([files.MP4, Buffer.alloc(3 * MIB, 7)]);

  it('are fetched from public hosts, with their type and unchanged bytes', async () => {
    for (const [answer, length] of [
      [imageReply(film), film.length],
      [chunked(film), undefined],
      [unmeasured(film), undefined],
    ] as const) {
      const kept = await fetchResult<object>(await serve(answer), {}, async (result) => {
        expect(result.sniffed).to.deep.equal({
          kind: 'video',
          format: 'mp4',
          mediaType: 'video/mp4',
          extension: 'mp4',
        });
        expect(result.length).to.equal(length);
        return { same: (await whole(result)).equals(film) };
      });
      expect(kept).to.deep.equal({ same: true });
    }
    const small = await fetchResult(await serve(imageReply(files.GIF)), { kind: 'image' }, whole);
    expect(small).to.deep.equal(files.GIF);
  });

  it('may be exactly as large as the limit, with and without a length', async () => {
    for (const answer of [imageReply(film), chunked(film)]) {
      const kept = await fetchResult<Buffer>(await serve(answer), { bytesMax: film.length }, whole);
      expect(kept.equals(film)).to.equal(true);
      await refused(await serve(answer), 'protocol', { bytesMax: film.length - 1 });
    }
  });

  it('are fetched from URLs with long signatures', async () => {
    const url = `${await serve(imageReply(files.MP4))}&x=${'y'.repeat(8000)}`;
    expect(await fetchResult(url, {}, whole)).to.deep.equal(files.MP4);
  });

  it('reach a slow reader in full, although the server closes at once', async () => {
    const kept = await fetchResult(await serve(imageReply(film)), {}, async ({ chunks }) => {
      let read = 0;
      for await (const chunk of chunks) {
        read += chunk.length;
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      return read;
    });
    expect(kept).to.equal(film.length);
  });

  it("are fetched from the upstream's origin, and only there with the operator's headers", async () => {
    expect(await fetchResult(await upstream(imageReply(files.MP4)), {}, whole)).to.deep.equal(files.MP4);
    expect(network.dialled).to.have.length(1);
    expect(network.heads.join()).to.match(/^GET \/results\/1 .*\r\nauthorization: Bearer secret\r\n/s);
    expect(network.heads.join())
      .to.match(/\r\naccept-encoding: identity\r\n/)
      .and.not.to.match(/gzip|evil/i);

    network.forget();
    await fetchResult(await serve(imageReply(files.MP4)), {}, whole);
    expect(network.heads.join()).not.to.match(/authorization|Bearer/i);
  });

  it("keep the operator's headers on redirects within the upstream's origin, and lose them for good elsewhere", async () => {
    const listSecrets = () => network.heads.map((head) => /Bearer secret/.test(head));
    const toTwo: Answer = (socket, head) =>
      (head.startsWith('GET /two') ? imageReply(files.MP4) : redirect('/two'))(socket, head);
    await fetchResult(await upstream(toTwo), {}, whole);
    expect(listSecrets()).to.deep.equal([true, true]);

    network.forget();
    await fetchResult(await serve(redirect(`${UPSTREAM}/two`)), {}, whole);
    expect(listSecrets()).to.deep.equal([false, false]);

    network.forget();
    const elsewhere = await serve(redirect(`${UPSTREAM}/two`));
    const away: Answer = (socket, head) =>
      (head.startsWith('GET /two') ? imageReply(files.MP4) : redirect(elsewhere))(socket, head);
    await fetchResult(await upstream(away), {}, whole);
    expect(listSecrets()).to.deep.equal([true, false, false]);
  });

  it('are fetched by https where a link or a redirect to a public host says http', async () => {
    await network.host('plain.images.net', imageReply(files.MP4));
    expect(await fetchResult('http://plain.images.net/1.mp4?sign=a', {}, whole)).to.deep.equal(files.MP4);
    await network.host('turn.images.net', redirect('http://plain.images.net/2.mp4'));
    expect(await fetchResult('HTTP://turn.images.net/', {}, whole)).to.deep.equal(files.MP4);
    expect(network.dialled.map((dialled) => dialled.split(':')[1])).to.deep.equal(['443', '443', '443']);
    expect(network.heads[0]).to.match(/^GET \/1\.mp4\?sign=a /);
    expect(network.heads.join()).not.to.contain('Bearer');
  });

  it("are fetched with the operator's headers where a link to the upstream says http", async () => {
    await network.host('models.net', imageReply(files.MP4));
    const more = { upstreamOrigin: 'https://models.net' };
    expect(await fetchResult('http://models.net/results/1', more, whole)).to.deep.equal(files.MP4);
    expect(network.heads.join()).to.contain('Bearer secret');
  });

  for (const encoding of ['identity', 'aws-chunked', '', 'AWS-Chunked,', 'identity, aws-chunked']) {
    it(`are plain with a content-encoding of "${encoding}"`, async () => {
      const answer = imageReply(files.MP4, { 'content-encoding': encoding });
      expect(await fetchResult(await serve(answer), {}, whole)).to.deep.equal(files.MP4);
    });
  }

  it('are fetched from trusted origins', async () => {
    await network.host('minio', imageReply(files.MP4), { certificate: 'none', address: '10.0.1.1', port: 9000 });
    const options = { trustedOrigins: readOrigins('http://minio:9000') };
    expect(await fetchResult('http://minio:9000/secret', { options }, whole)).to.deep.equal(files.MP4);
    expect(network.heads.join()).not.to.contain('Bearer');
    await refused('http://minio:9000/secret', 'protocol');
  });

  it('are refused from any other origin', async () => {
    network.names.set('inner.images.net', ['10.0.0.9']);
    const urls = [
      'https://inner.images.net/secret',
      'https://10.0.0.9/',
      'http://images.net:8080/',
      'http://10.0.0.9/',
      `${UPSTREAM}1/`,
      'file:///x',
    ];
    for (const url of [
      ...urls,
      'http://models.intranet/',
      'https://models.intranet:8000/',
      `https://a.net/${'x'.repeat(9000)}`,
    ]) {
      await refused(url, 'protocol');
      expect(network.dialled).to.deep.equal([]);
      network.names.set('models.intranet', ['10.0.0.250']);
      await refused(await upstream(redirect(url)), 'protocol');
      expect(network.dialled).to.have.length(1);
      network.forget();
    }
  });

  const FAILURES: readonly (readonly [string, UpstreamFaultKind, Answer])[] = [
    ['a server that fails', 'server', reply({ status: 503 })],
    ['a link that has expired', 'protocol', reply({ status: 403 })],
    ['a server that is asked too often', 'rate', reply({ status: 429 })],
    ['a server that gave up waiting', 'timeout', reply({ status: 408 })],
    ['a server that asks for later', 'overloaded', reply({ status: 425 })],
    ['a server that broke', 'server', reply({ status: 500 })],
    ['a part', 'protocol', reply({ status: 206, body: files.MP4 })],
    ['gzip', 'protocol', imageReply(files.MP4, { 'content-encoding': 'gzip' })],
    ['a page', 'protocol', imageReply(files.HTML)],
    ['an image where a film is due', 'protocol', imageReply(files.PNG)],
    ['nothing', 'protocol', imageReply(Buffer.alloc(0))],
    ['a file that is cut short', 'protocol', chunked(FILM.subarray(0, -40))],
    ['too much, by its length', 'protocol', reply({ headers: { 'content-length': 4 * MIB + 1 }, end: false })],
    ['too much, by what comes', 'protocol', unmeasured(Buffer.concat([film, film]))],
    [
      'a body that breaks off',
      'network',
      reply({ headers: { 'content-length': 9_999_99 }, body: film.subarray(0, 5_000) }),
    ],
    ['a body that stalls', 'timeout', reply({ headers: { 'content-length': 9_999 }, body: files.MP4, end: false })],
    ['what drips', 'timeout', drip],
  ];
  for (const [name, kind, answer] of FAILURES) {
    it(`fail on ${name}: ${kind}`, async () => {
      // A stall is noticed long before the time of the whole is over; what drips never stalls.
      const limits = { resultMs: answer === drip ? 800 : 60_000, resultIdleMs: kind === 'timeout' ? 300 : 20_000 };
      await refused(await serve(answer), kind, { options: { limits } });
    });
  }

  const LATE: Readonly<Record<string, Answer>> = {
    'a link that is not there yet': reply({ status: 404 }),
    'a link that may not be read yet': reply({ status: 403 }),
    'a 400': reply({ status: 400 }),
    'an empty 202': reply({ status: 202 }),
    'a server that fails': reply({ status: 500 }),
    'a page': imageReply(files.HTML),
    'an empty file': imageReply(Buffer.alloc(0)),
    'a body that breaks off': reply({ headers: { 'content-length': 99_999 }, body: film.subarray(0, 5_000) }),
    'a file that is cut short': imageReply(FILM.subarray(0, -40)),
    'a connection that ends at once': (socket) => void socket.destroy(),
  };
  for (const [name, late] of Object.entries(LATE)) {
    it(`are retried if requested: ${name}`, async () => {
      let requests = 0;
      const url = await serve((socket, head) => {
        requests += 1;
        return (requests < 3 ? late : imageReply(files.MP4))(socket, head);
      });
      expect(await fetchResult(url, { patienceMs: 20_000 }, whole)).to.deep.equal(files.MP4);
      expect(requests).to.equal(3);
    });
  }

  itTimed('are retried for the given time, and not after permanent failures', async () => {
    for (const [answer, patienceMs, tries, kind] of [
      [reply({ status: 404 }), 1000, 3, 'protocol'],
      [reply({ status: 404 }), undefined, 1, 'protocol'],
      [imageReply(files.MP4, { 'content-encoding': 'gzip' }), 20_000, 1, 'protocol'],
      [reply({ headers: { 'content-length': 4 * MIB + 1 }, end: false }), 20_000, 1, 'protocol'],
    ] as const) {
      let requests = 0;
      const url = await serve((socket, head) => {
        requests += 1;
        return answer(socket, head);
      });
      await refused(url, kind, { patienceMs });
      expect(requests).to.equal(tries);
    }
  });

  it('are not retried after the call ended or storing failed', async () => {
    const call = new AbortController();
    let requests = 0;
    const url = await serve((socket, head) => {
      requests += 1;
      setTimeout(() => call.abort('gone'), 50);
      return reply({ status: 404 })(socket, head);
    });
    const thrown = await fetchResult(url, { patienceMs: 20_000, signal: call.signal }, whole).catch((error) => error);
    expect([thrown, requests]).to.deep.equal(['gone', 1]);
    const full = new Error('disk full');
    const keep = () => Promise.reject(full);
    const film = await serve(imageReply(files.MP4));
    expect(await fetchResult(film, { patienceMs: 20_000 }, keep).catch((error) => error)).to.equal(full);
  });

  it('fail on silent hosts', async () => {
    await refused(await serve(() => {}), 'timeout', { options: { limits: { resultMs: 300 } } });
  });

  it('fail on unreachable hosts', async () => {
    await refused('https://unknown.images.net/', 'network');
    network.names.set('closed.images.net', [network.nextAddress()]);
    await refused('https://closed.images.net/', 'network');
  });

  it('wait for a slow reader and buffer little meanwhile', async () => {
    const film64 = flood(files.MP4, Buffer.alloc(64 * 1024, 7), 64 * MIB);
    const url = await serve(film64.answer);
    let bytes = 0;
    const changes = { bytesMax: 100 * MIB, options: { limits: { resultMs: 60_000, resultIdleMs: 600 } } };
    await fetchResult(url, changes, async ({ chunks }) => {
      for await (const chunk of chunks) {
        if (bytes === 0) await new Promise((resolve) => setTimeout(resolve, 1500));
        // The sockets of both ends hold some of it.
        if (bytes === 0) expect(film64.sent()).to.be.below(16 * MIB);
        bytes += chunk.length;
      }
    });
    expect(bytes)
      .to.equal(film64.sent())
      .and.to.be.above(60 * MIB);
  });

  it('pass on errors of the reader and close the connection', async () => {
    const closed = new Promise((resolve) => {
      void serve((socket) => {
        socket.on('close', resolve);
        reply({ headers: { 'content-length': 9_999 }, body: files.MP4, end: false })(socket, '');
      }).then(async (url) => {
        const full = new Error('the disk is full');
        const thrown: unknown = await fetchResult(url, {}, () => Promise.reject(full)).catch((error) => error);
        expect(thrown).to.equal(full);
      });
    });
    await closed;
  });

  it('end with their call', async () => {
    const call = new AbortController();
    const url = await serve(reply({ headers: { 'content-length': 9_999 }, body: files.MP4, end: false }));
    const fetching = fetchResult(url, { signal: call.signal }, async (result) => {
      setTimeout(() => call.abort(new Error('shutting down')), 20);
      return whole(result);
    });
    expect(String(await fetching.catch((error) => error))).to.equal('Error: shutting down');
  });
});
