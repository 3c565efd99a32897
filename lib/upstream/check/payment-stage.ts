// A payment plugin under check, opened as the gateway opens it, at a vendor on loopback.
import assert from 'node:assert/strict';
import { KOPECK } from '../../money/money.ts';
import type { HostClock } from '../contract/host.ts';
import type {
  HostMemory,
  Order,
  PaymentPlugin,
  PaymentProvider,
  RefundOrder,
  SavedMethod,
} from '../contract/payment.ts';
import { checkSettings, createProvider, type OpenProvider } from '../host/settings.ts';
import { type OutputWatch, watchOutput } from './output-watch.ts';
import type { CallName, Facts, Fixture } from './payment-fixture.ts';
import { startVendor, type Vendor } from './payment-vendor.ts';
import { settingsAt, UNUSED_URL } from './stage.ts';

export interface PaymentSubject {
  readonly plugin: PaymentPlugin;
  readonly folder: string;
  readonly fixture: Fixture;
}

export interface PaymentStage {
  readonly vendor: Vendor;
  readonly open: OpenProvider<PaymentProvider>;
  readonly provider: PaymentProvider;
  /** Makes the call as the gateway does, with what the vendor knows. */
  call(name: CallName, signal?: AbortSignal, order?: Partial<Order>): Promise<unknown>;
}

export const AMOUNT = 123_456n;

/** In the form that most vendors' ids have. */
const PAYMENT_ID = '2d0cbe1a-000f-5000-9000-145f6df21d6f';

export const ORDER: Order = {
  id: 'pay_0190check0000000000000000000000000001',
  idempotenceKey: 'key_0190check0000000000000000000000000002',
  amount: AMOUNT * KOPECK,
  currency: 'RUB',
  // Neither its sum nor its id: those have to be sent by themselves.
  description: 'Top-up',
  returnUrl: 'https://gate.example.com/account/wallet',
  pageUrl: 'https://gate.example.com/payments/check/page',
  locale: 'ru',
  customer: 'acc_check',
  email: 'payer@example.com',
  saveMethod: true,
  createdAt: Date.now(),
};

export const REFUND: RefundOrder = {
  id: 'rfd_0190check3',
  idempotenceKey: 'key_0190check0000000000000000000000000004',
  payment: PAYMENT_ID,
  amount: 100_200n * KOPECK,
  currency: 'RUB',
  reason: 'wish',
  email: 'payer@example.com',
  createdAt: Date.now(),
};

const SAVED: Omit<SavedMethod, 'id'> = {
  kind: 'card',
  brand: 'Visa',
  last4: '4242',
  expiry: '2031-07',
  fingerprint: null,
};

function createFacts(fixture: Fixture, shop: string, live: boolean): Facts {
  const findWord = (states: Fixture['states']) =>
    Object.entries(states).find(([, means]) => means === 'succeeded')?.[0] ?? '';
  const words = { status: findWord(fixture.states), refundStatus: findWord(fixture.refundStates ?? fixture.states) };
  const ids = {
    id: PAYMENT_ID,
    refund: '2e1cbe1a-000f-5000-9000-145f6df21d70',
    order: ORDER.id,
    refundOrder: REFUND.id,
    saved: 'method-check-5',
  };
  const [reason = ''] = typeof fixture.reasons === 'string' ? [] : Object.keys(fixture.reasons);
  return { ...ids, ...words, reason, amount: AMOUNT, currency: 'RUB', shop, test: !live, refunds: [] };
}

/** As it is made without any vendor: creating does no I/O. */
export async function describeProvider({
  plugin,
  fixture,
}: Pick<PaymentSubject, 'plugin' | 'fixture'>): Promise<PaymentProvider> {
  const open = openAt(UNUSED_URL, plugin, fixture.settings);
  await open.close();
  return open.provider;
}

export function openAt(
  origin: string,
  plugin: PaymentPlugin,
  settings: Readonly<Record<string, unknown>>,
  { log = { warn() {} }, clock }: { readonly log?: OutputWatch['log']; readonly clock?: HostClock } = {},
): OpenProvider<PaymentProvider> {
  const at = settingsAt(origin, plugin as never, settings);
  const shared = { upstream: 'check', title: 'Payment provider', log, ...(clock && { clock }) };
  return createProvider<PaymentProvider>({ plugin, settings: at, ...shared, extras: { memory: createMemory() } });
}

/** As long as the check. */
function createMemory(): HostMemory {
  const values = new Map<string, string>();
  return { get: async (name) => values.get(name), set: async (name, value) => void values.set(name, value) };
}

interface StageOptions {
  /** Another stage's, which closes it: its address stays the same. */
  readonly vendor?: Vendor;
  readonly clock?: HostClock;
}

/** Opens a stage, lets a check play on it, and closes it. */
export async function onStage(
  subject: PaymentSubject,
  play: (stage: PaymentStage) => Promise<void>,
  { vendor: shared, clock }: StageOptions = {},
): Promise<void> {
  const { plugin, fixture } = subject;
  const { shop, live } = await describeProvider(subject);
  const { baseUrl } = settingsAt(UNUSED_URL, plugin as never, fixture.settings);
  const base = typeof baseUrl === 'string' ? new URL(baseUrl).pathname.replace(/\/$/, '') : '';
  const vendor = shared ?? (await startVendor(fixture, base, createFacts(fixture, shop, live)));
  let secrets: readonly string[] = [];
  const watch = watchOutput(plugin, () => secrets);
  ({ secrets } = checkSettings({
    plugin,
    upstream: 'check',
    settings: settingsAt(vendor.origin, plugin as never, fixture.settings),
  }));
  const open = openAt(vendor.origin, plugin, fixture.settings, { log: watch.log, ...(clock && { clock }) });
  const { provider } = open;
  try {
    await play({
      vendor,
      open,
      provider,
      async call(name, signal = AbortSignal.timeout(10_000), order = {}) {
        vendor.call = name;
        return ask(provider, name, { vendor, signal, order: { ...ORDER, ...order } });
      },
    });
  } finally {
    await open.close();
    if (!shared) await vendor.close();
    watch.end();
  }
}

function ask(
  provider: PaymentProvider,
  name: CallName,
  { vendor, signal, order }: { readonly vendor: Vendor; readonly signal: AbortSignal; readonly order: Order },
): Promise<unknown> {
  switch (name) {
    case 'start':
      return provider.start(order, signal);
    case 'charge':
      assert(provider.charge, 'the provider charges nothing');
      return provider.charge({ ...order, saveMethod: false }, { ...SAVED, id: vendor.facts.saved }, signal);
    case 'fetch':
      return provider.fetch({ id: vendor.facts.id }, signal);
    case 'find':
      return provider.find(order, signal);
    case 'refund':
      assert(provider.refund, 'the provider gives nothing back');
      return provider.refund({ ...REFUND, payment: vendor.facts.id }, signal);
  }
}

export function listCallNames({ charge, refund }: PaymentProvider): readonly CallName[] {
  return ['start', 'fetch', 'find', ...(charge ? (['charge'] as const) : []), ...(refund ? (['refund'] as const) : [])];
}
