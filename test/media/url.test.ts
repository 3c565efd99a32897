import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { isPublicAddress } from '../../lib/media/address.ts';
import { checkText, readOrigins, readUrl, type UrlRefusal, type UrlRules, urlFault } from '../../lib/media/url.ts';
import { itTimed } from '../../testkit/timed.ts';
import { HOSTILE_URLS } from './hostile-urls.ts';

/** 253 characters. */
const LONGEST = `${['a', 'b', 'c'].map((letter) => letter.repeat(63)).join('.')}.${'d'.repeat(57)}.com`;

const HARMLESS: readonly (readonly [url: string, origin: string, host: string, path: string])[] = [
  ['https://example.com', 'https://example.com', 'example.com', '/'],
  ['https://example.com/', 'https://example.com', 'example.com', '/'],
  ['https://example.com:443/x.png', 'https://example.com', 'example.com', '/x.png'],
  ['HTTPS://EXAMPLE.COM/X.PNG', 'https://example.com', 'example.com', '/X.PNG'],
  ['https://example.com?a=b', 'https://example.com', 'example.com', '/?a=b'],
  ['https://example.com/x.png?a=b&c=%2F@:#part', 'https://example.com', 'example.com', '/x.png?a=b&c=%2F@:'],
  ['https://example.com/a/../b/./c', 'https://example.com', 'example.com', '/b/c'],
  ['https://example.com//127.0.0.1/', 'https://example.com', 'example.com', '//127.0.0.1/'],
  ['https://example.com/http://127.0.0.1/', 'https://example.com', 'example.com', '/http://127.0.0.1/'],
  ['https://example.com/@127.0.0.1/', 'https://example.com', 'example.com', '/@127.0.0.1/'],
  ['https://example.com/кот.png', 'https://example.com', 'example.com', '/%D0%BA%D0%BE%D1%82.png'],
  ['https://xn--e1afmkfd.xn--p1ai/x', 'https://xn--e1afmkfd.xn--p1ai', 'xn--e1afmkfd.xn--p1ai', '/x'],
  ['https://my_bucket.s3.example.org/x', 'https://my_bucket.s3.example.org', 'my_bucket.s3.example.org', '/x'],
  ['https://localhost.example.com/x', 'https://localhost.example.com', 'localhost.example.com', '/x'],
  ['https://local.dev/x', 'https://local.dev', 'local.dev', '/x'],
  ['https://127.0.0.1.nip.io/x', 'https://127.0.0.1.nip.io', '127.0.0.1.nip.io', '/x'],
  ['https://1.com/x', 'https://1.com', '1.com', '/x'],
  ['https://8.8.8.8/x', 'https://8.8.8.8', '8.8.8.8', '/x'],
  ['https://[2606:4700:4700::1111]/x', 'https://[2606:4700:4700::1111]', '2606:4700:4700::1111', '/x'],
  ['https://[2606:4700:4700:0:0:0:0:1111]:443/', 'https://[2606:4700:4700::1111]', '2606:4700:4700::1111', '/'],
  ['https://[2A00:1450:4001::8.8.8.8]/', 'https://[2a00:1450:4001::808:808]', '2a00:1450:4001::808:808', '/'],
  [`https://example.com/${'a'.repeat(2028)}`, 'https://example.com', 'example.com', `/${'a'.repeat(2028)}`],
  [`https://${'a'.repeat(63)}.com/`, `https://${'a'.repeat(63)}.com`, `${'a'.repeat(63)}.com`, '/'],
  [`https://${LONGEST}/`, `https://${LONGEST}`, LONGEST, '/'],
];

const PUBLIC_ADDRESSES = `
  1.0.0.0 1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255
  169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.167.255.255 192.169.0.0 198.17.255.255
  198.20.0.0 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255 168.63.129.15 168.63.129.17
  2000::1 2001:200::1 2001:4860:4860::8888 2003::1 2400:cb00::1 2606:4700::1 2620:4f:8001::1 2a00:1450::1 2c0f::1 3ffd::1
  3ffe:: 3fff:1000::1
`;

