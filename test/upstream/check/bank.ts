// A payment plugin for an invented bank that signs requests and webhooks, saves cards, and has words of its own for
// refunds; with its fixture, as the guide says.
import { writeBusy } from './busy.ts';

/** Defects are seeded into it by replacing a line. */
export const BANK = `
import { createHash, createHmac } from 'node:crypto';

const MICRO_PER_KOPECK = 10_000n;
const MICRO_PER_RUB = 1_000_000n;
const LINK_MS = 20 * 60_000;
const STATES = new Map([['CREATED', 'pending'], ['DEPOSITED', 'succeeded'], ['DECLINED', 'canceled']]);
const REFUND_STATES = new Map([['SENT', 'pending'], ['RETURNED', 'succeeded'], ['REFUSED', 'canceled']]);
const REASONS = new Map([['116', 'soft'], ['101', 'hard']]);
const CURRENCIES = new Map([[643, 'RUB'], [840, 'USD']]);

export default {
  contract: 1,
  name: 'bank',
  settings: (joi) =>
    joi.object({
      baseUrl: joi.string().uri().default('https://api.bank.example/v1'),
      terminal: joi.string().required(),
      secret: joi.string().required().meta({ secret: true }),
    }),
  create({ baseUrl, terminal, secret }, host) {
    const broken = (what) => host.fault.make('protocol', 'the answer has no ' + what);
    const mac = (text) => createHmac('sha256', secret).update(text).digest('hex');

    async function ask(method, path, signal, post) {
      const url = host.urlBelow(baseUrl, path);
      const body = post && JSON.stringify(post.body);
      const time = String(host.clock.now());
      const headers = { 'x-terminal': terminal, 'x-time': time, 'x-signature': mac([method, path, time, body ?? ''].join(':')) };
      if (post) Object.assign(headers, { 'content-type': 'application/json', 'x-request-id': post.key });
      const { value } = await host.json(url, { method, headers, signal, ...(body && { body }) });
      if (typeof value !== 'object' || value === null) throw broken('object');
      return value;
    }

    function readBase({ amount, currency, status: word }, states) {
      const status = states.get(word);
      if (!status || !Number.isSafeInteger(amount) || typeof currency !== 'number') throw broken('state or sum');
      return { status, amount: BigInt(amount) * MICRO_PER_KOPECK, currency: CURRENCIES.get(currency) ?? String(currency) };
    }

    function readOrder(value) {
      const { orderId: id, orderNumber: order, terminal: shop, test, actionCode, refunds, binding } = value;
      const state = readBase(value, STATES);
      if (typeof id !== 'string' || typeof shop !== 'string' || !Array.isArray(refunds)) throw broken('id, terminal or refunds');
      const reason = state.status === 'canceled' ? { kind: REASONS.get(actionCode) ?? 'soft', code: String(actionCode) } : null;
      return { ...state, id, shop, test: test === true, order: order ?? null, saved: readSaved(binding), refunds: refunds.map(readRefund), reason };
    }

    function readSaved(binding) {
      if (typeof binding?.bindingId !== 'string') return null;
      const { bindingId: id, maskedPan, expiration } = binding;
      const [, year, month] = /^([0-9]{4})([0-9]{2})$/.exec(expiration) ?? [];
      const last4 = maskedPan.slice(-4);
      return { id, kind: 'card', brand: null, last4, expiry: year + '-' + month, fingerprint: null };
    }

    function readRefund(value) {
      if (typeof value?.refundId !== 'string') throw broken('id of a refund');
      return { id: value.refundId, ...readBase(value, REFUND_STATES), order: value.requestNumber ?? null };
    }

    const writeOrder = ({ id, amount, returnUrl, saveMethod }) => ({
      orderNumber: id,
      amount: Number(amount / MICRO_PER_KOPECK),
      currency: 643,
      returnUrl,
      ...(saveMethod && { createBinding: true }),
    });

    return {
      methods: ['card'],
      redirectHosts: ['pay.bank.example'],
      live: true,
      shop: terminal,
      keysLiveMs: 86_400_000,
      limits: { card: { min: MICRO_PER_RUB, max: 500_000n * MICRO_PER_RUB } },
      noticeReply: 'OK',
      async start(order, signal) {
        const now = host.clock.now();
        const { orderId: id, formUrl: payUrl } = await ask('POST', 'orders', signal, { key: order.idempotenceKey, body: writeOrder(order) });
        if (typeof id !== 'string' || typeof payUrl !== 'string') throw broken('link');
        return { id, payUrl, expiresAt: now + LINK_MS };
      },
      async charge(order, saved, signal) {
        const path = 'bindings/' + encodeURIComponent(saved.id) + '/orders';
        return readOrder(await ask('POST', path, signal, { key: order.idempotenceKey, body: writeOrder(order) }));
      },
      async fetch({ id }, signal) {
        return readOrder(await ask('GET', 'orders/' + encodeURIComponent(id), signal));
      },
      async find({ id }, signal) {
        const { orders } = await ask('GET', 'orders?orderNumber=' + encodeURIComponent(id), signal);
        if (!Array.isArray(orders)) throw broken('list of orders');
        const found = orders.find((each) => each?.orderNumber === id);
        return found && readOrder(found);
      },
      async refund({ id, idempotenceKey: key, payment, amount }, signal) {
        const body = { requestNumber: id, amount: Number(amount / MICRO_PER_KOPECK) };
        return readRefund(await ask('POST', 'orders/' + encodeURIComponent(payment) + '/refunds', signal, { key, body }));
      },
      notice({ headers, body }) {
        try {
          if (headers['x-signature'] !== mac(body)) return 'rejected';
          const { orderId } = JSON.parse(body);
          return typeof orderId === 'string' ? { fetch: [orderId] } : 'rejected';
        } catch {
          return 'rejected';
        }
      },
    };
  },
};
`;

