// Codes of an authenticator app against the vectors of RFC 6238, and each for one use only.
import { expect } from 'chai';
import {
  findCodeStep,
  hashRecoveryCode,
  isRecoveryCode,
  makeRecoveryCodes,
  makeTotpSecret,
  totpUrl,
} from '../../lib/users/totp.ts';

/** `12345678901234567890` of RFC 6238, appendix B; the last six of its eight digits. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const VECTORS = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_234_567_890, '005924'],
  [20_000_000_000, '353130'],
] as const;

describe('codes of an authenticator app', () => {
  for (const [seconds, code] of VECTORS) {
    it(`${code} is right at ${seconds} s`, () => {
      const step = Math.floor(seconds / 30);
      expect(findCodeStep(SECRET, code, { now: seconds * 1000, lastStep: -1 })).to.equal(step);
    });
  }

  it('cannot be checked while their secret is encrypted, and that says which setting to check', () => {
    const check = () => findCodeStep('enc:v1:0a1b2c3d:c2VhbGVk', '287082', { now: 59_000, lastStep: -1 });
    expect(check).to.throw('check SECRETS_KEY');
  });

  it('are accepted one step early or late, but not two', () => {
    const at = (now: number) => findCodeStep(SECRET, '287082', { now, lastStep: -1 });
    expect([at(29_000), at(89_000)]).to.deep.equal([1, 1]);
    expect([at(90_000), at(1_000_000)]).to.deep.equal([undefined, undefined]);
  });

  it('are valid once, and no earlier code after it', () => {
    expect(findCodeStep(SECRET, '287082', { now: 59_000, lastStep: 0 })).to.equal(1);
    expect(findCodeStep(SECRET, '287082', { now: 59_000, lastStep: 1 })).to.equal(undefined);
    expect(findCodeStep(SECRET, '287082', { now: 59_000, lastStep: 2 })).to.equal(undefined);
  });

  it('may be typed in groups, but must be six digits', () => {
    expect(findCodeStep(SECRET, ' 287 082 ', { now: 59_000, lastStep: -1 })).to.equal(1);
    for (const text of ['', '28708', '2870822', '28708a', '-87082', '２８７０８２']) {
      expect(findCodeStep(SECRET, text, { now: 59_000, lastStep: -1 }), text).to.equal(undefined);
    }
  });

  it('have a secret of 160 bits that an app can read', () => {
    const secret = makeTotpSecret();
    expect(secret).to.match(/^[A-Z2-7]{32}$/);
    expect(makeTotpSecret()).not.to.equal(secret);
    const url = new URL(totpUrl(secret, 'ann@example.com'));
    expect([url.protocol, url.host, decodeURIComponent(url.pathname)]).to.deep.equal([
      'otpauth:',
      'totp',
      '/Tollgate:ann@example.com',
    ]);
    expect(url.searchParams.get('secret')).to.equal(secret);
  });
});

describe('recovery codes', () => {
  it('are ten different codes, with the same hash however they are typed', () => {
    const codes = makeRecoveryCodes();
    expect(new Set(codes).size).to.equal(10);
    for (const code of codes) {
      expect(code).to.match(/^[0-9a-z]{5}-[0-9a-z]{5}$/);
      expect(isRecoveryCode(code)).to.equal(true);
      expect(hashRecoveryCode(` ${code.toUpperCase().replace('-', ' ')}`)).to.equal(hashRecoveryCode(code));
    }
    expect(isRecoveryCode('287082')).to.equal(false);
  });
});
