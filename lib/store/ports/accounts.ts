// The port of accounts.
import type { Micro } from '../../money/money.ts';
import type { RequestLimits } from '../../money/request-limits.ts';
import type { Wallet } from '../../money/wallet.ts';
import type { WrongMarks } from './wrong-marks.ts';

export interface Account {
  readonly id: string;
  readonly name: string;
  /** The status of its wallet. */
  readonly status: 'active' | 'suspended';
  readonly createdAt: number;
  readonly autoTopup: AutoTopup;
  /** Set by an operator, for all keys together; absent: none. */
  readonly requests?: RequestLimits;
  /** The name of its price list, set by an operator; the catalog may no longer have it. Absent: it pays list prices. */
  readonly priceList?: string;
  /** Given each month, set by an operator; absent: none. */
  readonly allowance?: Allowance;
}

/** What an account gets as a grant each month. */
export interface Allowance {
  readonly amount: Micro;
  /** The owner sees it. */
  readonly reason: string;
}

/** How many accounts have a price list. */
export interface PriceListUse {
  readonly priceList: string;
  readonly accounts: number;
}

export interface AutoTopup {
  readonly enabled: boolean;
  readonly amount: Micro;
  readonly threshold: Micro;
}

/** What a list of many accounts shows of each. */
export interface AccountSummary
  extends Pick<Account, 'id' | 'name' | 'status' | 'createdAt' | 'priceList' | 'requests'> {
  readonly avail: Micro;
  readonly topped: Micro;
}

export interface AccountStore {
  /** Creates the account and its empty wallet, which has the same id. */
  create(account: { readonly id: string; readonly name: string; readonly createdAt: number }): Promise<void>;
  /**
   * For a copy, in one transaction: creates missing accounts with empty wallets, and sets the name, the automatic top-up,
   * the limits, the price list and the allowance of all accounts.
   */
  put(accounts: readonly Omit<Account, 'status'>[]): Promise<void>;
  get(id: string): Promise<Account | undefined>;
  /** Of those of these accounts that there are, in no particular order. */
  names(ids: readonly string[]): Promise<readonly Pick<Account, 'id' | 'name'>[]>;
  /** All accounts, oldest first. */
  list(): Promise<readonly Account[]>;
  /** All accounts, with what each may spend and what it ever paid, in no particular order. */
  summaries(): Promise<readonly AccountSummary[]>;
  /** How many were created in this time, ms since the epoch; `to` is exclusive. */
  countCreated(span: { readonly from: number; readonly to: number }): Promise<number>;
  /** Accounts with ids above `after`, in order of id. */
  page(page: { readonly after?: string; readonly limit: number }): Promise<readonly Account[]>;
  /** False if there is no such account. */
  setStatus(id: string, status: Account['status']): Promise<boolean>;
  /** For a copy: sets all flags of the wallet; absent ones are removed. False if there is no such account. */
  setWalletFlags(id: string, flags: Pick<Wallet, 'playMoney' | 'opened'>): Promise<boolean>;
  /** False if there is no such account. */
  setAutoTopup(id: string, autoTopup: AutoTopup): Promise<boolean>;
  /** False if there is no such account. */
  setName(id: string, name: string): Promise<boolean>;
  /** Undefined removes all. False if there is no such account. */
  setRequestLimits(id: string, limits: RequestLimits | undefined): Promise<boolean>;
  /** Undefined: list prices. False if there is no such account. */
  setPriceList(id: string, priceList: string | undefined): Promise<boolean>;
  /** Undefined: none. False if there is no such account. */
  setAllowance(id: string, allowance: Allowance | undefined): Promise<boolean>;
  /** Of all accounts that have one, in order of id. */
  allowances(): Promise<readonly (Allowance & { readonly id: string })[]>;
  /** Of a page of accounts, those whose name, limits, price list or allowance were changed outside the store. */
  findWrongMarks(page: { readonly after?: string; readonly limit: number }): Promise<WrongMarks>;
  /** The price lists that accounts have, in order of their names. */
  countPriceLists(): Promise<readonly PriceListUse[]>;
}
