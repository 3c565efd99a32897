// Notices of providers: kept as they came, and believed in nothing but which payments to fetch. One is done only when all
// that follows from it is stored; until then its sender is told to send it again.
import type { OpenPayment } from '../catalog/payments.ts';
import { isUpstreamFault } from '../plugin/fault.ts';
import type { Notice } from '../store/ports/payments.ts';
import type { Store } from '../store/store.ts';
import type { NoticeVerdict, PaymentState, RawNotice } from './contract.ts';
import type { Payment } from './decide.ts';
import type { Follow, PaymentLog } from './follow.ts';
import { newId } from './ids.ts';

export interface NoticesOptions {
  readonly store: Pick<Store, 'payments'>;
  readonly follow: Follow;
  readonly now: () => number;
  readonly log: PaymentLog;
}

/** `done` all of it is stored; `again` something failed; `rejected` it is not of this provider. */
export type NoticeEnd = 'done' | 'again' | 'rejected';

export interface Notices {
  take(open: OpenPayment, raw: RawNotice, signal: AbortSignal): Promise<NoticeEnd>;
}

/** A forged one must not make us ask the provider a thousand times. */
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
      log.warn({ err: error, notice: came.id, provider: open.name }, 'a notice could not be dealt with');
      await judged(came.id, 'failed', isUpstreamFault(error) ? error.kind : 'the store did not answer');
      return 'again';
    }
  }

  function judge({ name, provider }: OpenPayment, raw: RawNotice): NoticeVerdict {
    try {
      return provider.notice(raw);
    } catch (err) {
      log.warn({ err, provider: name }, 'a payment plugin cannot read a notice');
      return 'rejected';
    }
  }

  /** The money is stored already, or is not: what is said of the notice is for the operator. */
  async function judged(id: string, verdict: Notice['verdict'], detail: string): Promise<void> {
    await payments
      .judgeNotice(id, { verdict, detail })
      .catch((err: unknown) => log.warn({ err, notice: id }, 'the verdict on a notice was not written'));
  }

  async function look(open: OpenPayment, ref: string, signal: AbortSignal): Promise<string> {
    const state = await fetched(open, ref, signal);
    const payment = state && (await owner(open, state));
    if (!payment) return FOREIGN;
    const { id, phase } = await follow(payment, open, state);
    return `${id} ${phase}`;
  }

  /** Undefined where the provider has no such payment. */
  async function fetched(
    { provider }: OpenPayment,
    id: string,
    signal: AbortSignal,
  ): Promise<PaymentState | undefined> {
    try {
      return await provider.fetch({ id }, signal);
    } catch (error) {
      if (isUpstreamFault(error) && error.kind === 'missing') return undefined;
      throw error;
    }
  }

  /** The payment of this id; or the order that is named, while we do not know the id of what was begun for it. */
  async function owner({ name }: OpenPayment, { id: ref, order }: PaymentState): Promise<Payment | undefined> {
    const known = await payments.find(name, ref);
    if (known || order === null) return known;
    const named = await payments.get(order);
    if (named?.provider !== name) return undefined;
    if (named.ref !== null)
      log.error({ payment: order, found: ref }, 'an order was paid for a second time at its provider');
    return named.ref === null ? named : undefined;
  }

  return { take };
}

const FOREIGN = 'not of this service';
