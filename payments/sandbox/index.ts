// A payment plugin without real money. The buttons of its pay page do what payers, banks and networks do, so that
// everything around a payment can be tried for free.
import type { Order, PaymentHost, PaymentPlugin, PaymentProvider } from '../../lib/upstream/contract/payment.ts';
import { CARDS, toSandboxMethod } from './cards.ts';
import { createPage } from './page.ts';
import { createTill, type SandboxSettings } from './till.ts';

const plugin: PaymentPlugin<SandboxSettings> = {
  contract: 1,
  name: 'sandbox',
  settings(joi) {
    const ms = () => joi.number().integer().min(1).max(86_400_000);
    return joi.object<SandboxSettings>({ linkMs: ms().default(3_600_000), lateMs: ms().default(60_000) });
  },
  create: createProvider,
};

export default plugin;

const SHOP = 'sandbox';
const KEYS_LIVE_MS = 24 * 3_600_000;

function createProvider(settings: SandboxSettings, host: PaymentHost): PaymentProvider {
  const till = createTill(settings, { host, shop: SHOP });

  return {
    methods: ['card'],
    redirectHosts: [],
    live: false,
    shop: SHOP,
    keysLiveMs: KEYS_LIVE_MS,
    async start(order) {
      const { id, expiresAt } = await till.open(order);
      return { id, payUrl: `${order.pageUrl}/${id}`, expiresAt };
    },
    async charge(order: Order, saved, signal) {
      const card = CARDS.get(saved.id.split('-')[0] ?? '');
      if (!card) throw host.fault.make('request', 'there is no such card');
      if (card.hangs) await host.clock.sleep(KEYS_LIVE_MS, signal);
      const { id } = await till.open(order, toSandboxMethod(card, saved.id));
      await till.decide(id, card.decline ? { kind: 'declined', code: card.decline } : { kind: 'paid' });
      return till.fetch(id);
    },
    fetch: ({ id }) => till.fetch(id),
    find: ({ id }) => till.find(id),
    refund: (order) => till.refund(order),
    notice({ body }) {
      const id = /^\{"payment":"(sb-[0-9a-f]{32})"\}$/.exec(body)?.[1];
      return id === undefined ? 'rejected' : { fetch: [id] };
    },
    page: createPage(till),
  };
}
