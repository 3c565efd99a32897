// Moves one payment as far as possible now: asks its provider to start it, fetches its state, requests refunds.
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/durations.ts';
import type { OpenPayment } from '../catalog/payments.ts';
import { refundRefusalOp } from '../money/payback.ts';
import { NEVER_STARTED, NOT_ACCEPTED } from '../money/payment.ts';
import { type Payment, parseRefunds, type Refund } from '../money/payment-rules.ts';
import type { SavedMethodRow } from '../store/ports/payments.ts';
import type { Store } from '../store/store.ts';
import type { UpstreamFault } from '../upstream/contract/fault.ts';
import type { PaymentState, RefundOrder, Started } from '../upstream/contract/payment.ts';
import { isUpstreamFault, upstreamFault } from '../upstream/host/fault.ts';
import { hasUnsentRefund, type PaymentFollower, type PaymentLog } from './follower.ts';
import { toProviderId } from './ids.ts';
import { buildOrder, parseOrderFacts } from './order-facts.ts';
import { isDue, nextPollAt, nextRefundPollAt } from './poll-schedule.ts';
import { findProviderFault } from './provider-fault.ts';
import { readRestoredAt } from './restored.ts';

interface WorkOptions {
  readonly store: Pick<Store, 'payments' | 'ledger' | 'settings'>;
  readonly follow: PaymentFollower;
  /** The providers that are enabled now. */
  readonly providers: () => ReadonlyMap<string, OpenPayment>;
  readonly now: () => number;
  readonly log: PaymentLog;
  /** A request to a provider failed or was refused. */
  readonly onFailure?: ((provider: string, kind: UpstreamFault['kind']) => void) | undefined;
}

/**
 * Resolves to the payment afterwards, also if its provider failed or took longer than the signal allows; rejects with
 * `StoreError`, or when the signal aborts for another reason.
 */
type Work = (payment: Payment, signal: AbortSignal) => Promise<Payment>;

/** An idempotency key is not sent in the last minutes of its life, because the request takes time. */
const KEY_MARGIN_MS = 600_000;
/** After this time, a request has either arrived or never will. */
const SETTLED_MS = 900_000;
const DISABLED_PROVIDER_RETRY_MS = 600_000;
/** A provider that has not answered about a payment for so long is not asked again. */
const GIVE_UP_MS = 30 * DAY_MS;

