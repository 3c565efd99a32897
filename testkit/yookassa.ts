// A YooKassa on loopback: real sockets, its authentication, keys, errors and lists, and whatever goes wrong on the way.
// What a payer would do, a test does through `shop`.
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KEY_TAKEN, type Refusal, refusal, refuseKey, refusePayment, refuseRefund } from './yookassa-rules.ts';
import { type Body, createShop, type Payment, type Refund, type Shop, type ShopOptions } from './yookassa-shop.ts';
import { createWebhookBoard, type WebhookBoard } from './yookassa-webhooks.ts';

export interface YooKassaOptions extends Omit<ShopOptions, 'now' | 'onWebhook' | 'checkout'> {
  /** Serves the payment pages here too, for a browser; otherwise links lead to the vendor's own host. */
  readonly checkoutHere?: boolean;
  readonly secret?: string;
}

export interface YooKassa {
  /** For the setting `baseUrl`. */
  readonly baseUrl: string;
  readonly shopId: string;
  readonly secret: string;
  readonly shop: Shop;
  readonly webhooks: WebhookBoard;
  /** Every request so far. */
  readonly asked: readonly Asked[];
  /** What happens to the next requests, one after the other. */
  go(...mishaps: Mishap[]): void;
  /** Moves its clock ahead. */
  advance(ms: number): void;
  close(): Promise<void>;
}

export interface Asked {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body;
}

/** A request that is not answered properly. */
export interface Mishap {
  /** Of these only; by default of all. */
  readonly method?: 'GET' | 'POST';
  /** Whether the request is carried out all the same; the answer does not tell. */
  readonly done: boolean;
  readonly answer: 'hang' | 'reset' | { readonly status: number; readonly body: string | Refusal };
}

const failure = (status: number, code: string, description: string): Mishap['answer'] => ({
  status,
  body: refusal(status, code, description),
});

/** The vendor's own failure: the outcome is unknown. */
export const broken = (done: boolean): Mishap => ({
  done,
  answer: failure(500, 'internal_server_error', 'Internal server error'),
});
export const tooMany: Mishap = { done: false, answer: failure(429, 'too_many_requests', 'Too many requests') };

const KEYS_LIVE_MS = 24 * 3_600_000;

interface Reply {
  readonly status: number;
  readonly body: object;
}

interface Kept {
  readonly at: number;
  readonly print: string;
  readonly made: Payment | Refund;
}

