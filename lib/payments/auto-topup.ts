// Charges saved cards when wallets run low: checks a wallet after its calls, and all of them periodically, so that what
// another process started or left behind continues. The rules are in `topup-rules.ts`.
import { readZone } from '../accounts/zone.ts';
import type { Alerts } from '../alerts/alerts.ts';
import type { Happening } from '../alerts/watch.ts';
import { type Fault, isFault } from '../base/faults.ts';
import type { TopupBounds } from '../catalog/topup-bounds.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { formatRub, type Micro } from '../money/money.ts';
import { operationId } from '../money/operations.ts';
import type { Payment } from '../money/payment-rules.ts';
import type { AutoTopupRow } from '../store/ports/payments.ts';
import type { User } from '../store/ports/users.ts';
import type { Store } from '../store/store.ts';
import type { Payments } from './payments.ts';
import { claimed, ended, findBlocker, paused, resumed, type TopupNews } from './topup-rules.ts';

export interface AutoTopupOptions {
  readonly store: Pick<Store, 'payments' | 'ledger' | 'users'>;
  readonly payments: Pick<Payments, 'charge'>;
  /** What the operator allows now. */
  readonly bounds: () => TopupBounds;
  /** The store's clock. */
  readonly now: () => number;
  readonly log: { warn(fields: object, message: string): void };
  /** Alerts the owners, once per payment. */
  readonly alerts: Pick<Alerts, 'tell'>;
  /** Average pause between two rounds over all wallets. */
  readonly everyMs?: number;
}

