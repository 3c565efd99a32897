// Keys: their format, their randomness, and that a mistyped one is told without a look-up.
import { hash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { hashKey, isWellFormedKey, makeKey } from '../../lib/accounts/key.ts';
import { itTimed } from '../../testkit/timed.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function fromBase62(text: string): bigint {
  return [...text].reduce((value, digit) => value * 62n + BigInt(ALPHABET.indexOf(digit)), 0n);
}

describe('key', () => {
  for (const prefix of ['tg-', '', 'acme-prod-']) {
    it(`has the promised format with the prefix '${prefix}'`, () => {
      for (let round = 0; round < 50; round += 1) {
        const key = makeKey(prefix);
        expect(key).to.match(new RegExp(`^${prefix}sk-[0-9A-Za-z]{49}$`));
        expect(isWellFormedKey(prefix, key)).to.equal(true);
      }
    });
  }

  it('carries 256 random bits', () => {
    expect(62n ** 43n > 2n ** 256n).to.equal(true);
    let zeros = 0n;
    let ones = 0n;
    for (let round = 0; round < 300; round += 1) {
      const secret = fromBase62(makeKey('tg-').slice(6, 49));
      expect(secret < 2n ** 256n).to.equal(true);
      ones |= secret;
      zeros |= ~secret & (2n ** 256n - 1n);
    }
    expect(ones).to.equal(2n ** 256n - 1n);
    expect(zeros).to.equal(2n ** 256n - 1n);
  });

  it('ends in the CRC32 of the rest, as computed by another implementation', () => {
    const key = makeKey('tg-');
    expect(fromBase62(key.slice(-6))).to.equal(BigInt(crc32(key.slice(0, -6))));
    expect(crc32('123456789')).to.equal(0xcbf43926);
  });

  it('rejects every change of one character and every swap of neighbours', () => {
    const key = makeKey('tg-');
    for (let at = 0; at < key.length; at += 1) {
      for (const digit of `${ALPHABET}-_ é`) {
        const changed = key.slice(0, at) + digit + key.slice(at + 1);
        expect(isWellFormedKey('tg-', changed), changed).to.equal(changed === key);
      }
      const swapped = key.slice(0, at) + (key[at + 1] ?? '') + key[at] + key.slice(at + 2);
      expect(isWellFormedKey('tg-', swapped), swapped).to.equal(swapped === key);
    }
  });

  it('rejects other lengths, prefixes and texts', () => {
    const key = makeKey('tg-');
    for (const text of ['', 'tg-sk-', key.slice(1), key.slice(0, -1), `${key}0`, `${key}\n`, ` ${key}`, key + key]) {
      expect(isWellFormedKey('tg-', text), text).to.equal(false);
    }
    expect(isWellFormedKey('tg', key)).to.equal(false);
    expect(isWellFormedKey('', key)).to.equal(false);
    expect(isWellFormedKey('xx-', key)).to.equal(false);
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...ALPHABET), minLength: 49, maxLength: 49 }), (text) => {
        expect(isWellFormedKey('tg-', `tg-sk-${text}`)).to.equal(false);
      }),
      { numRuns: 100 },
    );
  });

  itTimed('rejects a megabyte as quickly as a word', () => {
    const long = `tg-sk-${'a'.repeat(1_000_000)}`;
    const start = performance.now();
    for (let round = 0; round < 10_000; round += 1) isWellFormedKey('tg-', long);
    expect(performance.now() - start).to.be.below(200);
  });

  it('is stored as SHA-256 in hex', () => {
    expect(hashKey('abc')).to.equal('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    const key = makeKey('tg-');
    expect(hashKey(key)).to.equal(hash('sha256', key, 'hex'));
  });
});

/** Bit by bit, from the definition. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
