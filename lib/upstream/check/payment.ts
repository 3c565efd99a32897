// The contract suite of payment plugins: a list of checks for any folder, run by `tollgate payment check` and by tests.
import assert from 'node:assert/strict';
import { DAY_MS } from '../../base/durations.ts';
import { KOPECK } from '../../money/money.ts';
import type { PaymentPlugin, PaymentProvider } from '../contract/payment.ts';
import { isUpstreamFault } from '../host/fault.ts';
import { loadPlugin, PAYMENT_CONTRACTS } from '../host/loader.ts';
import { leavesLoop } from './first-call.ts';
import { askingChecks, RUBBISH } from './payment-asking.ts';
import { paymentFirstCallChecks } from './payment-first-call.ts';
import { loadFixture } from './payment-fixture.ts';
import { readingChecks } from './payment-reading.ts';
import { refundChecks } from './payment-refunds.ts';
import { secretChecks } from './payment-secret.ts';
import { describeProvider, ORDER, openAt } from './payment-stage.ts';
import { traceChecks } from './payment-traces.ts';
import { webhookChecks } from './payment-webhooks.ts';
import { UNUSED_URL, usesNetwork } from './stage.ts';
import type { Check } from './subject.ts';

/** The gateway sends no key that is about to be forgotten. */
const KEY_MARGIN_MS = 600_000;
/** No method of payment ends below 100 RUB. */
const LEAST_MAX = 100_000_000n;
const NO_FIXTURE = { settings: {}, states: {}, reasons: {}, payHosts: {}, untold: {}, routes: [], notices: [] };

/** Loads the plugin of a folder and lists its checks; throws when it does not load, or has no fixture to check with. */
export async function collectPaymentChecks(folder: string): Promise<readonly Check[]> {
  const plugin = await loadPlugin<PaymentPlugin>(folder, PAYMENT_CONTRACTS);
  const isAtVendor = usesNetwork(plugin as never);
  const subject = { plugin, folder, fixture: isAtVendor ? await loadFixture(folder) : NO_FIXTURE };
  const provider = await describeProvider(subject);
  const own = isAtVendor
    ? [
        paymentFirstCallChecks,
        secretChecks,
        askingChecks,
        readingChecks,
        refundChecks,
        webhookChecks,
        traceChecks,
      ].flatMap((checksOf) => checksOf(subject, provider))
    : localChecks(plugin);
  const open = () => openAt(UNUSED_URL, plugin, subject.fixture.settings);
  const created: Check = {
    group: 'provider',
    name: 'is made without holding the event loop',
    run: () => leavesLoop('making a provider', () => open().close()),
  };
  const all = [created, ...providerChecks(provider, open), ...own];
  return Object.values(Object.groupBy(all, ({ group }) => group)).flatMap((checks) => checks ?? []);
}

function providerChecks(provider: PaymentProvider, open: () => ReturnType<typeof openAt>): readonly Check[] {
  const { methods, redirectHosts, shop, keysLiveMs, live, limits = {}, noticeReply } = provider;
  const checks: [name: string, run: () => void][] = [
    ['has a way to pay, and knows its shop', () => assert(methods.length > 0 && shop !== '', show())],
    [
      'sends payers to hosts, not to URLs',
      () => assert(redirectHosts.every((host) => URL.parse(`https://${host}`)?.host === host)),
    ],
    [
      'knows how long keys live, a day at most',
      () => {
        assert(keysLiveMs > KEY_MARGIN_MS, `${keysLiveMs} ms: no order is sent in the last ten minutes of its key`);
        assert(keysLiveMs <= DAY_MS, `${keysLiveMs} ms: that is more than a day`);
      },
    ],
    [
      'has limits the right way round',
      () => assert(Object.values(limits).every(({ min, max }) => min > 0n && min <= max)),
    ],
    [
      'has limits in micro-roubles',
      () => {
        for (const { min, max } of Object.values(limits)) {
          const isMicro = min >= KOPECK && max >= LEAST_MAX;
          assert(isMicro, `${min} to ${max} micro-roubles: the least is below a kopeck, or the most below 100 RUB`);
        }
      },
    ],
    [
      'answers a webhook with a short text, if with one of its own',
      () => assert(noticeReply === undefined || (noticeReply !== '' && noticeReply.length <= 1024)),
    ],
    ['has a secret where it takes real money', () => assert(!live || !open().lacksSecret, 'no setting is a secret')],
  ];
  const show = () => JSON.stringify({ methods, shop });
  return checks.map(([name, run]) => ({ group: 'provider', name, run: async () => run() }));
}

/** Of a provider without a vendor, whose payments are only on its own page. */
function localChecks(plugin: PaymentPlugin): readonly Check[] {
  const signal = () => AbortSignal.timeout(10_000);
  const checks: [name: string, run: (provider: PaymentProvider) => Promise<void>][] = [
    ['takes no real money', async ({ live }) => assert.equal(live, false, 'it has no vendor that could')],
    [
      'begins one payment for one key, which is paid by nobody yet',
      async (provider) => {
        const one = await provider.start(ORDER, signal());
        const again = await provider.start(ORDER, signal());
        assert.equal(again.id, one.id, 'the same key began another payment');
        const state = await provider.fetch({ id: one.id }, signal());
        assert.equal(state.status, 'pending');
        assert.deepEqual([state.amount, state.currency, state.order], [ORDER.amount, 'RUB', ORDER.id]);
        assert.deepEqual([state.shop, state.test, state.refunds], [provider.shop, true, []]);
        assert.equal((await provider.find(ORDER, signal()))?.id, one.id);
      },
    ],
    [
      'says `missing` of a payment that it does not have',
      async (provider) => {
        const found: unknown = await provider.fetch({ id: 'nothing' }, signal()).catch((error: unknown) => error);
        assert(isUpstreamFault(found) && found.kind === 'missing', String(found));
        assert.equal(await provider.find({ id: 'pay_none', createdAt: 0 }, signal()), undefined);
      },
    ],
    [
      'rejects rubbish for a webhook',
      async (provider) => {
        for (const body of RUBBISH) assert.equal(provider.notice({ headers: {}, body, address: '' }), 'rejected', body);
      },
    ],
  ];
  return checks.map(([name, run]) => ({
    group: 'payments',
    name,
    async run() {
      const open = openAt(UNUSED_URL, plugin, {});
      try {
        await run(open.provider);
      } finally {
        await open.close();
      }
    },
  }));
}