describe('media url', () => {
  it(`is tested with hundreds of hostile cases`, () => {
    const urls = HOSTILE_URLS.map(([url]) => url);
    expect(new Set(urls).size).to.equal(urls.length).and.to.be.at.least(300);
  });

  for (const [url, refusal] of HOSTILE_URLS) {
    itTimed(`refuses ${JSON.stringify(url.slice(0, 80))} by its ${refusal}`, () => {
      const startedAt = performance.now();
      expect(readUrl(url)).to.equal(refusal);
      expect(performance.now() - startedAt).to.be.below(200);
    });
  }

  for (const [url, origin, host, path] of HARMLESS) {
    it(`accepts ${url.slice(0, 80)}`, () => {
      expect(readUrl(url)).to.deep.equal({ origin, host, path, secure: true, port: 443, trusted: false });
    });
  }

  it('names the field and the mistake, with one message for all hosts that are not public, and never the URL', () => {
    const messages = HOSTILE_URLS.map(([url, refusal]) => {
      expect(readUrl(url)).to.equal(refusal);
      const thrown = urlFault(refusal, 'FIELD');
      expect(thrown.output.statusCode).to.equal(400);
      const code = refusal === 'not-public' ? 'image_unreachable' : 'invalid_field';
      expect([thrown.data?.code, thrown.data?.detail.field]).to.deep.equal([code, 'FIELD']);
      if (code === 'invalid_field') expect(thrown.message).to.contain('must be a');
      return `${refusal}: ${thrown.message}`;
    });
    // One for each reason: nothing of a URL is in any of them.
    expect(new Set(messages).size).to.equal(7);
  });

  it('refuses by the text alone what no rule could allow', () => {
    const texts = [
      'ftp://a.com',
      'https://a@b.com',
      'https://a.com/ b',
      `https://a.com/${'x'.repeat(2048)}`,
      'https://я.com',
    ];
    for (const text of texts) {
      expect(() => checkText(text, 'FIELD'))
        .to.throw(urlFault(readUrl(text) as UrlRefusal, 'FIELD').message)
        .with.nested.property('data.detail.field', 'FIELD');
    }
    for (const text of ['http://a.com:8080', 'https://127.0.0.1/', 'https://example.com/x.png'])
      checkText(text, 'FIELD');
  });

  it('knows the boundaries of public address ranges', () => {
    const addresses = PUBLIC_ADDRESSES.trim().split(/\s+/);
    const last = addresses.splice(addresses.indexOf('3ffe::'), 1);
    expect(addresses.filter((address) => !isPublicAddress(address))).to.deep.equal([]);
    for (const address of [...last, '', 'example.com', '2606:4700::1%eth0', '8.8.8', '08.8.8.8', '0x8.8.8.8']) {
      expect(isPublicAddress(address), address).to.equal(false);
    }
  });

  describe('with trusted origins', () => {
    const rules: UrlRules = {
      trustedOrigins: readOrigins(
        'http://127.0.0.1:9000, https://minio.local ,http://[::1]:8080,,https://img.example.com:8443/',
      ),
    };

    it('accepts their scheme, port and address', () => {
      const trusted = { trusted: true, path: '/x' };
      expect(readUrl('http://127.0.0.1:9000/x', rules)).to.deep.equal({
        ...trusted,
        origin: 'http://127.0.0.1:9000',
        secure: false,
        host: '127.0.0.1',
        port: 9000,
      });
      const others = ['https://minio.local/x', 'https://MINIO.local:443/x', 'http://[::1]:8080/x'];
      const targets = [...others, 'https://img.example.com:8443/x'].map((url) => readUrl(url, rules));
      expect(targets.map((target) => typeof target === 'object' && [target.host, target.port])).to.deep.equal([
        ['minio.local', 443],
        ['minio.local', 443],
        ['::1', 8080],
        ['img.example.com', 8443],
      ]);
    });

    const STILL_REFUSED: readonly (readonly [string, string])[] = [
      ['http://127.0.0.1/x', 'scheme'],
      ['https://127.0.0.1:9000/x', 'port'],
      ['http://127.0.0.1:9001/x', 'scheme'],
      ['http://127.0.0.2:9000/x', 'scheme'],
      ['http://minio.local/x', 'scheme'],
      ['https://sub.minio.local/x', 'not-public'],
      ['https://img.example.com:8444/x', 'port'],
      ['http://user@127.0.0.1:9000/x', 'credentials'],
      ['http://127.0.0.1:9000@evil.org/x', 'credentials'],
      ['http://127.0.0.1:9000\\@evil.org/x', 'characters'],
      ['http://127.0.0.1:9000.evil.org/x', 'host'],
      ['http:127.0.0.1:9000/x', 'scheme'],
      [`http://127.0.0.1:9000/${'x'.repeat(2048)}`, 'length'],
    ];
    for (const [url, refusal] of STILL_REFUSED) {
      it(`refuses ${url.slice(0, 60)} by its ${refusal}`, () => expect(readUrl(url, rules)).to.equal(refusal));
    }

    it('accepts exact origins only', () => {
      for (const bad of [
        'minio.local',
        'http://a.com/x',
        'ftp://a.com',
        'http://u@a.com',
        'http://a.com?x',
        'https://',
      ]) {
        expect(() => readOrigins(`https://b.com,${bad}`), bad).to.throw(
          OperatorError,
          /^IMAGE_TRUSTED_ORIGINS: not an origin /,
        );
      }
      expect(() => readOrigins('x', 'WEBHOOK_TRUSTED_ORIGINS')).to.throw(
        OperatorError,
        /^WEBHOOK_TRUSTED_ORIGINS: not/,
      );
      expect([...readOrigins('')]).to.deep.equal([]);
    });
  });

  it("is refused on the gateway's own host", () => {
    const rules: UrlRules = {
      ownOrigin: 'https://api.example.com',
      trustedOrigins: new Set(['https://api.example.com']),
    };
    expect(readUrl('https://api.example.com/x', rules)).to.equal('not-public');
    expect(readUrl('https://API.example.com:443/x', rules)).to.equal('not-public');
    expect(readUrl('https://api.example.com/x', { ownOrigin: 'http://api.example.com:8080' })).to.equal('not-public');
    expect(readUrl('https://other.example.com/x', rules)).to.be.an('object');
    const beside = { ownOrigin: 'http://127.0.0.1:8080', trustedOrigins: readOrigins('http://127.0.0.1:9000') };
    expect(readUrl('http://127.0.0.1:8080/x', beside)).to.equal('not-public');
    expect(readUrl('http://127.0.0.1:9000/x', beside)).to.be.an('object');
  });

  it('may be longer if the caller allows it', () => {
    const url = `https://example.com/${'a'.repeat(4000)}`;
    expect(readUrl(url)).to.equal('length');
    expect(readUrl(url, { lengthMax: 8192 })).to.be.an('object');
  });

  it('is asked for in place of an image in plain base64, however long', () => {
    for (const length of [400, 40_000]) expect(readUrl('iVBORw0KGgo'.repeat(length))).to.equal('scheme');
  });
});