export interface AutoTopup {
  /** The same ledger, with its calls observed: those that leave little, and those refused for lack of money. */
  watch(ledger: Ledger): Ledger;
  /** Checks a wallet soon, without waiting for it. */
  notice(wallet: string): void;
  /** A call was refused for lack of money before it reached the ledger. */
  refused(wallet: string): void;
  /** Reports a changed payment. */
  onPayment(payment: Payment): void;
  /** Checks one wallet and goes as far as it can now; rejects with `StoreError`. */
  look(wallet: string): Promise<void>;
  /** Checks all wallets; never rejects. */
  lookAtAll(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

const EVERY_MS = 30_000;
const ROWS_PER_PAGE = 200;
/** Steps of one check: an end, a resumption, a new order, its end. */
const STEPS_MAX = 6;

export function createAutoTopup(options: AutoTopupOptions): AutoTopup {
  const { store, payments, bounds, now, log, alerts, everyMs = EVERY_MS } = options;
  /** Thresholds of wallets with automatic top-up on, as of the last check. */
  const thresholds = new Map<string, Micro>();
  const looking = new Map<string, Promise<void>>();
  /** When a call of a wallet was last refused for lack of money, whatever the threshold says. */
  const short = new Map<string, number>();
  /** Wallets checked within the last second; true: there is a reason to check again. */
  const lately = new Map<string, boolean>();
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> | undefined;
  let stopped = false;

  function notice(wallet: string): void {
    if (stopped) return;
    if (lately.has(wallet)) {
      lately.set(wallet, true);
      return;
    }
    lately.set(wallet, false);
    setTimeout(() => {
      const again = lately.get(wallet);
      lately.delete(wallet);
      if (again) notice(wallet);
    }, GAP_MS).unref();
    void look(wallet).catch((err: unknown) => log.warn({ err, account: wallet }, NOT_LOOKED));
  }

  /** One at a time per wallet; concurrent callers share the running one. */
  function look(wallet: string): Promise<void> {
    const running = looking.get(wallet);
    if (running) return running;
    const made = steps(wallet).finally(() => looking.delete(wallet));
    looking.set(wallet, made);
    return made;
  }

  async function steps(wallet: string): Promise<void> {
    const refusedAt = short.get(wallet) ?? 0;
    for (let step = 0; step < STEPS_MAX && !stopped; step += 1) if (!(await goOn(wallet, refusedAt))) break;
    // Only now: one that failed has answered nothing, and the next round has to know.
    if (short.get(wallet) === refusedAt) short.delete(wallet);
  }

  /** Makes one step; resolves to whether there may be another. */
  async function goOn(wallet: string, refusedAt: number): Promise<boolean> {
    const auto = await store.payments.autoTopup(wallet);
    remember(wallet, auto);
    if (!auto) return false;
    if (auto.order !== null) return end(auto, auto.order);
    if (auto.pausedAt !== null) return auto.enabled && resume(auto, auto.pausedAt);
    const funds = await store.ledger.wallet(wallet);
    const zone = await readZone(store.users, wallet);
    const hindrance = funds && findBlocker(auto, funds, { at: now(), zone, bounds: bounds() });
    // A call refused before the last top-up does not call for a second one: that top-up moved `nextAt` past it.
    const isShort = refusedAt > auto.nextAt;
    if (!funds || (hindrance !== undefined && !(hindrance === 'enough' && isShort))) return false;
    return begin(auto, zone);
  }

  async function end(auto: AutoTopupRow, order: string): Promise<boolean> {
    const payment = await store.payments.get(order);
    const zone = await readZone(store.users, auto.id);
    const after = payment && ended(auto, payment, { at: now(), zone });
    if (!payment || !after) return false;
    // Before the row is freed, so that after a crash another process sends it.
    if (after.news) await alerts.tell(auto.id, happeningOf(after.news, payment), payment.id);
    return store.payments.changeAutoTopup(after.auto);
  }

  async function resume(auto: AutoTopupRow, pausedAt: number): Promise<boolean> {
    const paid = await store.payments.list({ wallet: auto.id, phases: PAID, limit: PAID_MAX });
    for (const payment of paid) {
      // Later changes of a payment, such as a refund that an operator requests, are no payment by hand.
      if (payment.origin !== 'manual' || payment.changedAt <= pausedAt) continue;
      const credit = await store.ledger.entry(creditIdOf(payment));
      if (credit && credit.at > pausedAt) return store.payments.changeAutoTopup(resumed(auto));
    }
    return false;
  }

  async function begin(auto: AutoTopupRow, zone: string): Promise<boolean> {
    const { id: wallet, amount, method } = auto;
    const user = await payerOf(auto);
    const to = { locale: user?.language ?? 'ru', ...(user && { email: user.email }) } as const;
    try {
      const claim = (order: string) => claimed(auto, order, { at: now(), zone });
      return (await payments.charge({ wallet, amount, method: method ?? '', ...to }, claim)) !== undefined;
    } catch (error) {
      if (!isFault(error)) throw error;
      return pause(auto, error);
    }
  }

  /** The order cannot even be made: the card is gone, its provider is off, or the amount is outside its bounds. */
  async function pause(auto: AutoTopupRow, { message }: Fault): Promise<boolean> {
    log.warn({ account: auto.id, reason: message }, 'could not start an automatic top-up; it is paused');
    await store.payments.changeAutoTopup(paused(auto, message, now()));
    return false;
  }

  async function payerOf({ id, consent }: AutoTopupRow): Promise<User | undefined> {
    const given = (await store.payments.consents(id)).find((each) => each.id === consent);
    return given && store.users.get(given.user);
  }

  function remember(wallet: string, auto: AutoTopupRow | undefined): void {
    if (auto?.enabled && auto.pausedAt === null) thresholds.set(wallet, auto.threshold);
    else thresholds.delete(wallet);
  }

  async function lookAtAll(): Promise<void> {
    try {
      for (let after: string | undefined; !stopped; ) {
        const rows = await store.payments.page('autoTopups', { limit: ROWS_PER_PAGE, ...(after && { after }) });
        for (const row of rows.filter(({ enabled, order }) => enabled || order !== null)) {
          if (!stopped) await look(row.id).catch((err: unknown) => log.warn({ err, account: row.id }, NOT_LOOKED));
        }
        after = rows.at(-1)?.id;
        if (rows.length < ROWS_PER_PAGE) return;
      }
    } catch (err) {
      if (!stopped) log.warn({ err }, 'could not check the automatic top-ups');
    }
  }

  function wait(): void {
    timer = setTimeout(
      () => {
        round = lookAtAll().then(() => {
          if (!stopped) wait();
        });
      },
      everyMs * (0.5 + Math.random()),
    ).unref();
  }

  function refused(wallet: string): void {
    if (!thresholds.has(wallet)) return;
    short.set(wallet, now());
    notice(wallet);
  }

  function watch(ledger: Ledger): Ledger {
    const passOn = (wallet: string) => (error: unknown) => {
      if (isFault(error) && LACKS_MONEY.includes(error.data?.code ?? '')) refused(wallet);
      throw error;
    };
    return {
      ...ledger,
      hold(request) {
        const { wallet } = request;
        const held = ledger.hold(request);
        return thresholds.has(wallet) ? held.catch(passOn(wallet)) : held;
      },
      charge(request, job) {
        const { wallet } = request;
        const paid = ledger.charge(request, job);
        if (!thresholds.has(wallet)) return paid;
        return paid.then((made) => {
          noticeLow(wallet, made.wallet.avail);
          return made;
        }, passOn(wallet));
      },
      settle(hold, due) {
        const { wallet } = hold.charge;
        const settled = ledger.settle(hold, due);
        if (!thresholds.has(wallet)) return settled;
        return settled.then((settlement) => {
          noticeLow(wallet, settlement.balance);
          return settlement;
        });
      },
    };
  }

  /** Holds count too, but only a check of the wallet knows how much they are. */
  function noticeLow(wallet: string, avail: Micro): void {
    if (avail < (thresholds.get(wallet) ?? avail)) notice(wallet);
  }

  return {
    watch,
    notice,
    refused,
    look,
    lookAtAll,
    onPayment({ wallet, origin, credited }) {
      if (origin === 'auto' || credited > 0n) notice(wallet);
    },
    start() {
      round = lookAtAll().then(() => {
        if (!stopped) wait();
      });
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await round;
      await Promise.allSettled(looking.values());
    },
  };
}

/** The id of the entry that credited a payment. */
function creditIdOf({ wallet, provider, ref, amount, id: order, createdAt: at }: Payment): string {
  return operationId({ kind: 'pay', wallet, at, amount, order, paymentId: `${provider}:${ref}` });
}

function happeningOf(news: TopupNews, { amount, id: payment }: Payment): Happening {
  return { type: `topup.${news}`, data: { amount: formatRub(amount), payment } };
}

/** The faults of a call that more money would have let run. */
const LACKS_MONEY: readonly string[] = ['insufficient_balance', 'never_topped_up'];
const NOT_LOOKED = 'could not check an automatic top-up';
/** The phases of a payment whose money has arrived. */
const PAID = ['credited', 'partly_refunded'] as const;
/** Events that follow a pause, newest first. */
const PAID_MAX = 5;
/** A wallet that stays low is checked at most this often, however many calls it has. */
const GAP_MS = 1000;
