// Play money comes from a sandbox or a shop in test mode. Where any upstream costs real money, no wallet is credited with
// play money, and a wallet that already has some cannot pay until an operator converts it or writes it off.
// Processes of one store may have different catalogs, so the store remembers that one of them has such an upstream.

import { DAY_MS } from '../base/durations.ts';
import { toVideoId } from '../calls/videos/job-id.ts';
import { bookOperation } from '../ledger/booking.ts';
import type { Charge, Entry, Wallet } from '../money/decide.ts';
import { getGrantedBalance, getPaidBalance } from '../money/grants.ts';
import type { JobPhase } from '../money/job-rules.ts';
import { readFlagsFromMark } from '../money/mark.ts';
import { type Micro, maxMicro, minMicro } from '../money/money.ts';
import { computeHeldForRefund, type Payment, parseRefunds } from '../money/payment.ts';
import type { SettingStore } from '../store/ports/settings.ts';
import type { Store } from '../store/store.ts';
import { type PageStart, walkFrom, walkRows } from '../store/walks.ts';
import type { PaymentState } from '../upstream/contract/payment.ts';
import { getCreditEntryId, newId } from './ids.ts';

const COSTLY_UPSTREAM_SETTING = 'costly-upstream';
const ROWS_PER_PAGE = 500;

/** Resolves, for the first such upstream, to the wallets that already have play money. */
export async function recordCostlyUpstream(
  { settings, payments }: Pick<Store, 'settings' | 'payments'>,
  upstream: string,
): Promise<readonly string[]> {
  const isFirst = (await findPlayMoneyConflict(settings)) === undefined;
  const wallets = isFirst ? await listPlayMoneyWallets(payments) : [];
  await settings.set(COSTLY_UPSTREAM_SETTING, upstream);
  return wallets;
}

interface CostWatch {
  /** Whether models here cost real money. Never returns to false: a call keeps the catalog it started with. */
  isReal(): boolean;
  recordCostlyUpstream(upstream: string): Promise<void>;
}

/** Remembers costly upstreams in this process, and warns the operator of wallets that are refused from then on. */
export function createCostWatch(
  store: Pick<Store, 'settings' | 'payments'>,
  log: { warn(fields: object, message: string): void },
): CostWatch {
  let real = false;
  return {
    isReal: () => real,
    async recordCostlyUpstream(upstream) {
      const accounts = await recordCostlyUpstream(store, upstream);
      real = true;
      if (accounts.length > 0) log.warn({ accounts }, PLAY_MONEY_WARNING);
    },
  };
}

const PLAY_MONEY_WARNING =
  'wallets hold money of test payments, which pays for no real model: convert it or write it off with "tollgate wallet play-money"';

async function listPlayMoneyWallets(payments: Pick<Store['payments'], 'page'>): Promise<readonly string[]> {
  const found = new Set<string>();
  const read = (page: PageStart) => payments.page('payments', page);
  for await (const payment of walkRows(ROWS_PER_PAGE, read, ({ id }) => id)) {
    if (payment.credited > 0n && isPlayMoney(payment)) found.add(payment.wallet);
  }
  return [...found];
}

/** Why play money would pay for real costs in this store, as text; undefined if it would not. */
export async function findPlayMoneyConflict(settings: Pick<SettingStore, 'get'>): Promise<string | undefined> {
  const upstream = await settings.get(COSTLY_UPSTREAM_SETTING);
  return !upstream ? undefined : `wallets here pay for the upstream ${upstream}, which costs real money`;
}

/** The order was a test, or the provider reported a test payment. */
export function isPlayMoney({ test, state }: Pick<Payment, 'test' | 'state'>): boolean {
  return test || (state !== null && (JSON.parse(state) as Partial<PaymentState>).test === true);
}

/** The flag with which the credit marks its wallet in the same transaction. */
export function playMoneyFlag(payment: Pick<Payment, 'test' | 'state'>): { readonly isPlay?: true } {
  return isPlayMoney(payment) ? { isPlay: true } : {};
}

/** An operator's decision on a wallet's play money. */
interface PlayMoneyVerdict {
  /** `convert`: the money stays, as if it had been real; `write_off`: the rest of it is taken away. */
  readonly how: 'convert' | 'write_off';
  readonly reason: string;
  readonly at: number;
}

/**
 * `none`: the wallet has no play money (any more). `running`: calls paid with play money are running, and their refunds
 * would turn into real money. `stale`: the wallet changed at the same time; try again.
 */
type PlayMoneyStatus = 'done' | 'none' | 'running' | 'stale' | 'no_wallet';

interface PlayMoneyOutcome {
  readonly status: PlayMoneyStatus;
  /** The written-off amount. */
  readonly amount: Micro;
  /** The wallet afterwards. */
  readonly wallet?: Wallet;
}

