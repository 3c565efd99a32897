// A payment plugin as a third party would write one, for the bank of `testkit/bank.ts`: it reports what the bank says.
import type {
  Host,
  Order,
  PaymentPlugin,
  PaymentProvider,
  PaymentState,
  RefundState,
} from '../../../lib/upstream/contract/payment.ts';

interface Settings {
  readonly baseUrl: string;
  readonly secret: string;
  readonly shop: string;
  readonly live: boolean;
  readonly keysLiveMs: number;
  readonly senders: readonly string[];
  readonly noticeReply?: string;
}

const plugin: PaymentPlugin<Settings> = {
  contract: 1,
  name: 'till',
  settings: (joi) =>
    joi.object({
      baseUrl: joi.string().required(),
      secret: joi.string().default('till-secret').meta({ secret: true }),
      shop: joi.string().default('shop-1'),
      live: joi.boolean().default(true),
      keysLiveMs: joi.number().default(86_400_000),
      senders: joi.array().items(joi.string()).default([]),
      noticeReply: joi.string(),
    }),
  create: createProvider,
};

export default plugin;

function createProvider(settings: Settings, host: Host): PaymentProvider {
  const { baseUrl, secret, shop, live, keysLiveMs, senders, noticeReply } = settings;
  async function ask(signal: AbortSignal, path: string, body?: object): Promise<unknown> {
    const headers = { authorization: secret, 'content-type': 'application/json' };
    const init = body ? ({ method: 'POST', body: JSON.stringify(body) } as const) : ({ method: 'GET' } as const);
    return (await host.json(`${baseUrl}${path}`, { ...init, headers, signal })).value;
  }
  const buildBody = ({ amount, ...order }: Order) => ({ ...order, amount: String(amount) });

  return {
    methods: ['card'],
    redirectHosts: [new URL(baseUrl).host, 'pay.example.com'],
    live,
    shop,
    keysLiveMs,
    limits: { card: { min: 1_000_000n, max: 350_000_000_000n } },
    start: async (order, signal) => (await ask(signal, '/payments', buildBody(order))) as never,
    charge: async (order, saved, signal) =>
      readState(await ask(signal, '/payments', { ...buildBody(order), charges: saved.id })),
    fetch: async ({ id }, signal) => readState(await ask(signal, `/payments/${id}`)),
    async find({ id }, signal) {
      const [found] = (await ask(signal, `/payments?order=${id}`)) as unknown[];
      return found === undefined ? undefined : readState(found);
    },
    refund: async (order, signal) =>
      readRefund(await ask(signal, '/refunds', { ...order, amount: String(order.amount) })),
    notice({ body }) {
      const { id } = JSON.parse(body);
      return typeof id === 'string' ? { fetch: [id] } : 'rejected';
    },
    ...(noticeReply && { noticeReply }),
    isSender: (address) => senders.includes(address),
    // Nobody gets to see it while real money moves.
    page: async ({ path }) => ({ status: 200, html: `till ${path}` }),
  };
}

function readState(value: unknown): PaymentState {
  const { amount, refunds, ...state } = value as Record<string, unknown> & { amount: string; refunds: unknown[] };
  return { ...state, amount: BigInt(amount), refunds: refunds.map(readRefund) } as unknown as PaymentState;
}

function readRefund(value: unknown): RefundState {
  const { amount, ...state } = value as Record<string, unknown> & { amount: string };
  return { ...state, amount: BigInt(amount) } as unknown as RefundState;
}
