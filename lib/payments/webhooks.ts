// Handles webhooks of payment providers. A webhook is trusted only for which payments to fetch, and only for payments
// that are or may be ours. It is answered with success once all its consequences are stored; until then its sender has
// to repeat it. Anybody can send one, so the stored bytes and the fetches per webhook are limited.
import { DAY_MS, MINUTE_MS } from '../base/durations.ts';
import type { OpenPayment } from '../catalog/payments.ts';
import type { Payment } from '../money/payment-rules.ts';
import type { PaymentWebhook } from '../store/ports/payments.ts';
import type { Store } from '../store/store.ts';
import type { NoticeVerdict, PaymentState, RawNotice } from '../upstream/contract/payment.ts';
import { isUpstreamFault } from '../upstream/host/fault.ts';
import { PAID_TWICE, type PaymentFollower, type PaymentLog } from './follower.ts';
import { newId } from './ids.ts';
import { maskJson } from './mask.ts';
import { findProviderFault } from './provider-fault.ts';

interface WebhookHandlerOptions {
  readonly store: Pick<Store, 'payments'>;
  readonly follow: PaymentFollower;
  readonly now: () => number;
  readonly log: PaymentLog;
}

/** `done`: everything is stored; `again`: something failed; `rejected`: not a webhook of this provider. */
export type WebhookOutcome = 'done' | 'again' | 'rejected';

interface WebhookHandler {
  handle(open: OpenPayment, raw: RawNotice, signal: AbortSignal): Promise<WebhookOutcome>;
}

/** A forged webhook must not make the gateway send the provider a thousand requests. */
const FETCHES_MAX = 10;
/** Webhooks per payment, and of all unknown payments together; a provider sends a few and repeats failed ones. */
const PER_MINUTE = 20;
/** Bytes stored of a webhook that has no effect: enough to see what it was. */
const EXCERPT_BYTES = 300;
const HEADERS_CHARS_MAX = 8 * 1024;
/** How long a webhook may name an abandoned order without a `ref`: links live an hour, webhooks repeat for a day. */
const UNKNOWN_REF_MS = 3 * DAY_MS;