export function createWork({ store, follow: steps, providers, now, log, onFailure }: WorkOptions): Work {
  const { follow, change } = steps;

  async function workOnPayment(payment: Payment, signal: AbortSignal): Promise<Payment> {
    const open = providers().get(payment.provider);
    if (!open) return postponePoll(payment, await nextPollWhileOff(payment));
    try {
      const begun = payment.phase === 'created' ? await startAtProvider(payment, open, signal) : payment;
      if (begun.ref === null || (begun.version !== payment.version && !isDue(begun, now()))) return begun;
      const asked = hasUnsentRefund(begun) ? await sendRefunds(begun, open, signal) : begun;
      return await follow(asked, open, await fetchState(open, begun.ref, signal));
    } catch (error) {
      const failure = findProviderFault(error, signal);
      if (!failure) throw error;
      const { kind, detail, status } = failure;
      onFailure?.(payment.provider, kind);
      log.warn({ payment: payment.id, provider: payment.provider, kind, status, detail }, 'a payment provider failed');
      const known = await store.payments.get(payment.id);
      return known ? postponePoll(known, await nextPollAfterFailure(known, kind)) : payment;
    }
  }

  async function fetchState({ provider }: OpenPayment, ref: string, signal: AbortSignal): Promise<PaymentState> {
    const state = await provider.fetch({ id: ref }, signal);
    if (state.id !== ref) throw upstreamFault('protocol', `it was asked about ${ref} and told of ${state.id}`);
    return state;
  }

  async function nextPollAfterFailure(payment: Payment, kind: UpstreamFault['kind']): Promise<number | null> {
    const at = now();
    const { phase, credited, createdAt } = payment;
    // While a provider is down for days, the payment may have been made there, or refunded.
    const patienceMs = kind === 'missing' ? DAY_MS : GIVE_UP_MS;
    if (phase === 'succeeded') return at + 5000;
    const asked = parseRefunds(payment).find(({ state }) => state === 'asked');
    const since = asked?.at ?? (await wantedSince(payment));
    if (credited > 0n) return asked || at - since < patienceMs ? nextRefundPollAt(since, at) : null;
    return nextPollAt(payment, at) ?? (at - createdAt < patienceMs ? at + HOUR_MS : null);
  }

  /** A payment that waits for nothing is only asked about because of a restore, with all others. */
  async function nextPollWhileOff(payment: Payment): Promise<number | null> {
    const isWaiting = payment.credited === 0n || parseRefunds(payment).some(({ state }) => state === 'asked');
    return isWaiting ? now() + DISABLED_PROVIDER_RETRY_MS : nextPollAfterFailure(payment, 'network');
  }

  /** Since when its provider is asked about a payment. */
  async function wantedSince({ changedAt, credited }: Payment): Promise<number> {
    return credited === 0n ? changedAt : Math.max(changedAt, await readRestoredAt(store));
  }

  /** Does nothing to a payment that is not due at all: polling it by hand does not schedule polls. */
  async function postponePoll(payment: Payment, dueAt: number | null): Promise<Payment> {
    const { id, version, phase } = payment;
    if (payment.dueAt === null) return payment;
    const base = { id, version, at: now() };
    if (phase !== 'pending' || nextPollAt(payment, base.at) !== null) return change({ kind: 'poll', ...base, dueAt });
    return change({ kind: 'expire', ...base, reason: 'its provider could not be asked', dueAt });
  }

  async function startAtProvider(payment: Payment, open: OpenPayment, signal: AbortSignal): Promise<Payment> {
    const { provider } = open;
    const age = now() - payment.createdAt;
    const { charges } = parseOrderFacts(payment);
    const method = charges === undefined ? undefined : await store.payments.method(charges);
    const isWithdrawn = charges !== undefined && !(await isChargeWanted(payment, method));
    // Such an order and a refused one are not sent again, but an earlier attempt may have succeeded.
    const isOver = isWithdrawn || payment.reason === NOT_ACCEPTED;
    if (isOver || age > Math.min(provider.keysLiveMs, DAY_MS) - KEY_MARGIN_MS)
      return findAtProvider(payment, open, signal);
    try {
      if (!method) return recordStart(payment, open, await provider.start(buildOrder(payment), signal));
      if (!provider.charge) return failPayment(payment, 'the provider does not charge saved methods');
      const { ref, kind, brand, last4, expiry, fingerprint } = method;
      const saved = { id: ref, kind: kind as 'card', brand, last4, expiry, fingerprint };
      return recordFoundStart(
        payment,
        await provider.charge(buildOrder(payment), saved, signal).catch(hideMethodRef(ref)),
      );
    } catch (error) {
      if (!isUpstreamFault(error) || signal.aborted) throw error;
      if (isAccountFault(error, method)) return handleNotAccepted(payment, error);
      if (error.kind !== 'request') throw error;
      // An earlier attempt may have started the payment that is refused now.
      return payment.version === 1 ? failPayment(payment, error.detail) : findAtProvider(payment, open, signal);
    }
  }

  /** False once the owner has removed the method, chosen another, or turned automatic top-up off, or is suspended. */
  async function isChargeWanted({ wallet }: Payment, method: SavedMethodRow | undefined): Promise<boolean> {
    if (!method || method.removedAt !== null) return false;
    const [auto, funds] = await Promise.all([store.payments.autoTopup(wallet), store.ledger.wallet(wallet)]);
    return auto?.enabled === true && auto.method === method.id && funds?.status === 'active';
  }

  /**
   * The operator has to fix the account, which may take days; nobody waits for the order that long, so it ends. Only a
   * charge that an earlier attempt may have made is searched for.
   */
  async function handleNotAccepted(payment: Payment, error: UpstreamFault): Promise<Payment> {
    const { id, version, provider, origin } = payment;
    const { kind, status, detail } = error;
    onFailure?.(provider, kind);
    log.error(
      { payment: id, provider, kind, status, detail },
      'a payment provider accepts nothing of ours: see its secret',
    );
    if (version === 1 || origin === 'manual') return failPayment(payment, NOT_ACCEPTED);
    const at = now();
    return change({ kind: 'poll', id, version, at, dueAt: at + MINUTE_MS, reason: NOT_ACCEPTED });
  }

  /** The order must not be sent again: an earlier attempt may have succeeded, or still may. */
  async function findAtProvider(payment: Payment, { provider }: OpenPayment, signal: AbortSignal): Promise<Payment> {
    const { id, createdAt } = payment;
    const state = await provider.find({ id, createdAt }, signal);
    if (state) return recordFoundStart(payment, state);
    const at = now();
    return at - createdAt < SETTLED_MS ? postponePoll(payment, at + MINUTE_MS) : failPayment(payment, NEVER_STARTED);
  }

  /** Does not use the found state: the next step fetches it. */
  async function recordFoundStart(payment: Payment, { id: ref }: PaymentState): Promise<Payment> {
    const { id, version, createdAt } = payment;
    await refuseKnown(payment, ref);
    const at = now();
    return change({ kind: 'begin', id, version, at, ref, payUrl: null, expiresAt: createdAt + DAY_MS, dueAt: at });
  }

  async function recordStart(payment: Payment, { provider }: OpenPayment, started: Started): Promise<Payment> {
    const { id, version, createdAt } = payment;
    const { id: ref, expiresAt } = started;
    await refuseKnown(payment, ref);
    const isOwn = !provider.live && started.payUrl.startsWith(`${parseOrderFacts(payment).pageUrl}/`);
    const isAllowed = isOwn || isAllowedRedirect(started.payUrl, provider);
    if (!isAllowed)
      log.error({ payment: id, provider: payment.provider }, 'a payment link points to a host that is not allowed');
    const at = now();
    const dueAt = nextPollAt({ createdAt, expiresAt }, at) ?? at;
    const payUrl = isAllowed ? started.payUrl : null;
    return change({ kind: 'begin', id, version, at, ref, payUrl, expiresAt, dueAt });
  }

  async function refuseKnown({ id, provider }: Payment, ref: string): Promise<void> {
    const known = await store.payments.find(provider, ref);
    if (known && known.id !== id) throw upstreamFault('protocol', `it began ${id} as ${ref}, which is ${known.id}`);
  }

  function failPayment({ id, version }: Payment, reason: string): Promise<Payment> {
    return change({ kind: 'fail', id, version, at: now(), reason });
  }

  /** The next fetch shows how the refunds ended. */
  async function sendRefunds(payment: Payment, open: OpenPayment, signal: AbortSignal): Promise<Payment> {
    let current = payment;
    for (const refund of parseRefunds(payment).filter(({ state, ref }) => state === 'asked' && ref === null)) {
      current = await sendRefund(current, refund, open, signal);
    }
    return current;
  }

  async function sendRefund(
    payment: Payment,
    refund: Refund,
    { provider }: OpenPayment,
    signal: AbortSignal,
  ): Promise<Payment> {
    const { id, version } = payment;
    const at = now();
    const refuse = (reason: string) => steps.book(refundRefusalOp(payment, { at, refund: refund.id, reason }));
    if (!provider.refund) return refuse('this provider gives nothing back: do it there by hand');
    // The key is too old to send: the fetched refunds show by our id whether the provider made this one.
    if (at - refund.at > Math.min(provider.keysLiveMs, DAY_MS) - KEY_MARGIN_MS) return payment;
    try {
      const { id: ref } = await provider.refund(buildRefundOrder(payment, refund), signal);
      return await change({ kind: 'note_refund', id, version, at, refund: refund.id, ref, dueAt: at });
    } catch (error) {
      if (isUpstreamFault(error) && error.kind === 'request' && !signal.aborted) return refuse(error.detail);
      throw error;
    }
  }

  return workOnPayment;
}

