// Moves one payment as far as it goes now: asks its provider to start it, fetches its state, requests refunds.
import type { OpenPayment } from '../catalog/payments.ts';
import { refundRefusalOp } from '../money/payback.ts';
import { NEVER_STARTED, NOT_ACCEPTED } from '../money/payment.ts';
import { type Payment, parseRefunds, type Refund } from '../money/payment-rules.ts';
import type { Store } from '../store/store.ts';
import type { UpstreamFault } from '../upstream/contract/fault.ts';
import type { PaymentState, RefundOrder, Started } from '../upstream/contract/payment.ts';
import { isUpstreamFault, upstreamFault } from '../upstream/host/fault.ts';
import { factsOf, orderOf } from './facts.ts';
import { type Follow, hasAsked, type PaymentLog } from './follow.ts';
import { nextLookAt, nextRefundLookAt } from './pace.ts';

export interface WorkOptions {
  readonly store: Pick<Store, 'payments'>;
  readonly follow: Follow;
  /** The providers that are switched on now. */
  readonly providers: () => ReadonlyMap<string, OpenPayment>;
  readonly now: () => number;
  readonly log: PaymentLog;
  /** A provider could not be asked, or refused. */
  readonly onFailure?: ((provider: string, kind: UpstreamFault['kind']) => void) | undefined;
}

/** Resolves to the payment afterwards; rejects with `StoreError`, or when the signal aborts. */
export type Work = (payment: Payment, signal: AbortSignal) => Promise<Payment>;

const DAY_MS = 86_400_000;
/** A key is not sent in the last minutes of its life, because the request takes time. */
const KEY_MARGIN_MS = 600_000;
/** By then, anything sent has either arrived or never will. */
const SETTLED_MS = 900_000;
const MINUTE_MS = 60_000;
/** How soon a provider that is switched off is checked for again. */
const ABSENT_MS = 600_000;

