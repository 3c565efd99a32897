import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { findHeaderProblem, securityHeaders } from '../../lib/http/headers.ts';

describe('headers', () => {
  it('send HSTS if clients use https', () => {
    const plain = { 'x-content-type-options': 'nosniff' };
    const secure = { ...plain, 'strict-transport-security': 'max-age=31536000' };
    for (const [publicUrl, headers] of [
      ['https://ai.example.com', secure],
      ['HTTPS://ai.example.com/base', secure],
      ['http://ai.example.com', plain],
      ['http://127.0.0.1:8080', plain],
      ['', plain],
    ] as const) {
      expect(securityHeaders(publicUrl), publicUrl).to.deep.equal(headers);
    }
  });

  /** `host` and `transfer-encoding` as Node gives them. */
  const problem = (lines: readonly string[], httpVersion = '1.1') => {
    const rawHeaders = lines.flatMap((line) => line.split(': ', 2));
    const headers = Object.fromEntries(
      lines.map((line) => [line.split(': ', 1)[0]?.toLowerCase(), line.split(': ')[1]] as const),
    );
    return findHeaderProblem({ rawHeaders, headers, httpVersion } as unknown as IncomingMessage);
  };

  for (const host of [
    ...['x', 'ai.example.com', 'a_b.example:8080', '127.0.0.1:80', '[::1]:8080', '[2001:db8::1]', 'x:', ''],
    'xn--e1afmkfd.xn--p1ai',
  ]) {
    it(`accept the host ${JSON.stringify(host)}`, () => {
      expect(problem([`Host: ${host}`])).to.equal(undefined);
    });
  }

  for (const host of ['a b', 'a/b', 'a@b', 'a?b', 'a#b', 'a, b', 'a:b', '[::1', 'http://a', 'пример.рф']) {
    it(`refuse the host ${JSON.stringify(host)}`, () => {
      expect(problem([`host: ${host}`])).to.equal('its host header is not a host');
    });
  }

  it('need a host, except in HTTP/1.0', () => {
    expect(problem(['accept: x'])).to.equal('it has no host header');
    expect(problem(['accept: x'], '1.0')).to.equal(undefined);
  });

  it('need a supported HTTP version', () => {
    for (const version of ['0.9', '2.0']) {
      expect(problem(['host: x'], version)).to.equal(`it is HTTP/${version}, not HTTP/1.1`);
    }
    expect(problem(['host: x'], '1.0')).to.equal(undefined);
  });

  it('accept only chunked as the transfer encoding, and only in HTTP/1.1', () => {
    const unsupported = 'its transfer-encoding is not supported';
    for (const [coding, version, expected] of [
      ['chunked', '1.1', undefined],
      ['Chunked', '1.1', undefined],
      ['chunked', '1.0', unsupported],
      ['gzip, chunked', '1.1', unsupported],
      ['identity', '1.1', unsupported],
    ] as const) {
      expect(problem(['host: x', `transfer-encoding: ${coding}`], version), coding).to.equal(expected);
    }
  });

  it('need a body of a plausible length', () => {
    expect(problem(['host: x', `content-length: ${Number.MAX_SAFE_INTEGER}`])).to.equal(undefined);
    for (const length of ['9007199254740992', '9'.repeat(30)]) {
      expect(problem(['host: x', `content-length: ${length}`])).to.equal('its content-length is not plausible');
    }
  });

  it('are refused if one comes twice that proxies may read differently, in any letter case', () => {
    expect(problem(['host: x', 'authorization: a', 'Authorization: b'])).to.equal('it has two authorization headers');
    expect(problem(['host: x', 'accept: host', 'accept: host'])).to.equal(undefined);
  });

  it('may repeat headers that are lists', () => {
    const lists = ['accept: a', 'accept: b', 'x-forwarded-for: 1.1.1.1', 'x-forwarded-for: 2.2.2.2', 'cookie: a=b'];
    expect(problem(['host: x', ...lists, 'cookie: c=d', 'via: a', 'via: b'])).to.equal(undefined);
  });
});
