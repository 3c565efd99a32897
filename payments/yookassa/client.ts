// The YooKassa client: creates payments and refunds under idempotency keys, reads single ones by id and lists by page.
import { Buffer } from 'node:buffer';
import type { Host, JsonObject, Order, RefundOrder, UpstreamFault } from '../../lib/upstream/contract/payment.ts';
import { ORDER, REFUND, toFields } from './fields.ts';

interface Account {
  readonly baseUrl: string;
  readonly shopId: string;
  readonly secret: string;
}

interface KeyedPost {
  readonly key: string;
  readonly body: object;
  readonly signal: AbortSignal;
  /** Searches for the payment or refund created with this key before. */
  readonly find: () => Promise<JsonObject | undefined>;
}

/** The vendor remembers a key for a day after its first request; an hour of margin covers slow requests. */
export const KEYS_LIVE_MS = 23 * 3_600_000;
/** The vendor's clock may differ from ours. */
const SKEW_MS = 600_000;
/** Stops endless lists: at 100 payments a page, this is more than one day of any shop. */
const PAGES_MAX = 1000;

export function createClient({ baseUrl, shopId, secret }: Account, host: Host) {
  const base = baseUrl.replace(/\/+$/, '');
  const headers = { authorization: `Basic ${Buffer.from(`${shopId}:${secret}`).toString('base64')}` };

  async function get(path: string, signal: AbortSignal): Promise<JsonObject> {
    return toFields((await host.json(base + path, { method: 'GET', headers, signal })).value);
  }

  async function post(path: string, { key, body, signal, find }: KeyedPost): Promise<JsonObject> {
    const own = { ...headers, 'content-type': 'application/json', 'idempotence-key': key };
    try {
      const init = { method: 'POST', headers: own, body: JSON.stringify(body), signal } as const;
      return toFields((await host.json(base + path, init)).value);
    } catch (error) {
      if (!isKeyConflict(error)) throw error;
      // The key was used with another body, for example before a change of the settings: nothing must be created twice.
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
      yield* items.map(toFields);
      if (typeof cursor !== 'string') return;
      query.set('cursor', cursor);
    }
    throw host.fault.make('protocol', `a list of more than ${PAGES_MAX} pages`);
  }

  /** Finds the payment whose metadata contain the order's id. */
  async function find({ id, createdAt }: Pick<Order, 'id' | 'createdAt'>, signal: AbortSignal) {
    const filter = {
      'created_at.gte': new Date(createdAt - SKEW_MS).toISOString(),
      'created_at.lte': new Date(createdAt + KEYS_LIVE_MS + SKEW_MS).toISOString(),
    };
    for await (const payment of list('/payments', filter, signal)) {
      if (toFields(payment.metadata)[ORDER] === id) return payment;
    }
    return undefined;
  }

  const streamRefunds = (payment: string, signal: AbortSignal) => list('/refunds', { payment_id: payment }, signal);

  return {
    find,
    payment: (id: string, signal: AbortSignal) => get(`/payments/${encodeURIComponent(id)}`, signal),
    /** Creates the order's payment, or returns the existing one. */
    pay(order: Order, body: object, signal: AbortSignal) {
      return post('/payments', { key: order.idempotenceKey, body, signal, find: () => find(order, signal) });
    },
    async listRefunds({ id, status }: JsonObject, signal: AbortSignal): Promise<readonly JsonObject[]> {
      return status === 'succeeded' ? Array.fromAsync(streamRefunds(String(id), signal)) : [];
    },
    refund({ id, payment, idempotenceKey: key }: RefundOrder, body: object, signal: AbortSignal) {
      async function find() {
        for await (const refund of streamRefunds(payment, signal))
          if (toFields(refund.metadata)[REFUND] === id) return refund;
        return undefined;
      }
      return post('/refunds', { key, body, signal, find });
    },
  };
}

/** `Idempotence key duplicated`, or any other error about a key. */
function isKeyConflict(error: unknown): error is UpstreamFault {
  const { kind, detail } = error as Partial<UpstreamFault>;
  return kind === 'request' && /idempotence[ -]key/i.test(detail ?? '');
}