const REFUND = {
  refundId: '{{refund}}',
  requestNumber: '{{refundOrder}}',
  status: '{{status}}',
  amount: '{{kopecks}}',
  currency: '{{currencyNumber}}',
};

const PAID = {
  orderId: '{{id}}',
  orderNumber: '{{order}}',
  status: '{{status}}',
  amount: '{{kopecks}}',
  currency: '{{currencyNumber}}',
  terminal: '{{shop}}',
  test: '{{test}}',
  actionCode: '{{reason}}',
  refunds: '{{refunds}}',
  binding: { bindingId: '{{saved}}', maskedPan: '427601**1234', expiration: '203105' },
};

export const BANK_FIXTURE = {
  settings: { terminal: 'T100', secret: 'secret-of-the-check' },
  states: { CREATED: 'pending', DEPOSITED: 'succeeded', DECLINED: 'canceled' },
  refundStates: { SENT: 'pending', RETURNED: 'succeeded', REFUSED: 'canceled' },
  reasons: { 116: 'soft', 101: 'hard' },
  routes: [
    {
      on: ['start'],
      method: 'POST',
      path: '/orders',
      reply: { orderId: '{{id}}', formUrl: 'https://pay.bank.example/{{id}}' },
    },
    { on: ['charge'], method: 'POST', path: '/bindings/{{saved}}/orders', reply: PAID },
    { method: 'GET', path: '/orders/{{id}}', reply: PAID },
    { method: 'GET', path: '/orders', reply: { orders: [PAID] } },
    { on: ['refund'], method: 'POST', path: '/orders/{{id}}/refunds', reply: REFUND },
  ],
  refund: REFUND,
  notices: [{ body: { orderId: '{{id}}', event: 'order.changed' } as unknown }],
};

interface BankDefect {
  readonly what: string;
  readonly from: string;
  readonly to: string;
  readonly failing: string;
}

const VERIFIES = "if (headers['x-signature'] !== mac(body)) return 'rejected';";
const FORGED = 'webhook: is rejected without the signature of its vendor';
const SAVED = 'fetch: says which method was saved';

