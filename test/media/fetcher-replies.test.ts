import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { createAuthority } from '../../testkit/certificates.ts';
import { type Answer, flood, reply } from './network.ts';
import * as files from './sample-images.ts';
import { createStage, drip, imageReply, MIB, type Refusal, unmeasured } from './stage.ts';

const REFUSED: Refusal = { code: 'image_refused' };
const UNSUPPORTED: Refusal = { code: 'image_unsupported' };
const TOO_LARGE: Refusal = { code: 'image_too_large' };
const BROKEN: Refusal = { code: 'image_unreachable', reason: 'broken' };
const SLOW: Refusal = { code: 'image_unreachable', reason: 'slow' };
const NO_CONNECTION: Refusal = { code: 'image_unreachable', reason: 'no-connection' };
const UNKNOWN_HOST: Refusal = { code: 'image_unreachable', reason: 'unknown-host' };

const called = (contentType: string, body: Buffer) => imageReply(body, { 'content-type': contentType });
const withHeaders = (headers: Parameters<typeof reply>[0]['headers'] = {}, body: Buffer | string = files.PNG) =>
  reply({ headers, body });
const raw = (text: string): Answer => {
  return (socket) => socket.write(text);
};

const REPLIES: readonly (readonly [string, Refusal, Answer])[] = [
  ['part of a file', REFUSED, reply({ status: 206, headers: { 'content-range': 'bytes 0-9/99' }, body: files.PNG })],
  ['an empty success', REFUSED, reply({ status: 204, headers: { 'content-length': [] } })],
  ['another success', REFUSED, reply({ status: 201, body: files.PNG })],
  ['a file that is not there', REFUSED, reply({ status: 404, body: files.PNG })],
  ['a failure', REFUSED, reply({ status: 500 })],
  ['not modified', REFUSED, reply({ status: 304 })],
  ['a choice', REFUSED, reply({ status: 300, headers: { location: '/x' } })],

  ['gzip', REFUSED, withHeaders({ 'content-encoding': 'gzip' }, gzipSync(files.PNG))],
  ['plain bytes called gzip', REFUSED, withHeaders({ 'content-encoding': 'x-gzip' })],
  ['two encodings', REFUSED, withHeaders({ 'content-encoding': ['identity', 'br'] })],
  ['gzip that was uploaded in pieces', REFUSED, withHeaders({ 'content-encoding': 'gzip, aws-chunked' })],
  ['gzip as a transfer', REFUSED, withHeaders({ 'transfer-encoding': 'gzip, chunked' }, '0\r\n\r\n')],
  ['gzip that nobody declared', UNSUPPORTED, imageReply(gzipSync(files.png({ width: 300 })))],

  ['SVG', UNSUPPORTED, called('image/svg+xml', files.SVG)],
  ['SVG called PNG', UNSUPPORTED, called('image/png', files.SVG)],
  ['PNG called SVG', UNSUPPORTED, called('IMAGE/SVG+XML; charset=utf-8', files.PNG)],
  ['HTML', UNSUPPORTED, called('text/html', files.HTML)],
  ['GIF called HTML', UNSUPPORTED, called('text/html', files.GIF)],
  ['PNG called JSON', UNSUPPORTED, called('application/json', files.PNG)],
  ['PNG called a film', UNSUPPORTED, called('video/mp4', files.PNG)],
  ['a film', UNSUPPORTED, called('image/png', files.MP4)],
  ['a PNG behind a PDF', UNSUPPORTED, imageReply(Buffer.concat([Buffer.from('%PDF-1.7\n'), files.PNG]))],
  ['a JPEG behind HTML', UNSUPPORTED, imageReply(Buffer.concat([files.HTML, files.JPEG]))],
  ['nothing', UNSUPPORTED, imageReply(Buffer.alloc(0))],
  ['some bytes', UNSUPPORTED, imageReply(files.PNG.subarray(0, 5))],

  ['a declared byte too many', TOO_LARGE, reply({ headers: { 'content-length': 8 * MIB + 1 }, end: false })],
  ['a length beyond numbers', TOO_LARGE, reply({ headers: { 'content-length': '9'.repeat(18) }, end: false })],
  ['a byte too many', TOO_LARGE, unmeasured(files.png({ bytes: 8 * MIB + 1 }))],

  ['less than was declared', BROKEN, withHeaders({ 'content-length': 1000 })],
  ['a negative length', BROKEN, withHeaders({ 'content-length': -5 })],
  ['a length that is no number', BROKEN, withHeaders({ 'content-length': '1e3' })],
  ['two lengths', BROKEN, withHeaders({ 'content-length': ['70', '71'] })],
  ['a length and chunks', BROKEN, withHeaders({ 'content-length': 5, 'transfer-encoding': 'chunked' })],
  ['chunks that end too early', BROKEN, withHeaders({ 'transfer-encoding': 'chunked' }, '5\r\nabc')],
  ['chunks of nonsense', BROKEN, withHeaders({ 'transfer-encoding': 'chunked' }, 'zz\r\n')],
  ['what is not HTTP', BROKEN, raw('220 mail.images.net ESMTP\r\n')],
  ['endless headers', BROKEN, raw(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(MIB)}`)],
  ['a change of the protocol', BROKEN, raw('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')],
  ['a reset at once', BROKEN, (socket) => socket.destroy()],
  ['a reset in the middle', BROKEN, (socket) => socket.write(HEAD, () => socket.destroy())],

  ['an answer that never comes', SLOW, () => {}],
  ['hints without an answer', SLOW, raw('HTTP/1.1 103 Early Hints\r\n\r\n')],
  ['a body that stalls', SLOW, reply({ headers: { 'content-length': 1000 }, body: files.PNG, end: false })],
  ['a body that drips', SLOW, drip],
];

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n123';

describe('media fetcher refuses', () => {
  const { network, serve, refused } = createStage();

  for (const [name, refusal, answer] of REPLIES) {
    it(`${name}: ${refusal.reason ?? refusal.code}`, async () => {
      const limits = { imageMs: refusal === SLOW ? 500 : 10_000 };
      await refused(await serve(answer), refusal, { limits });
      expect(network.dialled).to.have.length(1);
    });
  }

  it('replies declared as another type or too large, and closes the connection without reading them', async () => {
    for (const [headers, refusal] of [
      [{ 'content-type': 'text/html', 'content-length': 999 }, UNSUPPORTED],
      [{ 'content-length': 9 * MIB }, TOO_LARGE],
      [{ 'content-encoding': 'gzip', 'content-length': 999 }, REFUSED],
    ] as const) {
      const closed = Promise.withResolvers<void>();
      const answer = reply({ headers, body: files.PNG, end: false });
      const url = await serve((socket, head) => {
        socket.on('close', closed.resolve);
        answer(socket, head);
      });
      await refused(url, refusal, { limits: { imageMs: 10_000 } });
      await closed.promise;
    }
  });

  it('an endless video after its first bytes', async () => {
    const film = flood(files.MP4, Buffer.alloc(64 * 1024, 7), 64 * MIB);
    await refused(await serve(film.answer), UNSUPPORTED, { limits: { imageMs: 10_000 } });
    expect(film.sent()).to.be.below(16 * MIB);
  });

  it('unreachable hosts', async () => {
    network.names.set('closed.images.net', [network.nextAddress()]);
    await refused('https://closed.images.net/secret', NO_CONNECTION);
    await refused('https://unknown.images.net/secret', UNKNOWN_HOST);
    network.names.set('empty.images.net', []);
    await refused('https://empty.images.net/secret', UNKNOWN_HOST);
  });

  it('slow hosts and resolvers', async () => {
    const address = network.nextAddress();
    network.silence(address);
    network.names.set('silent.images.net', [address]);
    network.names.set('slow.images.net', () => new Promise(() => {}));
    const limits = { imageMs: 150 };
    await refused('https://silent.images.net/secret', SLOW, { limits });
    await refused('https://slow.images.net/secret', SLOW, { limits });
  });

  it('wrong certificates and non-TLS servers, before sending a request', async () => {
    const otherName = await serve(imageReply(), { certificate: ['other.net'] });
    await refused(otherName, NO_CONNECTION);
    await refused(await serve(imageReply(), { certificate: 'none', port: 443 }), NO_CONNECTION);
    await refused(await serve(imageReply()), NO_CONNECTION, { ca: createAuthority().ca });
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      await refused(otherName, NO_CONNECTION);
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
    expect(network.heads.filter((head) => head.startsWith('GET'))).to.deep.equal([]);
  });
});
