// Notices of providers: stored as received, and trusted only for which payments to fetch. A notice is done once all its
// consequences are stored; until then its sender is told to send it again.
import type { OpenPayment } from '../catalog/payments.ts';
import type { Payment } from '../money/payment-rules.ts';
import { isUpstreamFault } from '../plugin/fault.ts';
import type { NoticeVerdict, PaymentState, RawNotice } from '../plugin/payment-contract.ts';
import type { Notice } from '../store/ports/payments.ts';
import type { Store } from '../store/store.ts';
import type { Follow, PaymentLog } from './follow.ts';
import { newId } from './ids.ts';

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

export function createNotices({ store: { payments }, follow: { follow }, now, log }: NoticesOptions): Notices {
  async function take(open: OpenPayment, raw: RawNotice, signal: AbortSignal): Promise<NoticeEnd> {
    const at = now();
    const { address, body } = raw;
    const verdict = judge(open, raw);
    const came = { id: newId('ntc', at), provider: open.name, at, address, headers: JSON.stringify(raw.headers), body };
    if (verdict === 'rejected') {
      await payments.addNotice({ ...came, verdict: 'rejected', detail: '' });
      return 'rejected';
    }
    await payments.addNotice({ ...came, verdict: 'received', detail: '' });
    try {
      const found: string[] = [];
      for (const ref of new Set(verdict.fetch.slice(0, FETCHES_MAX))) found.push(await look(open, ref, signal));
      await judged(came.id, found.every((what) => what === FOREIGN) ? 'foreign' : 'done', found.join(', '));
      return 'done';
    } catch (error) {
      log.warn({ err: error, notice: came.id, provider: open.name }, 'could not process a notice');
      await judged(came.id, 'failed', isUpstreamFault(error) ? error.kind : 'the store did not answer');
      return 'again';
    }
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
  async function judged(id: string, verdict: Notice['verdict'], detail: string): Promise<void> {
    await payments
      .judgeNotice(id, { verdict, detail })
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

/** What is noted of a payment that no order of ours is for. */
export const FOREIGN = 'not of this service';
