// Payment plugin for YooKassa: pay pages for cards and SBP, charges of saved methods, refunds, receipts (law 54-FZ).
// https://yookassa.ru/developers/api
import type { Host, MethodKind, PaymentPlugin, PaymentProvider } from '../../lib/upstream/contract/payment.ts';
import { createBodies, type Receipt } from './bodies.ts';
import { createClient, KEYS_LIVE_MS } from './client.ts';
import { METHOD_TYPES } from './fields.ts';
import { createReader } from './state.ts';
import { createYooKassaWebhooks, SENDERS } from './webhook.ts';

interface Settings {
  readonly baseUrl: string;
  readonly shopId: string;
  readonly secret: string;
  readonly methods: readonly MethodKind[];
  /** Whether the vendor allows this shop to save methods and charge them. */
  readonly autopayments: boolean;
  readonly receipt?: Receipt;
  /** Networks from which webhooks are accepted; an empty list accepts any. */
  readonly senders: readonly string[];
  readonly redirectHosts: readonly string[];
  readonly proxy?: string;
}

const plugin: PaymentPlugin<Settings> = {
  contract: 1,
  name: 'yookassa',
  settings(joi) {
    const code = (max: number) => joi.number().integer().min(1).max(max);
    const url = joi.string().uri({ scheme: ['http', 'https'] });
    return joi.object<Settings>({
      baseUrl: url.default('https://api.yookassa.ru/v3'),
      shopId: joi.string().trim().required(),
      secret: joi.string().trim().required().meta({ secret: true }),
      methods: joi
        .array()
        .items(joi.valid(...Object.keys(METHOD_TYPES)))
        .min(1)
        .default(['card', 'sbp']),
      autopayments: joi.boolean().default(false),
      receipt: joi.object({
        taxSystemCode: code(6),
        vatCode: code(12).required(),
        paymentSubject: joi.string().required(),
        paymentMode: joi.string().required(),
        measure: joi.string(),
        description: joi.string().max(128),
      }),
      senders: joi
        .array()
        .items(joi.string().ip({ cidr: 'optional' }))
        .default(SENDERS),
      redirectHosts: joi.array().items(joi.string()).min(1).default(['yoomoney.ru', 'yookassa.ru']),
      proxy: url,
    });
  },
  faultWords: {
    request: 'invalid_request not_supported',
    auth: 'invalid_credentials forbidden',
    rate: 'too_many_requests',
    server: 'internal_server_error',
  },
  create: createProvider,
};

export default plugin;

const RUB = 1_000_000n;

function createProvider(settings: Settings, host: Host): PaymentProvider {
  const { shopId, secret, methods, autopayments, redirectHosts, senders } = settings;
  const bodies = createBodies(settings, host);
  const client = createClient(settings, host);
  const reader = createReader(host);

  return {
    methods,
    redirectHosts,
    // Secrets of test shops start with `test_`, and their payments are marked as tests.
    live: !secret.startsWith('test_'),
    shop: shopId,
    keysLiveMs: KEYS_LIVE_MS,
    limits: {
      card: { min: RUB, max: 350_000n * RUB },
      sbp: { min: RUB, max: 700_000n * RUB },
    },
    async start(order, signal) {
      return reader.started(await client.pay(order, bodies.payment(order), signal));
    },
    ...(autopayments && {
      async charge(order, saved, signal) {
        return reader.payment(await client.pay(order, bodies.charge(order, saved), signal), []);
      },
    }),
    async fetch({ id }, signal) {
      const payment = await client.payment(id, signal);
      return reader.payment(payment, await client.listRefunds(payment, signal));
    },
    async find(order, signal) {
      const payment = await client.find(order, signal);
      return payment && reader.payment(payment, await client.listRefunds(payment, signal));
    },
    async refund(order, signal) {
      const body = await bodies.refund(order, () => client.payment(order.payment, signal));
      return reader.refund(await client.refund(order, body, signal));
    },
    ...createYooKassaWebhooks(senders),
  };
}