export function createWork({ store, follow: steps, providers, now, log, onFailure }: WorkOptions): Work {
  const { follow, change } = steps;

  async function work(payment: Payment, signal: AbortSignal): Promise<Payment> {
    const open = providers().get(payment.provider);
    if (!open) return later(payment, now() + ABSENT_MS);
    try {
      const begun = payment.phase === 'created' ? await begin(payment, open, signal) : payment;
      if (begun.ref === null || (begun.version !== payment.version && !isDue(begun))) return begun;
      const asked = hasAsked(begun) ? await askRefunds(begun, open, signal) : begun;
      return await follow(asked, open, await open.provider.fetch({ id: begun.ref }, signal));
    } catch (error) {
      if (!isUpstreamFault(error) || signal.aborted) throw error;
      const { kind, detail, status } = error;
      onFailure?.(payment.provider, kind);
      log.warn({ payment: payment.id, provider: payment.provider, kind, status, detail }, 'a payment provider failed');
      const known = await store.payments.get(payment.id);
      return known ? later(known, nextAt(known)) : payment;
    }
  }

  function isDue({ dueAt }: Payment): boolean {
    return dueAt !== null && dueAt <= now();
  }

  function nextAt(payment: Payment): number | null {
    const at = now();
    if (payment.phase === 'succeeded') return at + 5000;
    const asked = parseRefunds(payment).filter(({ state }) => state === 'asked');
    if (payment.credited > 0n) {
      const { at: since } = asked[0] ?? { at: payment.changedAt };
      return asked[0] || at - since < DAY_MS ? nextRefundLookAt(since, at) : null;
    }
    return nextLookAt(payment, at);
  }

  /** Only if somebody waits for it: a payment at rest stays at rest when it is looked at. */
  async function later(payment: Payment, dueAt: number | null): Promise<Payment> {
    const { id, version, phase } = payment;
    if (payment.dueAt === null) return payment;
    const base = { id, version, at: now() };
    if (dueAt !== null || phase !== 'pending') return change({ kind: 'look', ...base, dueAt });
    return change({ kind: 'expire', ...base, reason: 'its provider could not be asked', dueAt });
  }

  async function begin(payment: Payment, open: OpenPayment, signal: AbortSignal): Promise<Payment> {
    const { provider } = open;
    const age = now() - payment.createdAt;
    const { charges } = factsOf(payment);
    const method = charges === undefined ? undefined : await store.payments.method(charges);
    const isGone = charges !== undefined && (!method || method.removedAt !== null);
    // Neither is sent again, a removed method and an order that was refused, but an earlier attempt may have gone through.
    const isOver = isGone || payment.reason === NOT_ACCEPTED;
    if (isOver || age > Math.min(provider.keysLiveMs, DAY_MS) - KEY_MARGIN_MS) return found(payment, open, signal);
    try {
      if (!method) return begun(payment, open, await provider.start(orderOf(payment), signal));
      if (!provider.charge) return fail(payment, 'the provider does not charge saved methods');
      const { ref, kind, brand, last4, expiry, fingerprint } = method;
      const saved = { id: ref, kind: kind as 'card', brand, last4, expiry, fingerprint };
      return known(payment, await provider.charge(orderOf(payment), saved, signal).catch(withoutRef(ref)));
    } catch (error) {
      if (!isUpstreamFault(error) || signal.aborted) throw error;
      if (isAboutUs(error, method)) return notAccepted(payment, error);
      if (error.kind !== 'request') throw error;
      // What is refused now may have been started by an earlier attempt.
      return payment.version === 1 ? fail(payment, error.detail) : found(payment, open, signal);
    }
  }

  /**
   * The operator has to mend it, which may take days: by then nobody waits for this order any more, so it ends. Only a
   * card that an earlier attempt may have charged is looked for.
   */
  async function notAccepted(payment: Payment, error: UpstreamFault): Promise<Payment> {
    const { id, version, provider, origin } = payment;
    const { kind, status, detail } = error;
    onFailure?.(provider, kind);
    log.error(
      { payment: id, provider, kind, status, detail },
      'a payment provider accepts nothing of ours: see its secret',
    );
    if (version === 1 || origin === 'manual') return fail(payment, NOT_ACCEPTED);
    const at = now();
    return change({ kind: 'look', id, version, at, dueAt: at + MINUTE_MS, reason: NOT_ACCEPTED });
  }

  /** It must not be sent again: an earlier attempt may have succeeded, or still will. */
  async function found(payment: Payment, { provider }: OpenPayment, signal: AbortSignal): Promise<Payment> {
    const { id, createdAt } = payment;
    const state = await provider.find({ id, createdAt }, signal);
    if (state) return known(payment, state);
    const at = now();
    return at - createdAt < SETTLED_MS ? later(payment, at + MINUTE_MS) : fail(payment, NEVER_STARTED);
  }

  /** Its state counts only once it is fetched, which comes next. */
  function known(payment: Payment, { id: ref }: PaymentState): Promise<Payment> {
    const { id, version, createdAt } = payment;
    const at = now();
    return change({ kind: 'begin', id, version, at, ref, payUrl: null, expiresAt: createdAt + DAY_MS, dueAt: at });
  }

  function begun(payment: Payment, { provider }: OpenPayment, started: Started): Promise<Payment> {
    const { id, version, createdAt } = payment;
    const { id: ref, expiresAt } = started;
    const isOwn = !provider.live && started.payUrl.startsWith(`${factsOf(payment).pageUrl}/`);
    const isAllowed = isOwn || isRedirect(started.payUrl, provider);
    if (!isAllowed)
      log.error({ payment: id, provider: payment.provider }, 'a payment link points to a host that is not allowed');
    const at = now();
    const dueAt = nextLookAt({ createdAt, expiresAt }, at) ?? at;
    const payUrl = isAllowed ? started.payUrl : null;
    return change({ kind: 'begin', id, version, at, ref, payUrl, expiresAt, dueAt });
  }

  function fail({ id, version }: Payment, reason: string): Promise<Payment> {
    return change({ kind: 'fail', id, version, at: now(), reason });
  }

  /** The fetch that follows sees how they ended. */
  async function askRefunds(payment: Payment, open: OpenPayment, signal: AbortSignal): Promise<Payment> {
    let current = payment;
    for (const refund of parseRefunds(payment).filter(({ state, ref }) => state === 'asked' && ref === null)) {
      current = await askRefund(current, refund, open, signal);
    }
    return current;
  }

  async function askRefund(
    payment: Payment,
    refund: Refund,
    { provider }: OpenPayment,
    signal: AbortSignal,
  ): Promise<Payment> {
    const { id, version } = payment;
    const at = now();
    const refuse = (reason: string) => steps.book(refundRefusalOp(payment, { at, refund: refund.id, reason }));
    if (!provider.refund) return refuse('this provider gives nothing back: do it there by hand');
    // What the provider did shows by its id in the fetched refunds.
    if (at - refund.at > Math.min(provider.keysLiveMs, DAY_MS) - KEY_MARGIN_MS) return payment;
    try {
      const { id: ref } = await provider.refund(refundOrderOf(payment, refund), signal);
      return await change({ kind: 'note_refund', id, version, at, refund: refund.id, ref, dueAt: at });
    } catch (error) {
      if (isUpstreamFault(error) && error.kind === 'request' && !signal.aborted) return refuse(error.detail);
      throw error;
    }
  }

  return work;
}

function refundOrderOf(payment: Payment, { id, amount, reason, at }: Refund): RefundOrder {
  const what = { id, idempotenceKey: id, payment: payment.ref ?? '', amount: BigInt(amount) };
  const { email } = factsOf(payment);
  return { ...what, currency: 'RUB', reason, ...(email !== undefined && { email }), createdAt: at };
}

/** Whether it refuses whatever we send; that a card is unknown is about the card. */
function isAboutUs({ kind }: UpstreamFault, method: object | undefined): boolean {
  return kind === 'auth' || kind === 'quota' || (kind === 'missing' && !method);
}

/** A provider may repeat what it was sent, and its words are shown. */
function withoutRef(ref: string): (error: unknown) => never {
  return (error) => {
    if (!isUpstreamFault(error) || !error.detail.includes(ref)) throw error;
    throw upstreamFault(error.kind, error.detail.replaceAll(ref, '…'), error);
  };
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

function isRedirect(text: string, { redirectHosts, live }: OpenPayment['provider']): boolean {
  const url = URL.parse(text);
  if (url?.username !== '' || url.password !== '' || !redirectHosts.includes(url.host)) return false;
  return url.protocol === 'https:' || (!live && url.protocol === 'http:' && LOOPBACK.has(url.hostname));
}
