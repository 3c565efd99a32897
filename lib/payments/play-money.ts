// Play money, which a sandbox or a shop under test takes: no wallet gets it that pays for upstreams which cost real money,
// and a wallet that has it pays for none of them until an operator has converted it or written it off.
// Processes of one store may differ in their catalogs, so the store remembers that one of them has such upstreams.

import { videoIdOf } from '../calls/videos/job-id.ts';
import { bookOperation } from '../ledger/booking.ts';
import type { Wallet } from '../money/decide.ts';
import type { JobPhase } from '../money/job-rules.ts';
import type { Micro } from '../money/money.ts';
import { heldForRefund, type Payment, parseRefunds } from '../money/payment.ts';
import type { SettingStore } from '../store/ports/settings.ts';
import type { Store } from '../store/store.ts';
import type { PaymentState } from '../upstream/contract/payment.ts';
import { lesser } from './bounds.ts';
import { newId } from './ids.ts';

const COSTLY = 'costly-upstream';
const ROWS_PER_PAGE = 500;

/** Resolves to the wallets that were credited play money before, which buys something real from now on. */
export async function noteCost(
  { settings, payments }: Pick<Store, 'settings' | 'payments'>,
  upstream: string,
): Promise<readonly string[]> {
  const isFirst = (await costOf(settings)) === undefined;
  const wallets = isFirst ? await walletsOfPlayMoney(payments) : [];
  await settings.set(COSTLY, upstream);
  return wallets;
}

export interface CostWatch {
  /** Whether models here cost real money. Once true it stays so: a call keeps the catalog it started with. */
  isReal(): boolean;
  noteCost(upstream: string): Promise<void>;
}

/** What this process knows of it, which tells the operator of the wallets that are refused from now on. */
export function watchCost(
  store: Pick<Store, 'settings' | 'payments'>,
  log: { warn(fields: object, message: string): void },
): CostWatch {
  let real = false;
  return {
    isReal: () => real,
    async noteCost(upstream) {
      const accounts = await noteCost(store, upstream);
      real = true;
      if (accounts.length > 0) log.warn({ accounts }, PLAY_MONEY);
    },
  };
}

const PLAY_MONEY =
  'wallets hold money of test payments, which pays for no real model: convert it or write it off with "tollgate wallet play-money"';

async function walletsOfPlayMoney(payments: Pick<Store['payments'], 'page'>): Promise<readonly string[]> {
  const found = new Set<string>();
  for (let after = ''; ; ) {
    const page = await payments.page('payments', { after, limit: ROWS_PER_PAGE });
    for (const payment of page) if (payment.credited > 0n && isPlayMoney(payment)) found.add(payment.wallet);
    const last = page.at(-1);
    if (!last || page.length < ROWS_PER_PAGE) return [...found];
    after = last.id;
  }
}

/** What makes play money worth something in this store, in words; undefined: nothing does. */
export async function costOf(settings: Pick<SettingStore, 'get'>): Promise<string | undefined> {
  const upstream = await settings.get(COSTLY);
  return !upstream ? undefined : `wallets here pay for the upstream ${upstream}, which costs real money`;
}

/** By its order, or by what its provider said of it. */
export function isPlayMoney({ test, state }: Pick<Payment, 'test' | 'state'>): boolean {
  return test || (state !== null && (JSON.parse(state) as Partial<PaymentState>).test === true);
}

/** Marks the wallet in the transaction that credits it. */
export function playOf(payment: Pick<Payment, 'test' | 'state'>): { readonly isPlay?: true } {
  return isPlayMoney(payment) ? { isPlay: true } : {};
}

/** What an operator decides on the play money of a wallet. */
export interface PlayMoneyVerdict {
  /** `convert`: it stays, as if it had been paid; `write_off`: what is left of it is taken away. */
  readonly how: 'convert' | 'write_off';
  readonly reason: string;
  readonly at: number;
}

