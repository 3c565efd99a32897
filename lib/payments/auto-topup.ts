// Charges saved cards when wallets run low. It checks a wallet after its calls, and all wallets periodically, so that
// top-ups started by another process continue. The rules are in `topup-rules.ts`.
import { findFirstOwner, readZone } from '../accounts/zone.ts';
import type { Alerts } from '../alerts/alerts.ts';
import type { AlertContent } from '../alerts/watch.ts';
import { HOUR_MS } from '../base/durations.ts';
import { isFault } from '../base/faults.ts';
import type { TopupBounds } from '../catalog/topup-bounds.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { formatRub, type Micro } from '../money/money.ts';
import { IN_WALLET_PHASES, type Payment } from '../money/payment-rules.ts';
import type { AutoTopupRow } from '../store/ports/payments.ts';
import type { User } from '../store/ports/users.ts';
import type { Store } from '../store/store.ts';
import { type PageStart, walkRows } from '../store/walks.ts';
import { GONE_BACK, sumGoneBack } from './gone-back.ts';
import { getCreditEntryId } from './ids.ts';
import type { Payments } from './payments.ts';
import { RESTORED } from './restored.ts';
import {
  AMOUNT_UNUSABLE,
  CARD_UNUSABLE,
  findBlocker,
  markClaimed,
  markEnded,
  markPaused,
  markResumed,
  NO_OWNER,
  PROVIDER_OFF,
  type TopupNews,
} from './topup-rules.ts';

interface AutoTopupOptions {
  readonly store: Pick<Store, 'payments' | 'ledger' | 'users'>;
  readonly payments: Pick<Payments, 'charge' | 'providers'>;
  /** The operator's current limits. */
  readonly bounds: () => TopupBounds;
  /** The store's clock. */
  readonly now: () => number;
  readonly log: { warn(fields: object, message: string): void };
  /** Alerts the owners, once per payment, or per pause without one. */
  readonly alerts: Pick<Alerts, 'queueAlert'>;
  /** Average pause between two checks of all wallets. */
  readonly everyMs?: number;
  /** Limits how often a low wallet is checked, however many calls it makes. */
  readonly gapMs?: number;
}

