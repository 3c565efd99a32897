// The columns of payment rows, the same in every store: their order and types.
import type { PaymentRows } from './ports/payments.ts';

/** `micro` is an amount, a bigint; `number` an integer. Any but `micro` and `flag` may be null. */
export type Value = 'text' | 'number' | 'micro' | 'flag';

export type PaymentTable = keyof PaymentRows;

type Fields<Row> = { readonly [Name in keyof Row & string]: Value };

export const PAYMENT_FIELDS: { readonly [Sort in PaymentTable]: Fields<PaymentRows[Sort]> } = {
  payments: {
    id: 'text',
    wallet: 'text',
    provider: 'text',
    phase: 'text',
    amount: 'micro',
    shop: 'text',
    test: 'flag',
    origin: 'text',
    facts: 'text',
    ref: 'text',
    payUrl: 'text',
    expiresAt: 'number',
    state: 'text',
    reason: 'text',
    credited: 'micro',
    refunded: 'micro',
    shortfall: 'micro',
    refunds: 'text',
    dispute: 'text',
    owner: 'text',
    lease: 'number',
    dueAt: 'number',
    createdAt: 'number',
    changedAt: 'number',
    version: 'number',
  },
  methods: {
    id: 'text',
    wallet: 'text',
    provider: 'text',
    ref: 'text',
    kind: 'text',
    brand: 'text',
    last4: 'text',
    expiry: 'text',
    fingerprint: 'text',
    createdAt: 'number',
    removedAt: 'number',
  },
  consents: {
    id: 'text',
    wallet: 'text',
    user: 'text',
    kind: 'text',
    textVersion: 'text',
    text: 'text',
    at: 'number',
    address: 'text',
  },
  autoTopups: {
    id: 'text',
    enabled: 'flag',
    threshold: 'micro',
    amount: 'micro',
    cap: 'micro',
    method: 'text',
    consent: 'text',
    order: 'text',
    nextAt: 'number',
    declines: 'number',
    pausedAt: 'number',
    reason: 'text',
    day: 'text',
    dayCount: 'number',
    month: 'text',
    monthSum: 'micro',
    version: 'number',
  },
  notices: {
    id: 'text',
    provider: 'text',
    at: 'number',
    address: 'text',
    headers: 'text',
    body: 'text',
    verdict: 'text',
    detail: 'text',
  },
};

type Cell = string | number | bigint | null;

/** Converts a row to its values, in the order of the columns. */
export function toCells<Sort extends PaymentTable>(sort: Sort, row: PaymentRows[Sort]): Cell[] {
  return Object.entries<Value>(PAYMENT_FIELDS[sort]).map(([name, value]) => {
    const cell = row[name as keyof PaymentRows[Sort]];
    return value === 'flag' ? Number(cell) : (cell as Cell);
  });
}

/** Converts values to a row; integers may arrive as bigint. */
export function fromCells<Sort extends PaymentTable>(sort: Sort, cells: readonly unknown[]): PaymentRows[Sort] {
  const fields = Object.entries<Value>(PAYMENT_FIELDS[sort]);
  return Object.fromEntries(
    fields.map(([name, value], at) => [name, fromCell(value, cells[at])]),
  ) as unknown as PaymentRows[Sort];
}

function fromCell(value: Value, cell: unknown): unknown {
  if (value === 'flag') return cell === true || Number(cell) === 1;
  return value === 'number' && typeof cell === 'bigint' ? Number(cell) : cell;
}