/**
 * `none`: the wallet has none, any more; `running`: calls that play money pays for have not ended, and what they return
 * would be as good as real; `stale`: it was being spent at this very moment: try again.
 */
export type PlayMoneyStatus = 'done' | 'none' | 'running' | 'stale' | 'no_wallet';

export interface PlayMoneyOutcome {
  readonly status: PlayMoneyStatus;
  /** What was taken away. */
  readonly amount: Micro;
  /** The wallet afterwards. */
  readonly wallet?: Wallet;
}

/** Decides once, with an entry of its own; from then on the wallet pays for everything. */
export async function settlePlayMoney(
  store: Pick<Store, 'ledger' | 'payments' | 'jobs'>,
  id: string,
  { how, reason, at }: PlayMoneyVerdict,
): Promise<PlayMoneyOutcome> {
  const wallet = await store.ledger.wallet(id);
  if (!wallet) return { status: 'no_wallet', amount: 0n };
  if (!wallet.playMoney) return { status: 'none', amount: 0n, wallet };
  if (how === 'write_off' && (wallet.held > 0n || (await hasOpenVideos(store, id, at))))
    return { status: 'running', amount: 0n, wallet };
  const amount = how === 'convert' ? 0n : await playMoneyLeft(store, wallet);
  const note = `play money ${how === 'convert' ? 'converted' : 'written off'}: ${reason}`;
  const what = { amount: -amount, reason: note, adjustId: newId('adj', at), settlesPlay: true } as const;
  const { status, wallet: after = wallet } = await bookOperation(store, { kind: 'adjust', wallet: id, at, ...what });
  if (status === 'done') return { status, amount, wallet: after };
  return { status: after.playMoney ? 'stale' : 'none', amount: 0n, wallet: after };
}

/** They are charged when they start, and refunded if they fail, by their deadline at the latest. */
async function hasOpenVideos({ ledger, jobs }: Pick<Store, 'ledger' | 'jobs'>, wallet: string, at: number) {
  const filter = { kind: 'video', state: 'settled', from: at - VIDEO_MS } as const;
  for (let before: string | undefined; ; ) {
    const page = await ledger.charges(wallet, {
      limit: ROWS_PER_PAGE,
      filter,
      ...(before !== undefined && { before }),
    });
    for (const { id } of page) {
      const job = await jobs.get(videoIdOf(id));
      if (job && OPEN_JOBS.includes(job.phase)) return true;
    }
    before = page.at(-1)?.id;
    if (page.length < ROWS_PER_PAGE) return false;
  }
}

const OPEN_JOBS: readonly JobPhase[] = ['starting', 'running'];
/** Far above the deadline of a video, also where no gateway ran meanwhile. */
const VIDEO_MS = 24 * 3_600_000;

/** Calls have spent it before anything else: they were all the sandbox's. Never more than can be spent. */
export async function playMoneyLeft(store: Pick<Store, 'ledger' | 'payments'>, wallet: Wallet): Promise<Micro> {
  const gift = await store.ledger.entry(`topup:demo-${wallet.id}`);
  const left = (gift?.topped ?? 0n) + (await sumOfPlayMoney(store, wallet.id)) - wallet.charged - wallet.held;
  const least = lesser(left, wallet.avail);
  return least > 0n ? least : 0n;
}

async function sumOfPlayMoney({ payments }: Pick<Store, 'payments'>, wallet: string): Promise<Micro> {
  let sum = 0n;
  for (let before: Payment | undefined; ; ) {
    const page = await payments.list({ wallet, limit: ROWS_PER_PAGE, ...(before && { before }) });
    for (const payment of page) if (isPlayMoney(payment)) sum += leftOf(payment);
    before = page.at(-1);
    if (!before || page.length < ROWS_PER_PAGE) return sum;
  }
}

/** What requested refunds have taken is off the balance already. */
function leftOf(payment: Payment): Micro {
  return parseRefunds(payment).reduce(
    (left, refund) => left - heldForRefund(refund),
    payment.credited - payment.refunded,
  );
}
