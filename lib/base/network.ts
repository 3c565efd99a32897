// Network addresses: their canonical form, the network a client is counted by, and which proxies are trusted.
import { BlockList, isIP, SocketAddress } from 'node:net';

const MAPPED = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/;

/** The canonical form, IPv4-mapped IPv6 as IPv4; undefined if the text is not an address. */
export function readAddress(text: string): string | undefined {
  const family = isIP(text);
  if (family !== 6) return family === 4 ? text : undefined;
  const { address } = new SocketAddress({ address: text, family: 'ipv6' });
  return MAPPED.exec(address)?.[1] ?? address;
}

const GROUPS = 8;
/** A client usually has a whole IPv6 /64. */
const NETWORK_GROUPS = 4;

/** What clients are counted by: an IPv4 address itself, the /64 of an IPv6 one. */
export function toClientNetwork(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = new Array<string>(Math.max(0, GROUPS - head.length - tail.length)).fill('0');
  return `${[...head, ...zeros, ...tail].slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

/** The proxies in front whose `X-Forwarded-For` is believed. */
export interface TrustedProxies {
  /** This many hops, whatever their addresses. */
  readonly hops: number;
  /** Whether a canonical address is that of a trusted proxy. */
  includes(address: string): boolean;
}

const HOPS = /^\d{1,2}$/;

/** A number of hops, or addresses and networks separated by commas; undefined if the text is neither. */
export function readProxies(text: string): TrustedProxies | undefined {
  if (HOPS.test(text.trim())) return { hops: Number(text), includes: () => false };
  const includes = readNetworks(text.split(','));
  return includes && { hops: 0, includes };
}

/** Whether a canonical address is in one of these addresses and networks; undefined if one of them is neither. */
export function readNetworks(entries: readonly string[]): ((address: string) => boolean) | undefined {
  const list = new BlockList();
  for (const entry of entries) if (!addNetwork(list, entry.trim())) return undefined;
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Not `/0`, which would mean everybody. */
const NETWORK = /^([^/]+)\/([1-9]\d{0,2})$/;

function addNetwork(list: BlockList, text: string): boolean {
  const [, start = text, bits] = NETWORK.exec(text) ?? [];
  const address = readAddress(start);
  if (address === undefined) return false;
  const [family, bitsMax] = isIP(address) === 6 ? (['ipv6', 128] as const) : (['ipv4', 32] as const);
  if (Number(bits ?? 0) > bitsMax) return false;
  if (bits === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(bits), family);
  return true;
}

/** An address with a port; IPv6 is then in brackets. */
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d+)?|(\d+(?:\.\d+){3}):\d+)$/;

/**
 * The client's address: the peer's own, or, behind trusted proxies, the last entry of `X-Forwarded-For` that is not a
 * trusted proxy. Earlier entries may be forged.
 */
export function findClient(peer: string, forwarded: string | undefined, { hops, includes }: TrustedProxies): string {
  let client = peer;
  const entries = forwarded?.split(',') ?? [];
  for (let hop = 0; hop < hops || includes(client); hop += 1) {
    const text = entries.pop()?.trim() ?? '';
    const [, bracketed, plain] = WITH_PORT.exec(text) ?? [];
    const address = readAddress(bracketed ?? plain ?? text);
    if (address === undefined) break;
    client = address;
  }
  return client;
}

/** The URL for people on the machine of a service that listens on a host: some loopback hosts have no `127.0.0.1`. */
export function buildLoopbackUrl(host: string, port: number): string {
  const name = host === '::1' ? '[::1]' : host === 'localhost' ? host : '127.0.0.1';
  return `http://${name}:${port}`;
}
