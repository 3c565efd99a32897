// Results: stored from bytes and links, linked, recognised, and read as images.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { isFault } from '../../lib/base/faults.ts';
import { createResults, type KeepRequest, type Results, type ResultsOptions } from '../../lib/media/results.ts';
import { StoreError } from '../../lib/store/store.ts';
import type { MediaSource } from '../../lib/upstream/contract/provider.ts';
import { isUpstreamFault } from '../../lib/upstream/host/fault.ts';
import { type FaultyStore, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import { itLong } from '../../testkit/long.ts';
import { rejection } from '../contract/store/context.ts';
import { bytesOf, newMedia, piecesOf } from '../contract/store/media.ts';
import { createBudget } from './budget.ts';
import * as files from './sample-images.ts';
import { chunked, createStage, imageReply, MIB } from './stage.ts';

const PUBLIC_URL = 'https://gateway.example/base';
const TTL_MS = 3_600_000;
const HEAD = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 5000000\r\n\r\n');
const FIELD = 'messages[0].content[0]';

describe('results', () => {
  const { network, serve } = createStage();
  let opened: FaultyStore;
  let results: Results;
  let now: number;
  const open = (more: Partial<ResultsOptions> = {}) => {
    const options = { media: opened.store.media, fetcher: () => network.fetcher(), publicUrl: () => PUBLIC_URL };
    return createResults({ ...options, ttlMs: TTL_MS, now: () => now, ...more });
  };

  before(async () => {
    opened = await openFaultyStore();
  });
  after(() => opened.close());
  beforeEach(() => {
    now = 1_800_000_000_000;
    results = open();
  });

  const request = (more: Partial<KeepRequest> = {}): KeepRequest => ({
    kind: 'image',
    account: 'acc_1',
    upstreamOrigin: undefined,
    signal: new AbortController().signal,
    ...more,
  });
  const count = async () => (await opened.real.media.page({ limit: 1000 })).length;
  /** What it is refused with; nothing is stored. */
  async function refused(source: MediaSource, more: Partial<KeepRequest> = {}): Promise<unknown> {
    const before = await count();
    const error = await rejection(results.keep(source, request(more)));
    expect(await count()).to.equal(before);
    return error;
  }

  describe('are stored', () => {
    it('from bytes, with the detected type, until they expire', async () => {
      for (const [bytes, kind, mediaType, extension] of [
        [files.PNG, 'image', 'image/png', 'png'],
        [files.JPEG, 'image', 'image/jpeg', 'jpg'],
        [files.MP4, 'video', 'video/mp4', 'mp4'],
      ] as const) {
        const stored = await results.keep({ bytes }, request({ kind }));
        const { id, ...rest } = stored;
        const times = { createdAt: now, expiresAt: now + TTL_MS };
        expect(rest).to.deep.equal({ account: 'acc_1', kind, mediaType, bytes: bytes.length, ...times });
        expect(results.buildLink(stored)).to.equal(`${PUBLIC_URL}/media/${id}.${extension}`);
        expect(results.readLinkId(results.buildLink(stored))).to.equal(id);
        expect((await bytesOf(opened.real, id)).equals(bytes)).to.equal(true);
      }
    });

    it('from links as they arrive, also from an upstream origin that is not public', async () => {
      const film = Buffer.concat([files.MP4, Buffer.alloc(3 * MIB, 7)]);
      for (const answer of [imageReply(film), chunked(film)]) {
        const stored = await results.keep({ url: await serve(answer) }, request({ kind: 'video' }));
        expect(stored).to.include({ kind: 'video', mediaType: 'video/mp4', bytes: film.length });
        expect((await bytesOf(opened.real, stored.id)).equals(film)).to.equal(true);
      }
      await network.host('models.intranet', imageReply(files.PNG), {
        certificate: 'none',
        address: '10.9.0.1',
        port: 8000,
      });
      const upstreamOrigin = 'http://models.intranet:8000';
      const source = { url: `${upstreamOrigin}/1.png`, headers: { authorization: 'Bearer up' } };
      const { bytes } = await results.keep(source, request({ upstreamOrigin }));
      expect(bytes).to.equal(files.PNG.length);
      expect(network.heads.at(-1)).to.match(/authorization: Bearer up/i);
      expect(isUpstreamFault(await refused(source))).to.equal(true);
    });

    it('from links with the size limit, the proxy and the headers of the upstream', async () => {
      const asked: object[] = [];
      const fetchResult = (url: string, { signal: _, ...wanted }: object & { signal?: unknown }) => {
        asked.push({ url, ...wanted });
        return Promise.reject(new Error('not now'));
      };
      results = open({ fetcher: () => ({ ...network.fetcher(), fetchResult }) });
      const url = 'https://cdn.example/1';
      const headers = { authorization: 'Bearer up' };
      const more = { upstreamOrigin: 'https://up.example', proxy: 'http://proxy.example' };
      await rejection(results.keep({ url }, request({ kind: 'video' })));
      await rejection(results.keep({ url, headers }, request({ ...more, patienceMs: 7 })));
      expect(asked).to.deep.equal([
        {
          url,
          kind: 'video',
          bytesMax: 2048 * MIB,
          upstreamOrigin: undefined,
          proxy: undefined,
          patienceMs: undefined,
          headers: undefined,
        },
        { url, kind: 'image', bytesMax: 32 * MIB, ...more, patienceMs: 7, headers },
      ]);
    });

    it('and reported only if they are stored', async () => {
      const told: object[] = [];
      results = open({ onStored: (media) => told.push(media) });
      const stored = await results.keep({ bytes: files.PNG }, request());
      opened.next('media.write', refuse);
      await rejection(results.keep({ bytes: files.PNG }, request()));
      expect(told).to.deep.equal([stored]);
    });

    it('under long, unique ids', async () => {
      const ids = new Set<string>();
      for (let time = 0; time < 50; time += 1) ids.add((await results.keep({ bytes: files.GIF }, request())).id);
      expect(ids.size).to.equal(50);
      for (const id of ids) expect(id).to.match(/^[0-9A-Za-z]{43}$/);
    });
  });

  describe('are not stored', () => {
    it('if they are of the wrong type or empty', async () => {
      for (const [bytes, kind] of [
        [files.MP4, 'image'],
        [files.PNG, 'video'],
        [Buffer.from('<html></html>'), 'image'],
        [Buffer.alloc(0), 'image'],
        [files.PNG.subarray(0, 8), 'image'],
        [files.JPEG.subarray(0, 24), 'image'],
        [files.png({ width: 0 }).subarray(0, 60), 'image'],
      ] as const) {
        expect(await refused({ bytes }, { kind }))
          .to.satisfy(isUpstreamFault)
          .and.to.have.property('kind', 'protocol');
        const url = await serve(imageReply(bytes));
        expect(await refused({ url }, { kind }))
          .to.satisfy(isUpstreamFault)
          .and.to.have.property('kind', 'protocol');
      }
    });

    it('if they are too large', async () => {
      expect(await refused({ bytes: files.png({ bytes: 32 * MIB + 1 }) })).to.satisfy(isUpstreamFault);
    });

    itLong('if they are too large, fetched; the largest is stored', async () => {
      const large = files.png({ bytes: 32 * MIB + 1 });
      expect(await refused({ url: await serve(chunked(large)) })).to.satisfy(isUpstreamFault);
      const { bytes } = await results.keep({ bytes: files.png({ bytes: 32 * MIB }) }, request());
      expect(bytes).to.equal(32 * MIB);
    })?.timeout(60_000);

    it('if they break off or stall', async () => {
      const film = Buffer.concat([files.MP4, Buffer.alloc(MIB, 7)]);
      const breaking = await serve((socket) => {
        socket.write(Buffer.concat([HEAD, film]), () => setTimeout(() => socket.destroy(), 50));
      });
      expect(await refused({ url: breaking }, { kind: 'video' })).to.satisfy(isUpstreamFault);
      const stalling = await serve((socket) => void socket.write(Buffer.concat([HEAD, film])));
      const error = await refused({ url: stalling }, { kind: 'video' });
      expect(error).to.satisfy(isUpstreamFault).and.to.have.property('kind', 'timeout');
    });

    it('if the call has ended: with its reason', async () => {
      const over = new AbortController();
      const url = await serve((socket) => void socket.write(Buffer.concat([HEAD, files.MP4])));
      const keeping = refused({ url }, { kind: 'video', signal: over.signal });
      await sleep(50);
      const reason = new Error('the client left');
      over.abort(reason);
      expect(await keeping).to.equal(reason);
      expect(await refused({ bytes: files.PNG }, { signal: over.signal })).to.equal(reason);
    });

    it('if the store does not accept them: with a 503', async () => {
      for (const source of [{ bytes: files.PNG }, { url: await serve(imageReply(files.PNG)) }]) {
        opened.next('media.write', refuse);
        const error = await refused(source);
        expect(error).to.satisfy(isFault).and.to.have.nested.property('data.code', 'result_not_kept');
        expect(error).to.have.nested.property('output.statusCode', 503);
      }
    });
  });

  describe('are recognised by their links', () => {
    const id = 'Zz09'.padEnd(43, 'a');
    const own = [
      `${PUBLIC_URL}/media/${id}.png`,
      `${PUBLIC_URL}/media/${id}.mp4?a=b`,
      `${PUBLIC_URL}/media/${id}.webp#x`,
    ];
    const foreign = [
      `http://gateway.example/base/media/${id}.png`,
      `https://gateway.example:8443/base/media/${id}.png`,
      `https://gateway.example/media/${id}.png`,
      `https://gateway.example/basement/media/${id}.png`,
      `https://gateway.example.evil.example/base/media/${id}.png`,
      `https://user@gateway.example/base/media/${id}.png`,
      `https://:secret@gateway.example/base/media/${id}.png`,
      `https://gateway.example@evil.example/base/media/${id}.png`,
      `https://evil.example/?${PUBLIC_URL}/media/${id}.png`,
      `https://evil.example/#${PUBLIC_URL}/media/${id}.png`,
      `${PUBLIC_URL}/media/${id}`,
      `${PUBLIC_URL}/media/${id}x.png`,
      `${PUBLIC_URL}/media/${id.slice(1)}.png`,
      `${PUBLIC_URL}/media/${id.slice(1)}%61.png`,
      `${PUBLIC_URL}/media/x/${id}.png`,
      `${PUBLIC_URL}/media/${id}.png/x`,
      `${PUBLIC_URL}\\media\\${id}.png`,
      ` ${PUBLIC_URL}/media/${id}.png`,
      `${PUBLIC_URL}/media/${id}.p\tng`,
      `${PUBLIC_URL}/media/${id}.png?${'x'.repeat(3000)}`,
      `//gateway.example/base/media/${id}.png`,
      `/base/media/${id}.png`,
      'data:image/png;base64,AAAA',
      '',
    ];
    for (const url of own) it(`own: ${url}`, () => expect(results.readLinkId(url)).to.equal(id));
    for (const url of foreign)
      it(`foreign: ${url.slice(0, 120)}`, () => expect(results.readLinkId(url)).to.equal(undefined));

    it('with the extension of the file, if known', () => {
      const linkOf = (mediaType: string) => results.buildLink({ id, mediaType });
      expect(linkOf('video/webm')).to.equal(`${PUBLIC_URL}/media/${id}.webm`);
      expect(linkOf('video/odd')).to.equal(`${PUBLIC_URL}/media/${id}.bin`);
    });

    it('own: with the host in any case and a default port', () => {
      expect(results.readLinkId(`HTTPS://Gateway.Example:443/base/media/${id}.png`)).to.equal(id);
      expect(
        open({ publicUrl: () => 'http://127.0.0.1:8080' }).readLinkId(`http://127.0.0.1:8080/media/${id}.png`),
      ).to.equal(id);
    });
  });

  describe('are read as images', () => {
    const refusedRead = async (id: string, more: object = {}) => {
      const error = await rejection(results.readImage(id, { field: FIELD, ...more }));
      if (!isFault(error)) throw new Error('not a fault', { cause: error });
      return [error.data?.code, error.data?.detail.field];
    };

    it('with their size, in memory of the budget until release', async () => {
      const { state, budget } = createBudget(MIB);
      const { id } = await results.keep({ bytes: files.png({ width: 7, height: 5, bytes: MIB / 2 }) }, request());
      const image = await results.readImage(id, { field: FIELD, budget });
      expect(image).to.deep.include({ format: 'png', mediaType: 'image/png', size: { width: 7, height: 5 } });
      expect([image.bytes.length, state.taken]).to.deep.equal([MIB / 2, MIB / 2]);
      image.release();
      expect(state.taken).to.equal(0);
    });

    it('but not if they are unknown, expired or lost', async () => {
      const { id } = await results.keep({ bytes: files.PNG }, request());
      expect(await refusedRead('a'.repeat(43))).to.deep.equal(['image_gone', FIELD]);
      now += TTL_MS - 1;
      (await results.readImage(id, { field: FIELD })).release();
      now += 1;
      expect(await refusedRead(id)).to.deep.equal(['image_gone', FIELD]);
    });

    it('but not if the file is lost, which is a client error', async () => {
      const { id } = await results.keep({ bytes: files.PNG }, request());
      const { state, budget } = createBudget(MIB);
      opened.next('media.read', async () => {
        throw new StoreError('the file is gone', 'no', undefined, 'batch');
      });
      expect(await refusedRead(id, { budget })).to.deep.equal(['image_gone', FIELD]);
      expect(state.taken).to.equal(0);
    });

    it('but not if they are videos, too large, or there is no room', async () => {
      const film = await results.keep({ bytes: files.MP4 }, request({ kind: 'video' }));
      expect(await refusedRead(film.id)).to.deep.equal(['image_unsupported', FIELD]);
      const large = await results.keep({ bytes: files.png({ bytes: 8 * MIB + 1 }) }, request());
      expect(await refusedRead(large.id)).to.deep.equal(['image_too_large', FIELD]);
      const fitting = await results.keep({ bytes: files.png({ bytes: 8 * MIB }) }, request());
      const { state, budget } = createBudget(8 * MIB - 1);
      expect(await refusedRead(fitting.id, { budget })).to.deep.equal(['no_room', undefined]);
      expect(state.taken).to.equal(0);
      (await results.readImage(fitting.id, { field: FIELD })).release();
    });

    it('but not if the store fails: the memory is released', async () => {
      const { id } = await results.keep({ bytes: files.PNG }, request());
      const { state, budget } = createBudget(MIB);
      for (const name of ['media.get', 'media.read'] as const) {
        opened.next(name, refuse);
        expect(await refusedRead(id, { budget })).to.deep.equal(['store_unavailable', undefined]);
        expect(state.taken).to.equal(0);
      }
    });

    it('but not if the file is no longer an image', async () => {
      const media = newMedia({ expiresAt: now + TTL_MS });
      await opened.real.media.write(media, piecesOf(Buffer.from('something else')));
      expect(await refusedRead(media.id)).to.deep.equal(['image_unsupported', FIELD]);
    });
  });
});