function buildRefundOrder(payment: Payment, { amount, reason, at, ...refund }: Refund): RefundOrder {
  const id = toProviderId(refund.id);
  const what = { id, idempotenceKey: id, payment: payment.ref ?? '', amount: BigInt(amount) };
  const { email } = parseOrderFacts(payment);
  return { ...what, currency: 'RUB', reason, ...(email !== undefined && { email }), createdAt: at };
}

/** Whether the provider refuses every request of this account. `missing` with a saved method is about that method. */
function isAccountFault({ kind }: UpstreamFault, method: object | undefined): boolean {
  return kind === 'auth' || kind === 'quota' || (kind === 'missing' && !method);
}

/** A provider's message may repeat the method's id, and operators see the message. */
function hideMethodRef(ref: string): (error: unknown) => never {
  return (error) => {
    if (!isUpstreamFault(error) || !error.detail.includes(ref)) throw error;
    throw upstreamFault(error.kind, error.detail.replaceAll(ref, '…'), error);
  };
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

function isAllowedRedirect(text: string, { redirectHosts, live }: OpenPayment['provider']): boolean {
  const url = URL.parse(text);
  if (url?.username !== '' || url.password !== '' || !redirectHosts.includes(url.host)) return false;
  return url.protocol === 'https:' || (!live && url.protocol === 'http:' && LOOPBACK.has(url.hostname));
}