export interface AutoTopup {
  /** Wraps a ledger to notice calls that leave little money and calls that are refused for lack of it. */
  watch(ledger: Ledger): Ledger;
  /** Starts a check of a wallet, at most one in `gapMs`; does not wait for it. */
  checkSoon(wallet: string): void;
  /** Reports a call that was refused for lack of money before it reached the ledger. */
  reportRefusal(wallet: string): void;
  /** Reports a changed payment. */
  onPayment(payment: Payment): void;
  /** Checks one wallet and does all that is possible now; rejects with `StoreError`. */
  checkWallet(wallet: string): Promise<void>;
  /** Checks all wallets; never rejects. */
  checkAllWallets(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

const EVERY_MS = 30_000;
const GAP_MS = 1000;
const ROWS_PER_PAGE = 200;
/** Steps of one check: an order's end, a resumption, a new order, its end, and some spare. */
const STEPS_MAX = 6;
/** How long a card's provider may be switched off here, while other gateways may have it: longer than an update of all. */
const PROVIDER_OFF_MS = HOUR_MS;

export function createAutoTopup(options: AutoTopupOptions): AutoTopup {
  const { store, payments, bounds, now, log, alerts, everyMs = EVERY_MS, gapMs = GAP_MS } = options;
  /** Thresholds of wallets with automatic top-up enabled, as of the last check. */
  const thresholds = new Map<string, Micro>();
  const runningChecks = new Map<string, Promise<void>>();
  /** When a call of a wallet was last refused for lack of money; such a call overrides the threshold. */
  const refusedAtByWallet = new Map<string, number>();
  /** Since when a wallet runs low while the provider of its card is switched off here. */
  const providerOffSince = new Map<string, number>();
  /** Wallets checked within `gapMs`; true if another check was requested meanwhile. */
  const recentChecks = new Map<string, boolean>();
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> | undefined;
  let stopped = false;

  function checkSoon(wallet: string): void {
    if (stopped) return;
    if (recentChecks.has(wallet)) {
      recentChecks.set(wallet, true);
      return;
    }
    recentChecks.set(wallet, false);
    setTimeout(() => {
      const again = recentChecks.get(wallet);
      recentChecks.delete(wallet);
      if (again) checkSoon(wallet);
    }, gapMs).unref();
    void checkWallet(wallet).catch((err: unknown) => log.warn({ err, account: wallet }, CHECK_FAILED));
  }

  /** Runs one check at a time per wallet; concurrent callers share it. */
  function checkWallet(wallet: string): Promise<void> {
    const running = runningChecks.get(wallet);
    if (running) return running;
    const made = runSteps(wallet).finally(() => runningChecks.delete(wallet));
    runningChecks.set(wallet, made);
    return made;
  }

  async function runSteps(wallet: string): Promise<void> {
    const refusedAt = refusedAtByWallet.get(wallet) ?? 0;
    for (let step = 0; step < STEPS_MAX && !stopped; step += 1) if (!(await runStep(wallet, refusedAt))) break;
    // Only after the steps succeeded: if they fail, the next check still has to know of the refusal.
    if (refusedAtByWallet.get(wallet) === refusedAt) refusedAtByWallet.delete(wallet);
  }

  /** Makes one step; resolves to whether there may be another. */
  async function runStep(wallet: string, refusedAt: number): Promise<boolean> {
    const auto = await store.payments.autoTopup(wallet);
    rememberThreshold(wallet, auto);
    if (!auto) return false;
    if (auto.order !== null) return finishOrder(auto, auto.order);
    if (auto.pausedAt !== null) return auto.enabled && resumePaused(auto, auto.pausedAt);
    const funds = await store.ledger.wallet(wallet);
    const zone = await readZone(store.users, wallet);
    const blocker = funds && findBlocker(auto, funds, { at: now(), zone, bounds: bounds() });
    // A call refused before the last top-up does not justify a second one: that top-up moved `nextAt` past it.
    const isShort = refusedAt > auto.nextAt;
    if (!funds || (blocker !== undefined && !(blocker === 'enough' && isShort))) {
      providerOffSince.delete(wallet);
      return false;
    }
    const goneBack = await sumGoneBack(store.payments, auto);
    if (goneBack > 0n && funds.avail + funds.held + goneBack >= auto.threshold) return pauseTopup(auto, GONE_BACK);
    return startOrder(auto, zone);
  }

  async function finishOrder(auto: AutoTopupRow, order: string): Promise<boolean> {
    const payment = await store.payments.get(order);
    const zone = await readZone(store.users, auto.id);
    const after = payment && markEnded(auto, payment, { at: now(), zone });
    if (!payment || !after) return false;
    // Sent before the row is freed, so that after a crash another process sends the alert.
    if (after.news) await alerts.queueAlert(auto.id, toTopupAlert(after.news, payment), payment.id);
    return store.payments.changeAutoTopup(after.auto);
  }

  async function resumePaused(auto: AutoTopupRow, pausedAt: number): Promise<boolean> {
    if (auto.reason !== PROVIDER_OFF || auto.method === null) return resumeAfterPayment(auto, pausedAt);
    const method = await store.payments.method(auto.method);
    const isBack = payments.providers().some(({ name }) => name === method?.provider);
    return isBack ? store.payments.changeAutoTopup(markResumed(auto)) : resumeAfterPayment(auto, pausedAt);
  }

  async function resumeAfterPayment(auto: AutoTopupRow, pausedAt: number): Promise<boolean> {
    const paid = await store.payments.list({ wallet: auto.id, phases: IN_WALLET_PHASES, limit: PAID_MAX });
    for (const payment of paid) {
      // A payment may have changed later for another reason, such as a refund: only a credit after the pause counts.
      if (payment.origin !== 'manual' || payment.changedAt <= pausedAt) continue;
      // What was ordered before a restore may have been paid before it, too: its owner need not have seen the wallet since.
      if (auto.reason === RESTORED && payment.createdAt <= pausedAt) continue;
      const credit = await store.ledger.entry(getCreditEntryId(payment));
      if (credit && credit.at > pausedAt) return store.payments.changeAutoTopup(markResumed(auto));
    }
    return false;
  }

  async function startOrder(auto: AutoTopupRow, zone: string): Promise<boolean> {
    const { id: wallet, amount, method } = auto;
    const { user, isOwned } = await findPayer(auto);
    if (!isOwned) return pauseTopup(auto, NO_OWNER);
    const to = { locale: user?.language ?? 'ru', email: user?.email } as const;
    try {
      const claim = (order: string) => markClaimed(auto, order, { at: now(), zone });
      return (await payments.charge({ wallet, amount, method: method ?? '', ...to }, claim)) !== undefined;
    } catch (error) {
      if (!isFault(error)) throw error;
      const field = error.data?.detail.field;
      if (field === 'provider') return waitForProvider(auto);
      // The amount is out of bounds, or the card is gone.
      return pauseTopup(auto, field === 'amount' ? AMOUNT_UNUSABLE : CARD_UNUSABLE, error.message);
    }
  }

  async function waitForProvider(auto: AutoTopupRow): Promise<boolean> {
    const since = providerOffSince.get(auto.id) ?? now();
    providerOffSince.set(auto.id, since);
    return now() - since >= PROVIDER_OFF_MS && pauseTopup(auto, PROVIDER_OFF);
  }

  async function pauseTopup(auto: AutoTopupRow, reason: string, details = reason): Promise<boolean> {
    const { id, version, amount } = auto;
    log.warn({ account: id, reason: details }, 'could not start an automatic top-up; it is paused');
    // Sent before the row is changed, so that after a crash another process sends the alert.
    await alerts.queueAlert(id, { type: 'topup.paused', data: { amount: formatRub(amount) } }, `${id}:${version}`);
    await store.payments.changeAutoTopup(markPaused(auto, reason, now()));
    return false;
  }

  /**
   * Who gets the receipt: the one who agreed or, after that one has left those who see the money, the first owner.
   * `isOwned` is false if there is nobody left who could turn the charges off.
   */
  async function findPayer({
    id,
    consent,
  }: AutoTopupRow): Promise<{ readonly user?: User; readonly isOwned: boolean }> {
    const { payments: rows, users } = store;
    const [consents, members] = await Promise.all([rows.consents(id), users.listAccountMembers(id)]);
    const agreed = consents.find((each) => each.id === consent)?.user;
    const isThere = members.some(({ user, role }) => user === agreed && role !== 'member');
    const user = isThere && agreed !== undefined ? await users.get(agreed) : await findFirstOwner(users, id);
    return { user, isOwned: user !== undefined || agreed === undefined };
  }

  function rememberThreshold(wallet: string, auto: AutoTopupRow | undefined): void {
    if (auto?.enabled && auto.pausedAt === null) thresholds.set(wallet, auto.threshold);
    else thresholds.delete(wallet);
  }

  async function checkAllWallets(): Promise<void> {
    try {
      const read = (page: PageStart) => store.payments.page('autoTopups', page);
      for await (const { id, enabled, order } of walkRows(ROWS_PER_PAGE, read, (row) => row.id)) {
        if (stopped) return;
        if (!enabled && order === null) continue;
        await checkWallet(id).catch((err: unknown) => log.warn({ err, account: id }, CHECK_FAILED));
      }
    } catch (err) {
      if (!stopped) log.warn({ err }, 'could not check the automatic top-ups');
    }
  }

  function scheduleRound(): void {
    timer = setTimeout(
      () => {
        round = checkAllWallets().then(() => {
          if (!stopped) scheduleRound();
        });
      },
      everyMs * (0.5 + Math.random()),
    ).unref();
  }

  function reportRefusal(wallet: string): void {
    if (!thresholds.has(wallet)) return;
    refusedAtByWallet.set(wallet, now());
    checkSoon(wallet);
  }

  function watch(ledger: Ledger): Ledger {
    const rethrowRefusal = (wallet: string) => (error: unknown) => {
      if (isFault(error) && LACKS_MONEY_CODES.includes(error.data?.code ?? '')) reportRefusal(wallet);
      throw error;
    };
    return {
      ...ledger,
      hold(request) {
        const { wallet } = request;
        const held = ledger.hold(request);
        return thresholds.has(wallet) ? held.catch(rethrowRefusal(wallet)) : held;
      },
      charge(request, job) {
        const { wallet } = request;
        const paid = ledger.charge(request, job);
        if (!thresholds.has(wallet)) return paid;
        return paid.then((made) => {
          checkIfLow(wallet, made.wallet.avail);
          return made;
        }, rethrowRefusal(wallet));
      },
      settle(hold, due) {
        const { wallet } = hold.charge;
        const settled = ledger.settle(hold, due);
        if (!thresholds.has(wallet)) return settled;
        return settled.then((settlement) => {
          checkIfLow(wallet, settlement.balance);
          return settlement;
        });
      },
    };
  }

  /** `avail` excludes active holds; the check itself counts them. */
  function checkIfLow(wallet: string, avail: Micro): void {
    if (avail < (thresholds.get(wallet) ?? avail)) checkSoon(wallet);
  }

  return {
    watch,
    checkSoon,
    reportRefusal,
    checkWallet,
    checkAllWallets,
    onPayment({ wallet, origin, credited }) {
      if (origin === 'auto' || credited > 0n) checkSoon(wallet);
    },
    start() {
      round = checkAllWallets().then(() => {
        if (!stopped) scheduleRound();
      });
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await round;
      await Promise.allSettled(runningChecks.values());
    },
  };
}

function toTopupAlert(news: TopupNews, { amount, id: payment }: Payment): AlertContent {
  return { type: `topup.${news}`, data: { amount: formatRub(amount), payment } };
}

const LACKS_MONEY_CODES: readonly string[] = ['insufficient_balance', 'never_topped_up'];
const CHECK_FAILED = 'could not check an automatic top-up';
/** How many of the newest credited payments are searched for one that ends a pause. */
const PAID_MAX = 5;
