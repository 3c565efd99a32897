// A certificate authority made on the fly, so that tests can use TLS with any name without a tool or a file.
import { createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export interface Authority {
  /** For clients to trust. */
  readonly ca: string;
  /** A certificate for names and IPv4 addresses. */
  issue(...hosts: string[]): Certificate;
}

export function createAuthority(): Authority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = 'Test Authority';
  const isAuthority = extension('551d13', true, sequence(Buffer.from('0101ff', 'hex')));
  const ca = sign(
    { issuer: name, subject: name, publicKey: keys.publicKey, extensions: [isAuthority] },
    keys.privateKey,
  );
  return {
    ca,
    issue(...hosts) {
      const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const forHosts = extension('551d11', false, sequence(...hosts.map(generalName)));
      const subject = { issuer: name, subject: 'Test Host', publicKey: own.publicKey, extensions: [forHosts] };
      return { key: own.privateKey.export({ type: 'pkcs8', format: 'pem' }), cert: sign(subject, keys.privateKey) };
    },
  };
}

interface Subject {
  readonly issuer: string;
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
}

const ECDSA_SHA256 = sequence(der(0x06, Buffer.from('2a8648ce3d040302', 'hex')));

function sign({ issuer, subject, publicKey, extensions }: Subject, key: KeyObject): string {
  const body = sequence(
    der(0xa0, Buffer.from('020102', 'hex')),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ECDSA_SHA256,
    commonName(issuer),
    sequence(utcTime(Date.now() - 3_600_000), utcTime(Date.now() + 86_400_000)),
    commonName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = createSign('sha256').update(body).sign(key);
  const whole = sequence(body, ECDSA_SHA256, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function commonName(name: string): Buffer {
  return sequence(der(0x31, sequence(der(0x06, Buffer.from('550403', 'hex')), der(0x0c, Buffer.from(name)))));
}

function utcTime(time: number): Buffer {
  const digits = new Date(time).toISOString().replace(/\D/g, '');
  return der(0x17, Buffer.from(`${digits.slice(2, 14)}Z`));
}

function extension(id: string, critical: boolean, content: Buffer): Buffer {
  const flag = critical ? [Buffer.from('0101ff', 'hex')] : [];
  return sequence(der(0x06, Buffer.from(id, 'hex')), ...flag, der(0x04, content));
}

function generalName(host: string): Buffer {
  return isIP(host) === 4 ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host));
}
