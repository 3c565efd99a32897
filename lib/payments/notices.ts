// Notices of providers: trusted only for which payments to fetch, and only those that are or may be ours. A notice is
// done once all its consequences are stored; until then its sender is told to send it again. Anybody can send them, so
// what is stored of them and asked for them is bounded.
import type { OpenPayment } from '../catalog/payments.ts';
import type { Payment } from '../money/payment-rules.ts';
import type { PaymentWebhook } from '../store/ports/payments.ts';
import type { Store } from '../store/store.ts';
import type { NoticeVerdict, PaymentState, RawNotice } from '../upstream/contract/payment.ts';
import { isUpstreamFault } from '../upstream/host/fault.ts';
import type { Follow, PaymentLog } from './follow.ts';
import { newId } from './ids.ts';
import { maskJson } from './mask.ts';

export interface NoticesOptions {
  readonly store: Pick<Store, 'payments'>;
  readonly follow: Follow;
  readonly now: () => number;
  readonly log: PaymentLog;
}

/** `done`: everything is stored; `again`: something failed; `rejected`: not a notice of this provider. */
export type NoticeEnd = 'done' | 'again' | 'rejected';

export interface Notices {
  take(open: OpenPayment, raw: RawNotice, signal: AbortSignal): Promise<NoticeEnd>;
}

/** A forged one must not make us send the provider a thousand requests. */
const FETCHES_MAX = 10;
/** Notices of one payment, and those of unknown ones from anywhere; a provider sends a few and repeats what fails. */
const PER_MINUTE = 20;
const MINUTE_MS = 60_000;
/** Bytes stored of a notice that nothing comes of: enough to see what it was. */
const EXCERPT_BYTES = 300;
const HEADERS_CHARS_MAX = 8 * 1024;
/** How long an order that was given up may still be heard of: links live an hour, notices are repeated for a day. */
const UNTOLD_MS = 3 * 86_400_000;

export function createNotices({ store: { payments }, follow: { follow }, now, log }: NoticesOptions): Notices {
  const pace = createNoticePace(now);

  async function take(open: OpenPayment, raw: RawNotice, signal: AbortSignal): Promise<NoticeEnd> {
    const at = now();
    const { address, body } = raw;
    const came = { id: newId('ntc', at), provider: open.name, at, address };
    const cut = { ...came, headers: '', body: excerptOf(body) };
    const verdict = judge(open, raw);
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
    // Not stored either: whoever knows an id could fill the disk with it.
    if (!ours.every(({ known }) => isInPace(open, known, address))) return 'again';
    const json = JSON.stringify(raw.headers);
    const headers = json.length > HEADERS_CHARS_MAX ? '{}' : json;
    await payments.addWebhook({ ...came, headers, body, verdict: 'received', detail: '' });
    try {
      const found: string[] = [];
      for (const { ref } of ours) found.push(await look(open, ref, signal));
      await judged(came.id, found.every((what) => what === FOREIGN) ? 'foreign' : 'done', found.join(', '));
      return 'done';
    } catch (error) {
      log.warn({ err: error, notice: came.id, provider: open.name }, 'could not process a notice');
      await judged(came.id, 'failed', isUpstreamFault(error) ? error.kind : 'the store did not answer');
      return 'again';
    }
  }

  /**
   * Those named that are payments of ours, or may be because the answer to their start was lost: only they are asked
   * for with our credentials.
   */
  async function findOurs(
    { name }: OpenPayment,
    named: readonly string[],
  ): Promise<{ readonly ref: string; readonly known: string | undefined }[]> {
    // First: an order that is told its id in between is found by it.
    const mayBeOurs = await payments.hasUnknownRefs(name, now() - UNTOLD_MS);
    const found = await Promise.all(named.map(async (ref) => ({ ref, known: (await payments.find(name, ref))?.id })));
    return found.filter(({ known }) => mayBeOurs || known !== undefined);
  }

  /** The provider's own senders have a count of their own: a flood from elsewhere does not use it up. */
  function isInPace({ name, provider }: OpenPayment, known: string | undefined, address: string): boolean {
    return pace.allows(known ?? `${name} ${isSender(provider, address)}`);
  }

  function judge({ name, provider }: OpenPayment, raw: RawNotice): NoticeVerdict {
    try {
      return provider.notice(raw);
    } catch (err) {
      log.warn({ err, provider: name }, 'a payment plugin could not read a notice');
      return 'rejected';
    }
  }

  /** The money is already settled either way: the verdict is only for the operator. */
  async function judged(id: string, verdict: PaymentWebhook['verdict'], detail: string): Promise<void> {
    await payments
      .setWebhookVerdict(id, { verdict, detail })
      .catch((err: unknown) => log.warn({ err, notice: id }, 'could not record the verdict on a notice'));
  }

  async function look(open: OpenPayment, ref: string, signal: AbortSignal): Promise<string> {
    const state = await fetched(open, ref, signal);
    const payment = state && (await owner(open, state));
    if (!payment) return FOREIGN;
    const { id, phase } = await follow(payment, open, state);
    return `${id} ${phase}`;
  }

  /** Undefined if the provider has no such payment, unless it began it for us: then it is mistaken, and asked again. */
  async function fetched(
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

  /** The payment with this id; or the order it names, as long as we do not know the provider's id for it. */
  async function owner({ name }: OpenPayment, { id: ref, order }: PaymentState): Promise<Payment | undefined> {
    const known = await payments.find(name, ref);
    if (known || order === null) return known;
    const named = await payments.get(order);
    if (named?.provider !== name) return undefined;
    if (named.ref !== null) log.error({ payment: order, found: ref }, 'an order was paid twice at its provider');
    return named.ref === null ? named : undefined;
  }

  return { take };
}

/** Whether the provider itself sends from there, as far as its plugin knows. */
export function isSender(provider: OpenPayment['provider'], address: string): boolean {
  try {
    return provider.isSender?.(address) === true;
  } catch {
    return false;
  }
}

/** Counts by name, anew every minute. */
function createNoticePace(now: () => number): { allows(name: string): boolean } {
  let counts = new Map<string, number>();
  let since = Number.NEGATIVE_INFINITY;
  return {
    allows(name) {
      const at = now();
      // Also after the clock was set back.
      if (Math.abs(at - since) >= MINUTE_MS) [counts, since] = [new Map(), at];
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      return count <= PER_MINUTE;
    },
  };
}

/** Whole characters, masked while it can be read: the part that is shown later is not JSON any more. */
function excerptOf(body: string): string {
  return new TextDecoder().decode(Buffer.from(maskJson(body, 0)).subarray(0, EXCERPT_BYTES)).replace(/\uFFFD$/, '');
}

/** What is noted of a payment that no order of ours is for. */
export const FOREIGN = 'not of this service';
