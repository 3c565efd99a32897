import { expect } from 'chai';
import { readOrigins } from '../../lib/media/url.ts';
import { itLong } from '../../testkit/long.ts';
import { itTimed } from '../../testkit/timed.ts';
import { redirect, reply } from './network.ts';
import * as files from './sample-images.ts';
import { chunked, createStage, imageReply, MIB, unmeasured } from './stage.ts';

describe('media fetcher', () => {
  const { network, serve, fetchImage, refused } = createStage();

  it('fetches an image over a verified connection to the checked address', async () => {
    const url = await serve(imageReply(files.PNG, { 'content-type': 'image/png' }));
    const { bytes, ...image } = await fetchImage(`${url}#part`);
    expect(bytes.equals(files.PNG)).to.equal(true);
    expect(image).to.deep.include({ format: 'png', mediaType: 'image/png', size: { width: 2, height: 3 } });
    const { host } = new URL(url);
    expect([network.resolved, network.dialled]).to.deep.equal([[host], [`${network.names.get(host)}:443`]]);
    const [first, ...lines] = (network.heads[0] ?? '').trimEnd().split('\r\n');
    expect(first).to.equal('GET /secret-path.png?secret=1 HTTP/1.1');
    expect(lines).to.have.members([
      `host: ${host}`,
      'connection: close',
      'accept: */*',
      'accept-encoding: identity',
      'user-agent: tollgate',
    ]);
  });

  it('detects the four formats from the bytes', async () => {
    const kinds: readonly (readonly [Buffer, string, string])[] = [
      [files.JPEG, 'image/png', 'image/jpeg'],
      [files.GIF, 'application/octet-stream', 'image/gif'],
      [files.WEBP_LOSSY, 'binary/octet-stream', 'image/webp'],
      [files.PNG, 'image/jpg; charset=binary', 'image/png'],
    ];
    for (const [bytes, declared, mediaType] of kinds) {
      const image = await fetchImage(await serve(imageReply(bytes, { 'content-type': declared })));
      expect([image.mediaType, image.bytes.equals(bytes)]).to.deep.equal([mediaType, true]);
    }
  });

  it('waits for enough bytes to detect the format', async () => {
    const url = await serve((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${files.PNG.length}\r\n\r\n`);
      socket.write(files.PNG.subarray(0, 3), () => setTimeout(() => socket.end(files.PNG.subarray(3)), 20));
    });
    expect((await fetchImage(url)).mediaType).to.equal('image/png');
  });

  itLong('accepts exactly 8 MiB, with a length, in chunks, or until the connection ends', async () => {
    const bytes = files.png({ bytes: 8 * MIB });
    const ways = [imageReply(bytes), chunked(bytes), unmeasured(bytes)];
    for (const answer of ways) {
      const image = await fetchImage(await serve(answer), { limits: { imageMs: 10_000 } });
      expect(image.bytes.equals(bytes)).to.equal(true);
    }
  });

  describe('never connects to internal addresses', () => {
    it('if a name has an internal address, alone or among public ones', async () => {
      const inner = [
        '127.0.0.1',
        '10.0.0.1',
        '169.254.169.254',
        '192.168.1.1',
        '0.0.0.0',
        '100.64.0.1',
        '::1',
        'fd00::1',
      ];
      const more = [
        'fe80::1',
        '::ffff:127.0.0.1',
        '64:ff9b::a00:1',
        '2002:7f00:1::',
        '2001:0:1::1',
        'fe80::1%lo',
        'nonsense',
      ];
      for (const address of [...inner, ...more]) {
        for (const answer of [[address], ['93.184.216.34', address], [address, '2606:4700::1']]) {
          network.names.set('inner.images.net', answer);
          await refused('https://inner.images.net/secret', { code: 'image_unreachable' }, { limits: { stepMs: 1 } });
        }
      }
      expect(network.dialled).to.deep.equal([]);
    });

    it('if a second resolution of the name would differ: it is resolved once', async () => {
      const url = await serve(imageReply());
      const { host } = new URL(url);
      const [address = ''] = network.names.get(host) as readonly string[];
      let asked = 0;
      network.names.set(host, async () => [[address], ['127.0.0.1']][asked++] ?? []);
      await fetchImage(url);
      expect([asked, network.dialled]).to.deep.equal([1, [`${address}:443`]]);
      await refused(url, { code: 'image_unreachable' });
      expect(network.dialled).to.have.length(1);
    });

    const INNER_TARGETS = [
      'https://127.0.0.1/secret',
      'https://[::1]/secret',
      'https://2130706433/secret',
      'https://localhost/secret',
      'https://metadata.google.internal/secret',
      'https://169.254.169.254/latest/meta-data',
      'https://[::ffff:169.254.169.254]/',
      'https://inner-name.images.net/secret',
      'http://public-name.images.net/secret',
      'https://public-name.images.net:8443/secret',
      'https://user:secret@public-name.images.net/',
      'ftp://public-name.images.net/',
      'file:///etc/passwd',
      'data:image/png;base64,iVBORw0KGgo=',
      '//127.0.0.1/secret',
      '//10.0.0.1\\@public-name.images.net/',
      `https://public-name.images.net/${'x'.repeat(2100)}`,
    ];
    for (const location of INNER_TARGETS) {
      it(`if a public host redirects to ${location.slice(0, 60)}`, async () => {
        network.names.set('inner-name.images.net', ['10.0.0.7']);
        network.names.set('public-name.images.net', [network.nextAddress()]);
        await refused(await serve(redirect(location)), { code: 'image_unreachable' });
        expect(network.dialled).to.have.length(1);
      });
    }
  });

  describe('redirects', () => {
    /** A chain of so many redirects before the image. */
    async function chain(hops: number): Promise<string> {
      let url = await serve(imageReply());
      for (let hop = 0; hop < hops; hop++) url = await serve(redirect(url, [301, 302, 303, 307, 308][hop]));
      return url;
    }

    it('are followed three times, each with its own resolution and connection', async () => {
      expect((await fetchImage(await chain(3))).format).to.equal('png');
      expect([network.resolved.length, network.dialled.length]).to.deep.equal([4, 4]);
    });

    it('are not followed a fourth time', async () => {
      await refused(await chain(4), { code: 'image_refused' });
      expect(network.dialled).to.have.length(4);
    });

    it('end if they loop', async () => {
      const url = await serve((socket, head) => redirect(url)(socket, head));
      await refused(url, { code: 'image_refused' });
      expect(network.dialled).to.have.length(4);
    });

    it('may be relative', async () => {
      const url = await serve((socket, head) =>
        (head.startsWith('GET /a/b.png') ? imageReply() : redirect('../a/b.png'))(socket, head),
      );
      expect((await fetchImage(url)).format).to.equal('png');
      expect(network.dialled).to.have.length(2);
    });

    for (const [name, headers] of [
      ['without a target', {}],
      ['with two targets', { location: ['https://a.images.net/', 'https://b.images.net/'] }],
      ['to nonsense', { location: 'https://[' }],
    ] as const) {
      it(`${name} are refused`, async () => {
        await refused(await serve(reply({ status: 302, headers })), { code: 'image_refused' });
        expect(network.dialled).to.have.length(1);
      });
    }

    it('do not carry cookies', async () => {
      const target = await serve(imageReply());
      await fetchImage(await serve(reply({ status: 302, headers: { location: target, 'set-cookie': 'a=b; path=/' } })));
      expect(network.heads).to.have.length(2);
      expect(network.heads.join('')).not.to.match(/cookie|referer|authorization/i);
    });
  });

  it('tries the next address of a name if one does not answer', async () => {
    const url = await serve(imageReply());
    const { host } = new URL(url);
    const closed = network.nextAddress();
    network.names.set(host, [closed, ...(network.names.get(host) as readonly string[])]);
    expect((await fetchImage(url)).format).to.equal('png');
    expect(network.dialled).to.have.length(2);
    const many = Array.from({ length: 20 }, () => network.nextAddress());
    network.names.set('many.images.net', many);
    network.forget();
    await refused('https://many.images.net/secret', { code: 'image_unreachable' });
    expect(network.dialled).to.deep.equal(many.slice(0, 3).map((address) => `${address}:443`));
  });

  it('names the host to its server, which may have a certificate for each', async () => {
    await network.host('named.images.net', imageReply());
    network.forget();
    await fetchImage('https://named.images.net/x.png');
    expect(network.serverNames).to.deep.equal(['named.images.net']);
  });

  it('verifies the certificate of a host given as an address', async () => {
    const address = await network.host('x.images.net', imageReply(), {
      certificate: ['93.184.216.250'],
      address: '93.184.216.250',
    });
    network.forget();
    expect((await fetchImage(`https://${address}/x.png`)).format).to.equal('png');
    expect(network.serverNames).to.deep.equal([false]);
    const other = await network.host('y.images.net', imageReply(), {
      certificate: ['y.images.net'],
      address: '93.184.216.251',
    });
    await refused(`https://${other}/secret`, { code: 'image_unreachable' });
    expect(network.resolved).to.deep.equal([]);
  });

  it('requests trusted origins without checks, and no others', async () => {
    await network.host('minio', imageReply(), { certificate: 'none', address: '10.0.0.5', port: 9000 });
    const options = { trustedOrigins: readOrigins('http://minio:9000') };
    expect((await fetchImage('http://minio:9000/x.png', options)).format).to.equal('png');
    expect(network.dialled).to.deep.equal(['10.0.0.5:9000']);
    network.forget();
    expect((await fetchImage(await serve(redirect('http://minio:9000/x.png')), options)).format).to.equal('png');
    network.forget();
    await refused(await serve(redirect('http://minio:9001/x.png')), { code: 'image_unreachable' }, options);
    await refused(await serve(redirect('http://minio:9000/x.png')), { code: 'image_unreachable' });
  });

  itTimed(
    'says in the same words and at the same time that a host is not public, not found or closed',
    async function () {
      // The machine may be too busy to keep time.
      this.retries(2);
      network.names.set('inner.images.net', ['10.0.0.1']);
      network.names.set('closed.images.net', [network.nextAddress()]);
      network.names.set('later.images.net', () => new Promise((resolve) => setTimeout(resolve, 120, ['10.0.0.1'])));
      const toInner = await serve(redirect('https://inner.images.net/'));
      const urls = ['inner', 'unknown', 'closed', 'later'].map((name) => `https://${name}.images.net/`);
      const outcomes = await Promise.all(
        [...urls, toInner, 'https://127.0.0.1/', 'https://intranet/'].map(async (url) => {
          const startedAt = performance.now();
          const error: unknown = await fetchImage(url, { limits: { stepMs: 1_000 } }).catch((thrown) => thrown);
          return { ms: performance.now() - startedAt, message: String(error) };
        }),
      );
      expect(new Set(outcomes.map(({ message }) => message)).size).to.equal(1);
      for (const { ms } of outcomes) expect(ms).to.be.within(995, 1_400);
    },
  );

  it('refuses a malformed URL at once and resolves nothing', async () => {
    await refused('http://a.images.net/secret', { code: 'invalid_field' }, { limits: { stepMs: 60_000 } });
    expect(network.resolved).to.deep.equal([]);
  });

  itTimed('ends at once when the call does, including its connections', async () => {
    let closed = 0;
    const url = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n');
      socket.on('close', () => closed++);
      setTimeout(() => call.abort(new Error('the client left')), 20);
    });
    const call = new AbortController();
    const startedAt = performance.now();
    const options = { limits: { imageMs: 60_000, stepMs: 60_000 } };
    const thrown: unknown = await fetchImage(url, { ...options, signal: call.signal }).catch((error) => error);
    expect(String(thrown)).to.equal('Error: the client left');
    expect(performance.now() - startedAt).to.be.below(5_000);
    while (closed === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const early: unknown = await fetchImage(url, { ...options, signal: call.signal }).catch((error) => error);
    expect(String(early)).to.equal('Error: the client left');
  });

  it('ends at once while it delays a failure', async () => {
    const call = new AbortController();
    setTimeout(() => call.abort(new Error('the client left')), 50);
    const limits = { imageMs: 60_000, stepMs: 60_000 };
    const thrown: unknown = await fetchImage('https://10.0.0.1/', { limits, signal: call.signal }).catch(
      (error) => error,
    );
    expect(String(thrown)).to.equal('Error: the client left');
  });

  it('sends an IPv6 host in brackets', async () => {
    await network.host('', imageReply(), { certificate: 'none', address: '::1', port: 8080 });
    const options = { trustedOrigins: readOrigins('http://[::1]:8080') };
    expect((await fetchImage('http://[::1]:8080/x.png', options)).format).to.equal('png');
    expect(network.dialled).to.deep.equal(['::1:8080']);
    expect(network.heads.join()).to.contain('host: [::1]:8080\r\n');
  });
});
