// The customers of the service: found by one text, filtered, and sorted by what they spent in 30 days.
import { addDays, findDayStartHour, findHourDay } from '../money/days.ts';
import type { Micro } from '../money/money.ts';
import type { Account } from '../store/ports/accounts.ts';
import type { ServiceTotals } from '../store/ports/usage.ts';
import { NO_SERVICE } from '../store/service-sums.ts';
import type { Store } from '../store/store.ts';

export const CUSTOMER_DAYS = 30;
const DAY_MS = 86_400_000;
const USERS_PER_PAGE = 1000;
const MATCHES_MAX = 200;

export const CUSTOMER_FILTERS = ['all', 'unpaid', 'negative', 'suspended', 'silent'] as const;
export type CustomerFilter = (typeof CUSTOMER_FILTERS)[number];

export const CUSTOMER_SORTS = ['spent', 'balance', 'created', 'name'] as const;
export type CustomerSort = (typeof CUSTOMER_SORTS)[number];

export interface Customer {
  readonly account: Account;
  readonly balance: Micro;
  readonly topped: Micro;
  /** Of 30 days, today included. */
  readonly sums: ServiceTotals;
}

export interface CustomerQuery {
  readonly text: string;
  readonly filter: CustomerFilter;
  readonly sort: CustomerSort;
}

export function readCustomerQuery(query: URLSearchParams): CustomerQuery {
  return {
    text: (query.get('q') ?? '').trim().slice(0, 200),
    filter: CUSTOMER_FILTERS.find((name) => name === query.get('filter')) ?? 'all',
    sort: CUSTOMER_SORTS.find((name) => name === query.get('sort')) ?? 'spent',
  };
}

interface Clock {
  readonly now: number;
  readonly zone: string;
}

export async function listCustomers(store: Store, query: CustomerQuery, clock: Clock): Promise<readonly Customer[]> {
  const { now, zone } = clock;
  const today = findHourDay(now, zone);
  const from = findDayStartHour(addDays(today, 1 - CUSTOMER_DAYS), zone);
  const to = findDayStartHour(addDays(today, 1), zone);
  const [accounts, balances, sums, matching] = await Promise.all([
    store.accounts.list(),
    store.accounts.balances(),
    store.usage.serviceSums({ subject: 'account', from, to, by: 'name' }),
    findMatchingAccounts(store, query.text),
  ]);
  const wallets = new Map(balances.map((row) => [row.id, row]));
  const spent = new Map(sums.map((row) => [row.name, row]));
  const customers = accounts.map((account): Customer => {
    const { avail = 0n, topped = 0n } = wallets.get(account.id) ?? {};
    return { account, balance: avail, topped, sums: spent.get(account.id) ?? NO_SERVICE };
  });
  return selectCustomers(customers, { ...query, now, matching });
}

/** The accounts of users and keys that a text names, besides those that have it in their name. */
async function findMatchingAccounts({ users, keys }: Store, text: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  if (/^[\w-]{4}$/.test(text)) for (const id of await keys.findAccountsByEnd(text, MATCHES_MAX)) found.add(id);
  if (!text.includes('@')) return found;
  const wanted = text.toLowerCase();
  for (let after = ''; found.size < MATCHES_MAX; ) {
    const page = await users.page({ after, limit: USERS_PER_PAGE });
    const matching = page.filter(({ email }) => email.includes(wanted)).slice(0, MATCHES_MAX);
    const memberships = await Promise.all(matching.map(({ id }) => users.listUserMemberships(id)));
    for (const { account } of memberships.flat()) found.add(account);
    const last = page.at(-1);
    if (!last || page.length < USERS_PER_PAGE) break;
    after = last.id;
  }
  return found;
}

interface Selection extends CustomerQuery {
  readonly now: number;
  /** Accounts that match by other than their name. */
  readonly matching: ReadonlySet<string>;
}

export function selectCustomers(customers: readonly Customer[], selection: Selection): readonly Customer[] {
  const { text, sort, matching } = selection;
  const wanted = text.toLowerCase();
  const isNamed = ({ account: { id, name } }: Customer) =>
    id.toLowerCase().includes(wanted) || name.toLowerCase().includes(wanted) || matching.has(id);
  return customers.filter((each) => isNamed(each) && FILTERS[selection.filter](each, selection.now)).sort(SORTS[sort]);
}

const FILTERS: Readonly<Record<CustomerFilter, (customer: Customer, now: number) => boolean>> = {
  all: () => true,
  unpaid: ({ topped }) => topped === 0n,
  negative: ({ balance }) => balance < 0n,
  suspended: ({ account }) => account.status === 'suspended',
  // A new account has had no time to be silent.
  silent: ({ account, sums }, now) => sums.calls === 0 && account.createdAt < now - CUSTOMER_DAYS * DAY_MS,
};

type Order = (one: Customer, other: Customer) => number;

const byCreated: Order = (one, other) => other.account.createdAt - one.account.createdAt;
const compareMicro = (one: Micro, other: Micro) => (one === other ? 0 : one > other ? -1 : 1);

const SORTS: Readonly<Record<CustomerSort, Order>> = {
  spent: (one, other) => compareMicro(one.sums.charged, other.sums.charged) || byCreated(one, other),
  balance: (one, other) => compareMicro(other.balance, one.balance) || byCreated(one, other),
  created: byCreated,
  name: (one, other) => one.account.name.localeCompare(other.account.name),
};
