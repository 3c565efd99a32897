// Which addresses are public, by IANA's special-purpose registries.
import { BlockList, isIP } from 'node:net';

/** Everything that IANA reserves, including anycast and tunnel services. */
const SPECIAL_IPV4 = blockList('ipv4', [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared behind a carrier's NAT; metadata of some clouds
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local; metadata of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
  '168.63.129.16/32', // a public address by the registry, but inside a large cloud its host agent
]);

/** The globally routable addresses; mapped, compatible, NAT64, local and multicast addresses are outside. */
const GLOBAL_IPV6 = blockList('ipv6', ['2000::/3']);

const SPECIAL_IPV6 = blockList('ipv6', [
  '2001::/23', // protocol assignments: Teredo, benchmarks, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: carries an IPv4 address
  '2620:4f:8000::/48', // AS112
  '3ffe::/16', // the former 6bone
  '3fff::/20', // documentation
]);

/** Whether an address in canonical form is public. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !SPECIAL_IPV4.check(address, 'ipv4');
    case 6:
      // An address with a zone is local to a network of this machine.
      return !address.includes('%') && GLOBAL_IPV6.check(address, 'ipv6') && !SPECIAL_IPV6.check(address, 'ipv6');
    default:
      return false;
  }
}

function blockList(family: 'ipv4' | 'ipv6', subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = '', prefix] = subnet.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}
