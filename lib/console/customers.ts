// The customers of the service: found by one text, filtered, and sorted by what they spent in 30 days.
import { DAY_MS } from '../base/durations.ts';
import { addDays, findDayStartHour, findHourDay } from '../money/days.ts';
import { compareMicro } from '../money/money.ts';
import type { AccountSummary } from '../store/ports/accounts.ts';
import type { AccountUse } from '../store/ports/keys.ts';
import type { ServiceRow, ServiceTotals } from '../store/ports/usage.ts';
import { NO_SERVICE } from '../store/service-sums.ts';
import type { Store } from '../store/store.ts';
import { walkPages } from '../store/walks.ts';
import { toStoredEmail } from '../users/people.ts';
import type { CustomerRanks } from './customer-ranks.ts';
import { countPaceDays } from './pace-days.ts';

export const CUSTOMER_DAYS = 30;
/** A balance is low if it lasts less than this at the pace of `CUSTOMER_DAYS`, or of all days of a younger account. */
const LOW_DAYS = 7n;
const USERS_PER_PAGE = 1000;
const MATCHES_MAX = 200;
/** Characters; fewer are in most addresses. */
const EMAIL_PART_MIN = 3;

export const CUSTOMER_FILTERS = ['all', 'unpaid', 'low', 'negative', 'suspended', 'silent'] as const;
export type CustomerFilter = (typeof CUSTOMER_FILTERS)[number];

export const CUSTOMER_SORTS = ['spent', 'balance', 'last', 'created', 'name'] as const;
export type CustomerSort = (typeof CUSTOMER_SORTS)[number];

export interface Customer extends AccountSummary {
  /** Of 30 days, today included. */
  readonly sums: ServiceTotals;
  /** When one of its keys was last used, ms since the epoch; absent: never. */
  readonly usedAt?: number;
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

interface Reading {
  readonly store: Store;
  readonly customerRanks: CustomerRanks;
  readonly now: number;
  readonly zone: string;
}

interface CustomerPage {
  /** Of all pages. */
  readonly count: number;
  readonly customers: readonly Customer[];
}

/** The part from `first` on, at most `limit` customers. */
export async function listCustomers(
  { store, customerRanks, now, zone }: Reading,
  { first, limit, ...query }: CustomerQuery & { readonly first: number; readonly limit: number },
): Promise<CustomerPage> {
  const today = findHourDay(now, zone);
  const from = findDayStartHour(addDays(today, 1 - CUSTOMER_DAYS), zone);
  const to = findDayStartHour(addDays(today, 1), zone);
  const selectsBySums = query.sort === 'spent' || query.filter === 'silent' || query.filter === 'low';
  const [accounts, matching, ranks, uses] = await Promise.all([
    store.accounts.summaries(),
    findMatchingAccounts(store, query.text),
    selectsBySums ? customerRanks({ from, to }) : [],
    query.sort === 'last' ? store.keys.lastUses() : [],
  ]);
  const found = selectCustomers(addUses(addSums(accounts, ranks), uses), { ...query, now, matching });
  const part = found.slice(first, first + limit);
  const names = part.map(({ id }) => id);
  if (names.length === 0) return { count: found.length, customers: [] };
  // All sums are read only of those that are shown.
  const [sums, shownUses] = await Promise.all([
    store.usage.serviceSums({ subject: 'account', from, to, by: 'name', names }),
    store.keys.lastUses(names),
  ]);
  return { count: found.length, customers: addUses(addSums(part, sums), shownUses) };
}

function addSums(accounts: readonly AccountSummary[], sums: readonly ServiceRow[]): readonly Customer[] {
  const byName = new Map(sums.map((row) => [row.name, row]));
  return accounts.map((account) => ({ ...account, sums: byName.get(account.id) ?? NO_SERVICE }));
}

function addUses(customers: readonly Customer[], uses: readonly AccountUse[]): readonly Customer[] {
  const byAccount = new Map(uses.map(({ account, at }) => [account, at]));
  return customers.map((customer) => {
    const usedAt = byAccount.get(customer.id);
    return usedAt === undefined ? customer : { ...customer, usedAt };
  });
}

/** The accounts of users and keys that a text names, besides those that have it in their name. */
async function findMatchingAccounts({ users, keys }: Store, text: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  if (/^[\w-]{4}$/.test(text)) for (const id of await keys.findAccountsByEnd(text, MATCHES_MAX)) found.add(id);
  if (text.length < EMAIL_PART_MIN) return found;
  const wanted = toStoredEmail(text);
  for await (const page of walkPages(USERS_PER_PAGE, users.page, ({ id }) => id)) {
    const matching = page.filter(({ email }) => email.includes(wanted)).slice(0, MATCHES_MAX);
    const memberships = await Promise.all(matching.map(({ id }) => users.listUserMemberships(id)));
    for (const { account } of memberships.flat()) found.add(account);
    if (found.size >= MATCHES_MAX) break;
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
  const isNamed = ({ id, name }: Customer) =>
    id.toLowerCase().includes(wanted) || name.toLowerCase().includes(wanted) || matching.has(id);
  return customers.filter((each) => isNamed(each) && FILTERS[selection.filter](each, selection.now)).sort(SORTS[sort]);
}

const FILTERS: Readonly<Record<CustomerFilter, (customer: Customer, now: number) => boolean>> = {
  all: () => true,
  unpaid: ({ topped }) => topped === 0n,
  low: ({ avail, sums, createdAt }, now) => {
    const days = countPaceDays(createdAt, { now, daysMax: CUSTOMER_DAYS });
    return avail * BigInt(days) < sums.charged * LOW_DAYS;
  },
  negative: ({ avail }) => avail < 0n,
  suspended: ({ status }) => status === 'suspended',
  // A new account has had no time to be silent.
  silent: ({ createdAt, sums }, now) => sums.calls === 0 && createdAt < now - CUSTOMER_DAYS * DAY_MS,
};

type Order = (one: Customer, other: Customer) => number;

const byCreated: Order = (one, other) => other.createdAt - one.createdAt;

const SORTS: Readonly<Record<CustomerSort, Order>> = {
  spent: (one, other) => compareMicro(one.sums.charged, other.sums.charged) || byCreated(one, other),
  balance: (one, other) => compareMicro(other.avail, one.avail) || byCreated(one, other),
  last: (one, other) => (other.usedAt ?? 0) - (one.usedAt ?? 0) || byCreated(one, other),
  created: byCreated,
  name: (one, other) => one.name.localeCompare(other.name),
};
