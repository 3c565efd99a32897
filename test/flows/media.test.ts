// Stored media over HTTP: served whole and in parts to whoever has the link, and to nobody else.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeSecret } from '../../lib/base/base62.ts';
import { HOUR_MS } from '../../lib/base/durations.ts';
import type { NewMedia } from '../../lib/store/ports/media.ts';
import { open, readHead, type SendOptions, until } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { readLogLines } from '../../testkit/log-lines.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { itTimed } from '../../testkit/timed.ts';
import type { StoreDatabase } from '../contract/store/context.ts';
import { newMedia, piecesOf } from '../contract/store/media.ts';
import { MP4, PNG } from '../media/sample-images.ts';

for (const kind of longer([SQLITE], STORES)) {
  describe(`stored media: ${kind.name}`, () => {
    let database: StoreDatabase;
    let gateway: TestGateway;

    before(async () => {
      database = await kind.create();
      const env = { CLIENT_STALL_MS: '800', RATE_LIMIT_PER_MINUTE: '1', BALANCE_RATE_LIMIT_PER_MINUTE: '1' };
      gateway = await startGateway({ catalog: chatCatalog('http://127.0.0.1:9'), database: database.url, env });
    });
    after(async () => {
      await gateway.stop();
      await database.remove();
    });

    const keep = async (bytes: Uint8Array, more: Partial<NewMedia> = {}) => {
      const expiresAt = Date.now() + HOUR_MS;
      return gateway.store.media.write(newMedia({ expiresAt, ...more }), piecesOf(bytes));
    };
    async function get(path: string, options: SendOptions = {}) {
      const response = await readHead(open(gateway.url + path, options));
      const body = Buffer.concat(await response.toArray());
      return { status: response.statusCode, headers: response.headers, body };
    }

    it('are sent one after the other over one connection, however soon the next one is asked for', async () => {
      const { id } = await keep(PNG);
      const { hostname, port } = new URL(gateway.url);
      const socket = connect(Number(port), hostname);
      const times = 30;
      let received = 0;
      let asked = 0;
      let wanted = 0;
      const ask = () => void socket.write(`GET /media/${id}.png HTTP/1.1\r\nhost: x\r\n\r\n`, () => (asked += 1));
      socket.on('data', (bytes) => {
        if (received === wanted) wanted += bytes.indexOf('\r\n\r\n') + 4 + PNG.length;
        received += bytes.length;
        if (received === wanted && asked < times) ask();
        else if (received === wanted) socket.end();
      });
      ask();
      await once(socket, 'close');
      expect([asked, received === wanted]).to.deep.equal([times, true]);
    });

    it('are sent without a key, with their type, any number of times', async () => {
      const film = Buffer.concat([MP4, randomBytes(1_300_000)]);
      const { id } = await keep(film, { kind: 'video', mediaType: 'video/mp4' });
      for (let time = 0; time < 3; time += 1) {
        const { status, headers, body } = await get(`/media/${id}.mp4?download=1`);
        expect([status, body.equals(film)]).to.deep.equal([200, true]);
        expect(headers).to.include({
          'content-type': 'video/mp4',
          'content-length': String(film.length),
          'accept-ranges': 'bytes',
          'content-disposition': 'inline',
          'content-security-policy': "sandbox; default-src 'none'",
          'x-content-type-options': 'nosniff',
          'access-control-allow-origin': '*',
          'cross-origin-resource-policy': 'cross-origin',
        });
        expect(headers['cache-control']).to.match(/^private, max-age=3(?:600|59\d), immutable$/);
        expect(headers.etag).to.match(/^"[0-9a-f]{32}"$/);
      }
      const head = await get(`/media/${id}.mp4`, { method: 'HEAD', headers: { range: 'bytes=0-1' } });
      expect([head.status, head.body.length]).to.deep.equal([200, 0]);
      expect(head.headers).to.include({ 'content-length': String(film.length), 'content-type': 'video/mp4' });
    });

    it('are sent in parts', async () => {
      const film = Buffer.concat([MP4, randomBytes(1_300_000)]);
      const { id } = await keep(film, { kind: 'video', mediaType: 'video/mp4' });
      const end = film.length - 1;
      const parts: readonly (readonly [range: string, first: number, last: number])[] = [
        ['bytes=0-0', 0, 0],
        ['bytes=0-1048575', 0, 1_048_575],
        ['bytes=524280-524300', 524_280, 524_300],
        ['bytes=5-', 5, end],
        [`bytes=${end}-`, end, end],
        [`bytes=0-${end + 1000}`, 0, end],
        ['bytes=-1', end, end],
        ['bytes=-999999999', 0, end],
        ['BYTES= 7 - 9 ', 7, 9],
      ];
      for (const [range, first, last] of parts) {
        const { status, headers, body } = await get(`/media/${id}.mp4`, { headers: { range } });
        expect(status, range).to.equal(206);
        expect(headers['content-range'], range).to.equal(`bytes ${first}-${last}/${film.length}`);
        expect(headers['content-length'], range).to.equal(String(last + 1 - first));
        expect(headers['content-type']).to.equal('video/mp4');
        expect(body.equals(film.subarray(first, last + 1)), range).to.equal(true);
      }
      for (const range of [`bytes=${film.length}-`, `bytes=${film.length + 5}-${film.length + 9}`, 'bytes=-0']) {
        const { status, headers, body } = await get(`/media/${id}.mp4`, { headers: { range } });
        expect(status, range).to.equal(416);
        expect(headers['content-range'], range).to.equal(`bytes */${film.length}`);
        expect(JSON.parse(String(body)).error.type).to.equal('invalid_request_error');
      }
      const whole = ['bytes=0-1,4-5', 'bytes=5-2', 'bytes=-', 'bytes=a-b', 'bytes', 'lines=0-1', 'bytes=0x1-2', ''];
      for (const range of [...whole, `bytes=${'9'.repeat(30)}-`, `bytes=0-1${' '.repeat(5000)},`]) {
        const { status, body } = await get(`/media/${id}.mp4`, { headers: { range } });
        expect([status, body.length], range.slice(0, 30)).to.deep.equal([200, film.length]);
      }
    });

    it('are sent whole for a range of spaces, which takes no long time to read', async () => {
      const { id } = await keep(PNG);
      // Other work of the process counts, too, so the quickest says how long the reading took.
      let quickest = Number.POSITIVE_INFINITY;
      for (let i = 0; i < 4; i++) {
        const begin = process.cpuUsage();
        const { status } = await get(`/media/${id}.png`, { headers: { range: `bytes=${' '.repeat(30_000)}x` } });
        quickest = Math.min(quickest, process.cpuUsage(begin).user);
        expect(status).to.equal(200);
      }
      expect(quickest).to.be.below(300_000);
    });

    it('are not sent again to a client that has them', async () => {
      const { id } = await keep(PNG);
      const { headers } = await get(`/media/${id}.png`);
      const etag = String(headers.etag);
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await get(`/media/${id}.png`, { headers: { 'if-none-match': known } });
        expect([again.status, again.body.length], known).to.deep.equal([304, 0]);
        expect(again.headers).to.include({ etag, 'access-control-allow-origin': '*' });
      }
      expect((await get(`/media/${id}.png`, { headers: { 'if-none-match': '"other"' } })).status).to.equal(200);
      const since = 'Fri, 31 Dec 2100 00:00:00 GMT';
      expect((await get(`/media/${id}.png`, { headers: { 'if-modified-since': since } })).status).to.equal(200);
      const partly = (tag: string) => get(`/media/${id}.png`, { headers: { range: 'bytes=0-3', 'if-range': tag } });
      expect((await partly(etag)).status).to.equal(206);
      expect((await partly('"other"')).status).to.equal(200);
      const other = await keep(PNG);
      expect((await get(`/media/${other.id}.png`)).headers.etag).not.to.equal(etag);
    });

    it('are found by their link only, until they expire', async () => {
      const { id } = await keep(PNG);
      const expired = await keep(PNG, { expiresAt: Date.now() - 1 });
      const swapped = id.replace(/[a-z]/i, (letter) =>
        letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
      );
      const wrong = [
        `/media/${expired.id}.png`,
        `/media/${makeSecret()}.png`,
        `/media/${swapped}.png`,
        `/media/${id}`,
        `/media/${id}.`,
        `/media/${id}.jpg`,
        `/media/${id}.PNG`,
        `/media/${id}.png.png`,
        `/media/${id}0.png`,
        `/media/${id.slice(1)}.png`,
        `/media/${id.slice(0, 2)}/${id}`,
        `/media/${id.slice(0, 2)}%2F${id}.png`,
        `/media/%2e%2e%2f%2e%2e%2fetc%2fpasswd`,
        '/media/..%5c..%5cetc%5cpasswd',
        `/media/${id}.png%00`,
        `/media/${id}%00.png`,
        `/media/${'A'.repeat(20_000)}.png`,
        '/media/.png',
        '/media/constructor',
        '/media/../tollgate.db',
      ];
      for (const path of wrong) {
        const { status, headers, body } = await get(path);
        expect(status, path.slice(0, 90)).to.equal(404);
        expect(JSON.parse(String(body))).to.have.nested.property('error.type', 'not_found_error');
        expect(headers['cache-control'] ?? '').not.to.match(/max-age=[1-9]/);
        if (path.startsWith('/media/') && !path.includes('..')) {
          expect(headers['access-control-allow-origin'], path).to.equal('*');
        }
      }
      expect((await get(`/media/${id}.png`)).status).to.equal(200);
    });

    it('accept no other method, and preflights of any origin', async () => {
      const { id } = await keep(PNG);
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
        const { status, headers } = await get(`/media/${id}.png`, { method });
        expect([status, headers.allow], method).to.deep.equal([405, 'GET']);
      }
      const asked = { origin: 'https://app.example', 'access-control-request-headers': 'range' };
      const { status, headers } = await get(`/media/${id}.png`, { method: 'OPTIONS', headers: asked });
      expect(status).to.equal(204);
      expect(headers).to.include({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, HEAD, OPTIONS',
        'access-control-allow-headers': 'range',
      });
    });

    it('are named in the log by the beginning of their id only', async () => {
      const { id } = await keep(PNG);
      const spellings = [
        `/media/${id}.png`,
        `/media/${id}.gif`,
        `/media/x/${id}`,
        `/media/%${id.charCodeAt(0).toString(16)}${id.slice(1)}.png`,
      ];
      for (const path of spellings) await get(path);
      const lines = () => readFileSync(join(gateway.folder, 'log'), 'utf8');
      await until(() => lines().split(`${id.slice(0, 6)}…`).length > spellings.length);
      expect(lines()).not.to.contain(id.slice(0, 12));
    });

    describe('of a length', () => {
      const bytes = longer(24, 48) * 1024 * 1024;
      let path = '';
      before(async () => {
        const piece = randomBytes(1024 * 1024);
        async function* long() {
          for (let at = 0; at < bytes; at += piece.length) yield piece;
        }
        const media = newMedia({ kind: 'video', mediaType: 'video/mp4', expiresAt: Date.now() + HOUR_MS });
        await gateway.store.media.write(media, long());
        path = `/media/${media.id}.mp4`;
      }).timeout(60_000);

      const dial = () => {
        const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
        socket.write(`GET ${path} HTTP/1.1\r\nhost: gateway\r\n\r\n`);
        return socket;
      };
      const line = async () => {
        const lines = () => readLogLines(gateway).filter((line) => JSON.stringify(line).includes(path.slice(0, 13)));
        const before = lines().length;
        await until(() => lines().length > before);
        return lines().at(-1);
      };

      itTimed('wait for a reader that stalls, and drop it', async () => {
        const before = process.memoryUsage().arrayBuffers;
        const logged = line();
        const socket = dial();
        await once(socket, 'readable');
        socket.pause();
        const { aborted, ms } = await logged;
        expect(aborted).to.equal(true);
        expect(ms).to.be.within(700, 6000);
        expect(process.memoryUsage().arrayBuffers - before).to.be.below(16 * 1024 * 1024);
        socket.destroy();
      });

      it('are read no further when the client leaves', async () => {
        const logged = line();
        const socket = dial();
        await once(socket, 'data');
        socket.destroy();
        const { aborted, status, err } = await logged;
        expect([aborted, status, err]).to.deep.equal([true, 200, undefined]);
      });

      it('come whole to a slow reader', async () => {
        const logged = line();
        const response = await readHead(open(gateway.url + path));
        let read = 0;
        for await (const chunk of response) {
          if (read % (8 * 1024 * 1024) < chunk.length) await new Promise((resolve) => setTimeout(resolve, 100));
          read += chunk.length;
        }
        expect(read).to.equal(bytes);
        expect((await logged).err).to.equal(undefined);
      }).timeout(60_000);
    });
  });
}