/** Books the decision, once, as a ledger entry; from then on the wallet can pay for all models. */
export async function settlePlayMoney(
  store: Pick<Store, 'ledger' | 'payments' | 'jobs'>,
  id: string,
  { how, reason, at }: PlayMoneyVerdict,
): Promise<PlayMoneyOutcome> {
  const wallet = await store.ledger.wallet(id);
  if (!wallet) return { status: 'no_wallet', amount: 0n };
  if (!wallet.playMoney) return { status: 'none', amount: 0n, wallet };
  const isWrittenOff = how === 'write_off';
  if (isWrittenOff && (wallet.held > 0n || (await hasOpenVideos(store, id, at))))
    return { status: 'running', amount: 0n, wallet };
  const amount = isWrittenOff ? await playMoneyLeft(store, wallet) : 0n;
  const note = `play money ${how === 'convert' ? 'converted' : 'written off'}: ${reason}`;
  const what = { amount: -amount, reason: note, adjustId: newId('adj', at), settlesPlay: true } as const;
  const seen = isWrittenOff && { seenSeq: wallet.seq };
  const op = { kind: 'adjust', wallet: id, at, ...what, ...seen } as const;
  const { status, wallet: after = wallet } = await bookOperation(store, op);
  if (status === 'done') return { status, amount, wallet: after };
  return { status: after.playMoney ? 'stale' : 'none', amount: 0n, wallet: after };
}

/** Videos are charged when they start and refunded if they fail, by their deadline at the latest. */
async function hasOpenVideos({ ledger, jobs }: Pick<Store, 'ledger' | 'jobs'>, wallet: string, at: number) {
  const filter = { kind: 'video', state: 'settled', from: at - VIDEO_MS } as const;
  const read = (last?: Charge) => ledger.charges(wallet, { limit: ROWS_PER_PAGE, filter, before: last?.id });
  for await (const page of walkFrom(ROWS_PER_PAGE, read)) {
    for (const { id } of page) {
      const job = await jobs.get(toVideoId(id));
      if (job && OPEN_JOBS.includes(job.phase)) return true;
    }
  }
  return false;
}

const OPEN_JOBS: readonly JobPhase[] = ['starting', 'running'];
/** Far above a video's deadline, even if no gateway ran for a while. */
const VIDEO_MS = DAY_MS;

/**
 * Calls spend play money after grants, because they were all sandbox calls. Never more than the paid balance. What an
 * earlier decision was about is play money no more; which calls grants have paid since then is not known.
 */
export async function playMoneyLeft(store: Pick<Store, 'ledger' | 'payments'>, wallet: Wallet): Promise<Micro> {
  const decision = await findLastDecision(store.ledger, wallet.id);
  const gift = await store.ledger.entry(`topup:demo-${wallet.id}`);
  const given = gift && isAfter(gift, decision) ? gift.topped : 0n;
  const brought = given + (await sumPlayMoney(store, wallet.id, decision));
  const spentGrants = decision ? 0n : (wallet.granted ?? 0n) - getGrantedBalance(wallet);
  const spent = wallet.charged - (decision?.chargedAfter ?? 0n) + wallet.held - spentGrants;
  const left = brought - maxMicro(spent, 0n);
  return maxMicro(minMicro(left, getPaidBalance(wallet)), 0n);
}

async function findLastDecision(ledger: Pick<Store['ledger'], 'movements'>, wallet: string) {
  let last: Entry | undefined;
  for (let from = 0; ; ) {
    const page = await ledger.movements(wallet, { from, to: Number.MAX_SAFE_INTEGER, limit: ROWS_PER_PAGE });
    for (const entry of page) if (readFlagsFromMark(entry).settlesPlay && isAfter(entry, last)) last = entry;
    const end = page.at(-1);
    if (!end || page.length < ROWS_PER_PAGE) return last;
    from = Math.max(end.at, from + 1);
  }
}

function isAfter({ seq }: Entry, other: Entry | undefined): boolean {
  return seq > (other?.seq ?? 0);
}

async function sumPlayMoney(
  { ledger, payments }: Pick<Store, 'ledger' | 'payments'>,
  wallet: string,
  decision: Entry | undefined,
): Promise<Micro> {
  const isUndecided = async (payment: Payment) => {
    if (decision === undefined) return true;
    const credit = await ledger.entry(getCreditEntryId(payment));
    return credit !== undefined && isAfter(credit, decision);
  };
  let sum = 0n;
  const read = (before?: Payment) => payments.list({ wallet, limit: ROWS_PER_PAGE, before });
  for await (const page of walkFrom(ROWS_PER_PAGE, read)) {
    for (const payment of page.filter(isPlayMoney)) if (await isUndecided(payment)) sum += unrefundedAmount(payment);
  }
  return sum;
}

/** Requested refunds have already left the balance. */
function unrefundedAmount(payment: Payment): Micro {
  return parseRefunds(payment).reduce(
    (left, refund) => left - computeHeldForRefund(refund),
    payment.credited - payment.refunded,
  );
}
