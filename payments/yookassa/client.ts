// The YooKassa client: payments and refunds under idempotency keys, single ones by id, lists page by page.
import { Buffer } from 'node:buffer';
import type { Host, JsonObject, Order, RefundOrder, UpstreamFault } from '../../lib/upstream/contract/payment.ts';
import { fieldsOf, ORDER, REFUND } from './fields.ts';

export interface Account {
  readonly baseUrl: string;
  readonly shopId: string;
  readonly secret: string;
}

interface Posting {
  readonly key: string;
  readonly body: object;
  readonly signal: AbortSignal;
  /** Searches for what the key made before. */
  readonly find: () => Promise<JsonObject | undefined>;
}

/** The vendor remembers keys for a day from the first request, which took some time to arrive. */
export const KEYS_LIVE_MS = 23 * 3_600_000;
/** Its clock may differ from ours. */
const SKEW_MS = 600_000;
/** Stops endless lists: at 100 a page, this is more than any of our shops sells in a day. */
const PAGES_MAX = 1000;

export function createClient({ baseUrl, shopId, secret }: Account, host: Host) {
  const base = baseUrl.replace(/\/+$/, '');
  const headers = { authorization: `Basic ${Buffer.from(`${shopId}:${secret}`).toString('base64')}` };

  async function get(path: string, signal: AbortSignal): Promise<JsonObject> {
    return fieldsOf((await host.json(base + path, { method: 'GET', headers, signal })).value);
  }

  async function post(path: string, { key, body, signal, find }: Posting): Promise<JsonObject> {
    const own = { ...headers, 'content-type': 'application/json', 'idempotence-key': key };
    try {
      const init = { method: 'POST', headers: own, body: JSON.stringify(body), signal } as const;
      return fieldsOf((await host.json(base + path, init)).value);
    } catch (error) {
      if (!isAboutKey(error)) throw error;
      // It was made with another body, for example before a change of the settings: nothing must be made in addition.
      const made = await find();
      if (made) return made;
      throw host.fault.make('protocol', `the key is taken, but not by this order: ${error.detail}`);
    }
  }

  async function* list(path: string, filter: Record<string, string>, signal: AbortSignal): AsyncGenerator<JsonObject> {
    const query = new URLSearchParams({ ...filter, limit: '100' });
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const { items, next_cursor: cursor } = await get(`${path}?${query}`, signal);
      if (!Array.isArray(items)) throw host.fault.make('protocol', 'a list without items');
      yield* items.map(fieldsOf);
      if (typeof cursor !== 'string') return;
      query.set('cursor', cursor);
    }
    throw host.fault.make('protocol', `a list of more than ${PAGES_MAX} pages`);
  }

  /** The payment whose metadata name the order. */
  async function find({ id, createdAt }: Pick<Order, 'id' | 'createdAt'>, signal: AbortSignal) {
    const filter = {
      'created_at.gte': new Date(createdAt - SKEW_MS).toISOString(),
      'created_at.lte': new Date(createdAt + KEYS_LIVE_MS + SKEW_MS).toISOString(),
    };
    for await (const payment of list('/payments', filter, signal)) {
      if (fieldsOf(payment.metadata)[ORDER] === id) return payment;
    }
    return undefined;
  }

  const refunds = (payment: string, signal: AbortSignal) => list('/refunds', { payment_id: payment }, signal);

  return {
    find,
    payment: (id: string, signal: AbortSignal) => get(`/payments/${encodeURIComponent(id)}`, signal),
    /** Makes a payment, or returns the one already made for the order. */
    pay(order: Order, body: object, signal: AbortSignal) {
      return post('/payments', { key: order.idempotenceKey, body, signal, find: () => find(order, signal) });
    },
    async refundsOf({ id, status }: JsonObject, signal: AbortSignal): Promise<readonly JsonObject[]> {
      return status === 'succeeded' ? Array.fromAsync(refunds(String(id), signal)) : [];
    },
    refund({ id, payment, idempotenceKey: key }: RefundOrder, body: object, signal: AbortSignal) {
      async function find() {
        for await (const refund of refunds(payment, signal))
          if (fieldsOf(refund.metadata)[REFUND] === id) return refund;
        return undefined;
      }
      return post('/refunds', { key, body, signal, find });
    },
  };
}

/** `Idempotence key duplicated`, or any other complaint about a key. */
function isAboutKey(error: unknown): error is UpstreamFault {
  const { kind, detail } = error as Partial<UpstreamFault>;
  return kind === 'request' && /idempotence[ -]key/i.test(detail ?? '');
}