export function createWebhookHandler({
  store: { payments },
  follow: { follow },
  now,
  log,
}: WebhookHandlerOptions): WebhookHandler {
  const limiter = createWebhookLimiter(now);

  async function handle(open: OpenPayment, raw: RawNotice, signal: AbortSignal): Promise<WebhookOutcome> {
    const at = now();
    const { address, body } = raw;
    const received = { id: newId('ntc', at), provider: open.name, at, address };
    const cut = { ...received, headers: '', body: cutExcerpt(body) };
    const verdict = readVerdict(open, raw);
    if (verdict === 'rejected') {
      await payments.addWebhook({ ...cut, verdict: 'rejected', detail: '' });
      return 'rejected';
    }
    const named = [...new Set(verdict.fetch.slice(0, FETCHES_MAX))];
    const ours = await findOurs(open, named);
    if (ours.length === 0) {
      await payments.addWebhook({ ...cut, verdict: 'foreign', detail: named.map(() => FOREIGN).join(', ') });
      return 'done';
    }
    // Not stored either: otherwise anybody who knows an id could fill the disk.
    if (!ours.every(({ known }) => isWithinLimit(open, known, address))) return 'again';
    const json = JSON.stringify(raw.headers);
    const headers = json.length > HEADERS_CHARS_MAX ? '{}' : json;
    await payments.addWebhook({ ...received, headers, body, verdict: 'received', detail: '' });
    try {
      const found: string[] = [];
      for (const { ref } of ours) found.push(await fetchAndFollow(open, ref, signal));
      await recordVerdict(received.id, found.every((what) => what === FOREIGN) ? 'foreign' : 'done', found.join(', '));
      return 'done';
    } catch (error) {
      log.warn({ err: error, webhook: received.id, provider: open.name }, 'could not process a webhook');
      const cause = findProviderFault(error, signal)?.kind ?? 'the store did not answer';
      await recordVerdict(received.id, 'failed', cause);
      return 'again';
    }
  }

  /**
   * The named payments that are ours, or may be because the answer to their start was lost. Only these are fetched with
   * our credentials.
   */
  async function findOurs(
    { name }: OpenPayment,
    named: readonly string[],
  ): Promise<{ readonly ref: string; readonly known: string | undefined }[]> {
    // Before the search: an order that gets its `ref` in between is then found by it.
    const mayBeOurs = await payments.hasUnknownRefs(name, now() - UNKNOWN_REF_MS);
    const found = await Promise.all(named.map(async (ref) => ({ ref, known: (await payments.find(name, ref))?.id })));
    return found.filter(({ known }) => mayBeOurs || known !== undefined);
  }

  /** The provider's own addresses have a separate count, which a flood from elsewhere does not use up. */
  function isWithinLimit({ name, provider }: OpenPayment, known: string | undefined, address: string): boolean {
    return limiter.allows(known ?? `${name} ${isSender(provider, address)}`);
  }

  function readVerdict({ name, provider }: OpenPayment, raw: RawNotice): NoticeVerdict {
    try {
      return provider.notice(raw);
    } catch (err) {
      log.warn({ err, provider: name }, 'a payment plugin could not read a webhook');
      return 'rejected';
    }
  }

  /** Failures are only logged: the money is already settled, and the verdict only informs the operator. */
  async function recordVerdict(id: string, verdict: PaymentWebhook['verdict'], detail: string): Promise<void> {
    await payments
      .setWebhookVerdict(id, { verdict, detail })
      .catch((err: unknown) => log.warn({ err, webhook: id }, 'could not record the verdict on a webhook'));
  }

  async function fetchAndFollow(open: OpenPayment, ref: string, signal: AbortSignal): Promise<string> {
    const state = await fetchState(open, ref, signal);
    const payment = state && (await findPayment(open, state));
    if (!payment) return FOREIGN;
    const { id, phase } = await follow(payment, open, state);
    return `${id} ${phase}`;
  }

  /** Undefined if the provider has no such payment. If it had started it for us, the answer is wrong: throws to retry. */
  async function fetchState(
    { name, provider }: OpenPayment,
    id: string,
    signal: AbortSignal,
  ): Promise<PaymentState | undefined> {
    try {
      return await provider.fetch({ id }, signal);
    } catch (error) {
      const isMissing = isUpstreamFault(error) && error.kind === 'missing';
      if (isMissing && !(await payments.find(name, id))) return undefined;
      throw error;
    }
  }

  /** The payment with this `ref`, or else the order that the state names, if that order has no `ref` yet. */
  async function findPayment({ name }: OpenPayment, { id: ref, order }: PaymentState): Promise<Payment | undefined> {
    const known = await payments.find(name, ref);
    if (known || order === null) return known;
    const named = await payments.get(order);
    if (named?.provider !== name) return undefined;
    // The order may just have got this `ref`.
    if (named.ref === null || named.ref === ref) return named;
    log.error({ payment: order, found: ref }, PAID_TWICE);
    return undefined;
  }

  return { handle };
}

/** Whether the plugin knows the address as one of its provider. */
export function isSender(provider: OpenPayment['provider'], address: string): boolean {
  try {
    return provider.isSender?.(address) === true;
  } catch {
    return false;
  }
}

/** Counts per name within a fixed window of one minute. */
function createWebhookLimiter(now: () => number): { allows(name: string): boolean } {
  let counts = new Map<string, number>();
  let since = Number.NEGATIVE_INFINITY;
  return {
    allows(name) {
      const at = now();
      // `abs`, because the clock may have been set back.
      if (Math.abs(at - since) >= MINUTE_MS) {
        counts = new Map();
        since = at;
      }
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      return count <= PER_MINUTE;
    },
  };
}

/** Whole characters. Masked before the cut, because the excerpt is no longer JSON. */
function cutExcerpt(body: string): string {
  return new TextDecoder().decode(Buffer.from(maskJson(body, 0)).subarray(0, EXCERPT_BYTES)).replace(/\uFFFD$/, '');
}

/** Stored as the detail of a payment that belongs to no order of this gateway. */
export const FOREIGN = 'not of this service';
