// Canonical addresses, the network of a client, and trusted proxies.
import { expect } from 'chai';
import {
  buildLoopbackUrl,
  findClient,
  readAddress,
  readProxies,
  type TrustedProxies,
  toClientNetwork,
} from '../../lib/base/network.ts';

describe('a network address', () => {
  for (const [text, address] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['192.0.2.256', undefined],
    ['192.0.2.01', undefined],
    ['192.0.2.1:80', undefined],
    ['localhost', undefined],
    ['unknown', undefined],
    ['', undefined],
  ] as const) {
    it(`${JSON.stringify(text)} is ${address}`, () => expect(readAddress(text)).to.equal(address));
  }

  for (const [address, network] of [
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8::1:2:3:4:5', '2001:db8:0:1::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::1:2:3:4:5', '0:0:0:1::/64'],
    ['1::', '1:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['unknown', 'unknown'],
  ] as const) {
    it(`${address} counts as ${network}`, () => expect(toClientNetwork(address)).to.equal(network));
  }
});

describe('trusted proxies', () => {
  const read = (text: string) => readProxies(text) as TrustedProxies;

  for (const text of [
    '',
    ',',
    'proxy',
    '10.0.0.0/33',
    '10.0.0.0/0',
    '::/0',
    '::1/129',
    '10.0.0.1,',
    '-1',
    '1.5',
    '100',
  ]) {
    it(`are not ${JSON.stringify(text)}`, () => expect(readProxies(text)).to.equal(undefined));
  }

  const INNER = '10.0.0.0/8, fd00::/8,127.0.0.1';
  for (const [what, trusted, peer, forwarded, client] of [
    ['nobody says anything', INNER, '10.0.0.2', undefined, '10.0.0.2'],
    ['the peer is no proxy', INNER, '192.0.2.9', '192.0.2.1', '192.0.2.9'],
    ['a proxy names one', INNER, '10.0.0.2', '192.0.2.1', '192.0.2.1'],
    ['a client claims another', INNER, '10.0.0.2', '203.0.113.9, 192.0.2.1', '192.0.2.1'],
    ['a client claims to be a proxy', INNER, '10.0.0.2', '203.0.113.9, 10.0.0.9, 192.0.2.1', '192.0.2.1'],
    ['there are two proxies', INNER, '127.0.0.1', '203.0.113.9,192.0.2.1,10.0.0.3', '192.0.2.1'],
    ['the client is in the same network', INNER, '10.0.0.2', '10.0.0.7', '10.0.0.7'],
    ['the entry is none', INNER, '10.0.0.2', '192.0.2.1, unknown', '10.0.0.2'],
    ['the entry is empty', INNER, '10.0.0.2', '192.0.2.1, ', '10.0.0.2'],
    ['it has a port', INNER, '10.0.0.2', '192.0.2.1:4711', '192.0.2.1'],
    ['it is IPv6', INNER, 'fd00::2', '2001:DB8::0:1', '2001:db8::1'],
    ['it is IPv6 with a port', INNER, '10.0.0.2', '[2001:db8::1]:4711', '2001:db8::1'],
    ['it is IPv6 in brackets', INNER, '10.0.0.2', '[2001:db8::1]', '2001:db8::1'],
    ['it is IPv4 as IPv6', INNER, '10.0.0.2', '192.0.2.1, ::ffff:10.1.1.1', '192.0.2.1'],
    ['the trusted one is IPv4 as IPv6', '::ffff:10.0.0.2', '10.0.0.2', '192.0.2.1', '192.0.2.1'],
    ['a network is one address', '10.0.0.2/32', '10.0.0.2', '10.0.0.3', '10.0.0.3'],
    ['a network is one address of IPv6', 'fd00::2/128', 'fd00::2', 'fd00::3', 'fd00::3'],
    ['one hop is trusted', '1', '192.0.2.9', '203.0.113.9, 192.0.2.1', '192.0.2.1'],
    ['two hops are trusted', '2', '192.0.2.9', '203.0.113.9, 192.0.2.1, 192.0.2.8', '192.0.2.1'],
    ['there are fewer entries than hops', '3', '192.0.2.9', '192.0.2.1', '192.0.2.1'],
    ['no hop is trusted', '0', '192.0.2.9', '192.0.2.1', '192.0.2.9'],
    ['the peer is unknown', INNER, 'unknown', '192.0.2.1', 'unknown'],
  ] as const) {
    it(`find the client if ${what}`, () => {
      expect(findClient(peer, forwarded, read(trusted))).to.equal(client);
    });
  }
});

describe('the URL of a service for people on its machine', () => {
  it('has the loopback host that the service listens on', () => {
    expect(['::1', 'localhost', '127.0.0.1', '0.0.0.0', '::'].map((host) => buildLoopbackUrl(host, 80))).to.deep.equal(
      ['[::1]', 'localhost', '127.0.0.1', '127.0.0.1', '127.0.0.1'].map((name) => `http://${name}:80`),
    );
  });
});
