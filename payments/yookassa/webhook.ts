// Reads which payment a YooKassa webhook asks to fetch. Webhooks are not signed: the sender's network filters noise but
// proves nothing, so a webhook is trusted only for which payment to fetch.
import { BlockList, isIPv6 } from 'node:net';
import type { JsonObject, NoticeVerdict, PaymentProvider, RawNotice } from '../../lib/upstream/contract/payment.ts';
import { toFields } from './fields.ts';

/** https://yookassa.ru/developers/using-api/webhooks#ip */
export const SENDERS: readonly string[] = [
  '185.71.76.0/27',
  '185.71.77.0/27',
  '77.75.153.0/25',
  '77.75.156.11',
  '77.75.156.35',
  '77.75.154.128/25',
  '2a02:5180::/32',
];

/** For each event, the field of its object that holds the payment's id. */
const EVENTS = new Map<unknown, 'id' | 'payment_id'>([
  ['payment.succeeded', 'id'],
  ['payment.canceled', 'id'],
  ['payment.waiting_for_capture', 'id'],
  ['refund.succeeded', 'payment_id'],
]);

const ID = /^[0-9a-f-]{36}$/i;

/** With an empty list, webhooks are accepted from anywhere, and `isSender` knows the vendor's own networks. */
export function createYooKassaWebhooks(
  senders: readonly string[],
): Required<Pick<PaymentProvider, 'notice' | 'isSender'>> {
  const known = buildAllowList(senders.length > 0 ? senders : SENDERS);
  const isSender = (address: string) => known.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  const notice = ({ body, address }: RawNotice): NoticeVerdict => {
    if (senders.length > 0 && !isSender(address)) return 'rejected';
    const { type, event, object } = parseBody(body);
    const field = EVENTS.get(event);
    const id = field && toFields(object)[field];
    return type === 'notification' && typeof id === 'string' && ID.test(id) ? { fetch: [id] } : 'rejected';
  };
  return { notice, isSender };
}

function buildAllowList(senders: readonly string[]): BlockList {
  const list = new BlockList();
  for (const sender of senders) {
    const [address = '', prefix] = sender.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

function parseBody(body: string): JsonObject {
  try {
    return toFields(JSON.parse(body));
  } catch {
    return {};
  }
}