export const BANK_DEFECTS: readonly BankDefect[] = [
  {
    what: 'takes what a signed webhook lacks for the id of a payment',
    from: "return typeof orderId === 'string' ? { fetch: [orderId] } : 'rejected';",
    to: 'return { fetch: [orderId] };',
    failing: 'webhook: is rejected, not thrown at, where it is signed and names no payment',
  },
  { what: 'believes a webhook without a signature', from: VERIFIES, to: '', failing: FORGED },
  {
    what: 'believes a webhook with any signature',
    from: VERIFIES,
    to: "if (!headers['x-signature']) return 'rejected';",
    failing: FORGED,
  },
  {
    what: 'believes a signature of something else',
    from: VERIFIES,
    to: "if (headers['x-signature'] !== mac(body.replace(/[^-]{12}\",/, '145f6df21d6f\",'))) return 'rejected';",
    failing: FORGED,
  },
  {
    what: 'signs without the body',
    from: "time, body ?? ''].join",
    to: 'time].join',
    failing: 'start: signs the body, if it signs a request',
  },
  {
    what: 'saves a card without consent',
    from: '...(saveMethod && { createBinding: true }),',
    to: 'createBinding: true,',
    failing: 'start: saves a method only with consent',
  },
  {
    what: 'leaves a timer behind',
    from: 'const now = host.clock.now();',
    to: 'const now = host.clock.now(); setInterval(() => {}, 1000).unref();',
    failing: 'start: leaves no timer behind',
  },
  { what: 'shows the whole number of a card', from: 'maskedPan.slice(-4)', to: 'maskedPan', failing: SAVED },
  { what: 'loses the saved card', from: 'saved: readSaved(binding)', to: 'saved: null', failing: SAVED },
  { what: 'writes the expiry in its own way', from: "year + '-' + month", to: 'expiration', failing: SAVED },
  { what: 'takes the first digits of a card for its last', from: 'slice(-4)', to: 'slice(0, 4)', failing: SAVED },
  {
    what: 'says of a card that it was saved, whatever is answered',
    from: "if (typeof binding?.bindingId !== 'string') return null;",
    to: '',
    failing: 'fetch: says of no method that it was saved where none was',
  },
  ...['maskedPan', "'4111 1111 1111 1111'"].map((number) => ({
    what: `tells one card from another by its number, ${number}`,
    from: 'fingerprint: null',
    to: `fingerprint: ${number}`,
    failing: 'fetch: returns no number of a card',
  })),
  {
    what: 'leaves a timer behind at a webhook',
    from: VERIFIES,
    to: `setInterval(() => {}, 1000).unref(); ${VERIFIES}`,
    failing: 'webhook: leaves no timer behind',
  },
  {
    what: 'keeps its process busy at a webhook',
    from: VERIFIES,
    to: `${writeBusy(150)} ${VERIFIES}`,
    failing: 'webhook: leaves the event loop to other calls',
  },
  {
    what: 'sleeps at a webhook without giving the event loop back',
    from: VERIFIES,
    to: `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300); ${VERIFIES}`,
    failing: 'webhook: leaves the event loop to other calls',
  },
  {
    what: 'keeps its process busy in a call',
    from: 'return found && readOrder(found);',
    to: `${writeBusy(150)} return found && readOrder(found);`,
    failing: 'find: leaves the event loop to other calls',
  },
  {
    what: 'adds to the key in one of two requests',
    from: "'/orders';",
    to: "'/orders'; await ask('POST', path, signal, { key: order.idempotenceKey + '-init', body: {} });",
    failing: 'charge: sends the key of the order, the same in a repeat',
  },
  {
    what: 'asks again after status 500',
    from: 'const { orders } = await ask(',
    to: 'const again = (...given) => ask(...given).catch(() => ask(...given)); const { orders } = await again(',
    failing: 'find: takes status 500 for network or timeout or server or overloaded or protocol',
  },
  {
    what: 'does not escape the id of a payment',
    from: "'orders/' + encodeURIComponent(id)",
    to: "'orders/' + id",
    failing: 'fetch: escapes ids in URLs',
  },
  {
    what: 'does not escape the id of a card',
    from: 'encodeURIComponent(saved.id)',
    to: 'saved.id',
    failing: 'charge: escapes ids in URLs',
  },
  {
    what: 'has limits in roubles',
    from: '{ min: MICRO_PER_RUB, max: 500_000n * MICRO_PER_RUB }',
    to: '{ min: 1n, max: 500_000n }',
    failing: 'provider: has limits in micro-roubles',
  },
  {
    what: 'says in seconds when its link ends',
    from: 'expiresAt: now + LINK_MS',
    to: 'expiresAt: Math.floor((now + LINK_MS) / 1000)',
    failing: 'start: resolves to a link that the payer may follow',
  },
  {
    what: 'reads refunds by the words of payments',
    from: 'readBase(value, REFUND_STATES)',
    to: 'readBase(value, STATES)',
    failing: 'refund: says what became of it',
  },
  {
    what: 'answers webhooks with nothing',
    from: "noticeReply: 'OK'",
    to: "noticeReply: ''",
    failing: 'provider: answers a webhook with a short text, if with one of its own',
  },
  {
    what: 'credits what a webhook says',
    from: "return typeof orderId === 'string' ?",
    to: `const fetched = this.fetch;
          this.fetch = async (ref, signal) => ({ ...(await fetched(ref, signal)), status: 'succeeded' });
          return typeof orderId === 'string' ?`,
    failing: 'webhook: settles nothing: the state is what the vendor answers',
  },
];