export async function startYooKassa(options: YooKassaOptions = {}): Promise<YooKassa> {
  const secret = options.secret ?? 'test_Fh8hUAVVBGUGbjmlzba6TB0iyUbos_lueTHE-axOwM0';
  const asked: Asked[] = [];
  const mishaps: Mishap[] = [];
  const kept = new Map<string, Kept>();
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;

  const server = createServer(async (request, response) => {
    const one = await read(request);
    if (one.path.startsWith('/checkout/')) return serveCheckout(shop, one, response);
    asked.push(one);
    const mishap = (mishaps[0]?.method ?? one.method) === one.method ? mishaps.shift() : undefined;
    const reply = mishap?.done === false ? undefined : answer(one);
    if (mishap) suffer(mishap, response);
    else if (reply) send(response, reply.status, reply.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const webhooks = createWebhookBoard();
  const shop = createShop({
    ...options,
    now,
    onWebhook: webhooks.put,
    ...(options.checkoutHere && { checkout: origin }),
  });
  const credentials = `Basic ${Buffer.from(`${shop.shopId}:${secret}`).toString('base64')}`;

  function answer({ method, path, query, headers, body }: Asked): Reply {
    shop.endLinks();
    if (headers.authorization !== credentials)
      return refuse(refusal(401, 'invalid_credentials', 'Error in shopId or secret key. Check their validity.'));
    if (method === 'POST') return take(path, headers, body);
    if (method !== 'GET') return refuse(refusal(405, 'invalid_request', 'Method not allowed'));
    const [, room, id] = /^\/v3\/(payments|refunds)(?:\/([^/]+))?$/.exec(path) ?? [];
    if (room === undefined) return refuse(NOT_FOUND);
    const things: ReadonlyMap<string, Payment | Refund> = room === 'payments' ? shop.payments : shop.refunds;
    if (id === undefined) return list([...things.values()], query);
    const thing = things.get(id);
    return thing ? { status: 200, body: thing } : refuse(NOT_FOUND);
  }

  /** A key used in the last day returns what it created, in its present state; with another body it is refused. */
  function take(path: string, headers: IncomingHttpHeaders, body: Body): Reply {
    if (!headers['content-type']?.startsWith('application/json'))
      return refuse(refusal(415, 'invalid_request', 'Unsupported content type'));
    const key = headers['idempotence-key'] as string | undefined;
    const wrongKey = refuseKey(key);
    if (wrongKey) return refuse(wrongKey);
    const print = createHash('sha256')
      .update(`${path}\n${JSON.stringify(body)}`)
      .digest('hex');
    const before = kept.get(key as string);
    if (before && now() < before.at + KEYS_LIVE_MS)
      return before.print === print ? { status: 200, body: before.made } : refuse(KEY_TAKEN);
    const isPayment = path === '/v3/payments';
    if (!isPayment && path !== '/v3/refunds') return refuse(NOT_FOUND);
    const wrong = isPayment ? refusePayment(shop, body) : refuseRefund(shop, body);
    if (wrong) return refuse(wrong);
    const made = isPayment ? shop.create(body) : shop.refund(body);
    kept.set(key as string, { at: now(), print, made });
    return { status: 200, body: made };
  }

  return {
    baseUrl: `${origin}/v3`,
    shopId: shop.shopId,
    secret,
    shop,
    webhooks,
    asked,
    go: (...next) => void mishaps.push(...next),
    advance: (ms) => {
      aheadMs += ms;
    },
    async close() {
      await webhooks.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const NOT_FOUND = refusal(
  404,
  'not_found',
  "Incorrect payment_id. Payment doesn't exist or access denied",
  'payment_id',
);

function refuse({ status, ...error }: Refusal): Reply {
  return { status, body: { type: 'error', id: randomUUID(), ...error } };
}

async function read(request: IncomingMessage): Promise<Asked> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://fake');
  const text = Buffer.concat(await request.toArray()).toString();
  const isJson = request.headers['content-type']?.startsWith('application/json');
  const body = isJson ? JSON.parse(text) : text;
  return { method: request.method ?? '', path: pathname, query: searchParams, headers: request.headers, body };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json;charset=UTF-8' }).end(JSON.stringify(body));
}

function suffer({ answer }: Mishap, response: ServerResponse): void {
  if (answer === 'hang') return;
  if (answer === 'reset') return void response.destroy();
  const { status, body } = answer;
  if (typeof body === 'string') return void response.writeHead(status, { 'content-type': 'text/html' }).end(body);
  const reply = refuse(body);
  send(response, status, reply.body);
}

/** Newest first, one page at a time. */
function list(things: readonly (Payment | Refund)[], query: URLSearchParams): Reply {
  const limit = Number(query.get('limit') ?? 10);
  if (!(limit >= 1 && limit <= 100)) return refuse(refusal(400, 'invalid_request', 'Invalid limit', 'limit'));
  const wanted = (thing: Payment | Refund) => {
    const at = Date.parse(thing.created_at);
    const from = query.get('created_at.gte');
    const to = query.get('created_at.lte');
    if ((from && at < Date.parse(from)) || (to && at > Date.parse(to))) return false;
    if (query.has('status') && query.get('status') !== thing.status) return false;
    return !query.has('payment_id') || ('payment_id' in thing && thing.payment_id === query.get('payment_id'));
  };
  const found = things.filter(wanted).reverse();
  const begin = query.has('cursor') ? found.findIndex(({ id }) => id === query.get('cursor')) : 0;
  const items = found.slice(begin, begin + limit);
  const next = found[begin + limit];
  return { status: 200, body: { type: 'list', items, ...(next && { next_cursor: next.id }) } };
}

/** A page with a button, for a browser. */
function serveCheckout(shop: Shop, { method, query }: Asked, response: ServerResponse): void {
  const payment = shop.payments.get(query.get('orderId') ?? '');
  if (!payment) return void response.writeHead(404).end();
  const back = payment.confirmation?.return_url;
  if (method === 'POST' && back !== undefined) {
    shop.pay(payment.id);
    return void response.writeHead(303, { location: back }).end();
  }
  const page = `<!doctype html><title>${payment.amount.value}</title><form method="post"><button>Pay</button></form>`;
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
}
