// Attempts at upstreams in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import { type Attempt, type AttemptCost, FAULT_ENDINGS } from '../../money/attempt.ts';
import type { AttemptPage, AttemptSearch, CostGroup, CostQuery, CostSum } from '../ports/attempts.ts';
import type { UsedAttempt } from '../ports/journal.ts';
import { type Connection, inReadTransaction, prepareBig } from './connection.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';

/** The columns, in the order of the values of `toAttemptCells`. */
const COLUMNS = `charge, number, wallet, last, model, upstream, upstream_model, key_place, request_id, at, ending,
  first_ms, total_ms, usage, certainty, currency, prices, rate, cost, cost_rub, mark, reason`;
const SELECT = `SELECT ${COLUMNS} FROM call_attempts`;
const LISTED = '(SELECT value FROM json_each(?))';
const SEQ_MAX = Number.MAX_SAFE_INTEGER;
/** Sorts after every text. */
const AFTER_EVERY_TEXT = new Uint8Array([255]);

export function attemptWrites({ db, write }: Connection): PortWrites<'attempts'> {
  const save = createSaveAttempt(db);
  return {
    put: (attempts: readonly Attempt[]): void =>
      write(() => {
        for (const attempt of attempts) save(attempt);
      }),
  };
}

export function attemptReads(db: DatabaseSync): PortReads<'attempts'> {
  const page = prepareBig(
    db,
    `${SELECT} WHERE at >= :from AND at < :to AND (at, charge, number) > (:at, :charge, :number)
    ORDER BY at, charge, number LIMIT :limit`,
  );
  const bound = db.prepare('SELECT charge FROM call_attempts WHERE charge > ? ORDER BY charge LIMIT 1 OFFSET ?');
  const unknown = db.prepare(
    `SELECT DISTINCT charge, wallet FROM call_attempts WHERE charge > ? AND charge <= ?
      AND NOT EXISTS (SELECT 1 FROM charges WHERE id = charge) ORDER BY charge`,
  );
  return {
    list: createReadAttempts(db),
    page: ({ from = 0, to = SEQ_MAX, after, limit }: AttemptPage): Attempt[] => {
      const { at, charge, number } = after ?? { at: -1, charge: '', number: 0 };
      return page.all({ from, to, at, charge, number, limit }).map(readAttemptRow);
    },
    search: createSearch(db),
    sums: createSums(db),
    unknownCharges: (after: string, limit: number) =>
      inReadTransaction(db, () => {
        const next = bound.get(after, limit - 1)?.charge as string | undefined;
        const rows = unknown.all(after, next ?? AFTER_EVERY_TEXT);
        const found = rows.map(({ charge, wallet }) => ({ charge, wallet }) as Pick<Attempt, 'charge' | 'wallet'>);
        return next === undefined ? { found } : { found, next };
      }),
  };
}

function createSearch(db: DatabaseSync): (search: AttemptSearch) => Attempt[] {
  const faults = FAULT_ENDINGS.map((ending) => `'${ending}'`).join();
  const select = prepareBig(
    db,
    `${SELECT} WHERE at >= :from AND at < :to AND (at, charge, number) < (:at, :charge, :number)
      AND wallet = coalesce(:wallet, wallet) AND model = coalesce(:model, model)
      AND coalesce(upstream, '') = coalesce(:upstream, upstream, '') AND ending = coalesce(:ending, ending)
      AND coalesce(reason, '') = coalesce(:reason, reason, '') AND (:faults = 0 OR ending IN (${faults}))
    ORDER BY at DESC, charge DESC, number DESC LIMIT :limit`,
  );
  return ({ from = 0, to = SEQ_MAX, before, limit, isFault = false, ...filter }) => {
    const { at, charge, number } = before ?? { at: SEQ_MAX, charge: '', number: 0 };
    const { wallet = null, model = null, upstream = null, ending = null, reason = null } = filter;
    const wanted = { wallet, model, upstream, ending, reason, faults: Number(isFault) };
    return select.all({ from, to, at, charge, number, limit, ...wanted }).map(readAttemptRow);
  };
}

/** Reads the attempts of calls, inside the current transaction if there is one. */
export function createReadAttempts(db: DatabaseSync): (charges: readonly string[]) => Attempt[] {
  const select = prepareBig(db, `${SELECT} WHERE charge IN ${LISTED} ORDER BY charge, number`);
  return (charges) => select.all(JSON.stringify(charges)).map(readAttemptRow);
}

/** Reads what usage counts of the attempts of calls, which is a part of each row. */
export function createReadUsedAttempts(db: DatabaseSync): (charges: readonly string[]) => UsedAttempt[] {
  const select = prepareBig(
    db,
    `SELECT charge, model, upstream, ending, reason, first_ms, certainty, cost_rub FROM call_attempts
    WHERE charge IN ${LISTED} ORDER BY charge, number`,
  );
  return (charges) => {
    const rows = charges.length === 0 ? [] : select.all(JSON.stringify(charges));
    return rows.map((row) => {
      const { charge, model, upstream, ending, certainty } = row as unknown as UsedAttempt;
      const cost = row.cost_rub === null ? null : { costRub: row.cost_rub as bigint };
      const reason = row.reason !== null && { reason: row.reason as string };
      const end = { ending, certainty, ...reason, firstMs: numberOrNull(row.first_ms) };
      return { charge, model, upstream, ...end, cost };
    });
  };
}

const GROUPS: Readonly<Record<CostGroup, string>> = {
  day: "strftime('%Y-%m-%d', at / 1000, 'unixepoch')",
  model: 'call_attempts.model',
  upstream: "coalesce(upstream, '')",
  account: 'call_attempts.wallet',
};

function createSums(db: DatabaseSync): (query: CostQuery) => CostSum[] {
  const sumCostByCertainty = (certainty: string) =>
    `coalesce(sum(cost_rub) FILTER (WHERE certainty = '${certainty}'), 0)`;
  return ({ by, from = 0, to = SEQ_MAX }) => {
    const rows = prepareBig(
      db,
      `SELECT ${GROUPS[by]} AS name, sum(last) AS calls, count(*) AS attempts,
        coalesce(sum(charged) FILTER (WHERE state = 'settled'), 0) AS charged, ${sumCostByCertainty('reported')} AS reported,
        ${sumCostByCertainty('estimated')} AS estimated, ${sumCostByCertainty('possible')} AS possible,
        sum(cost_rub IS NULL AND certainty <> 'none') AS unpriced
      FROM call_attempts LEFT JOIN charges ON charges.id = charge AND last = 1
      WHERE at >= ? AND at < ? GROUP BY name`,
    ).all(from, to);
    return rows.map((row) => {
      const { reported, estimated, possible, charged } = row as unknown as CostSum;
      return {
        group: row.name as string,
        calls: Number(row.calls),
        attempts: Number(row.attempts),
        charged,
        reported,
        estimated,
        possible,
        unpriced: Number(row.unpriced),
      };
    });
  };
}

/** Writes an attempt, replacing any row with its number. */
export function createSaveAttempt(db: DatabaseSync): (attempt: Attempt) => void {
  const replace = db.prepare(
    `INSERT OR REPLACE INTO call_attempts (${COLUMNS}) VALUES (${COLUMNS.replace(/\w+/g, '?')})`,
  );
  return (attempt) => void replace.run(...toAttemptCells(attempt));
}

/** Deletes all attempts of a call. */
export function createDropAttempts(db: DatabaseSync): (charge: string) => void {
  const drop = db.prepare('DELETE FROM call_attempts WHERE charge = ?');
  return (charge) => void drop.run(charge);
}

function toAttemptCells(attempt: Attempt) {
  const { charge, number, wallet, last, model, upstream, upstreamModel, keyPlace, requestId, at } = attempt;
  const { ending, reason = null, firstMs, totalMs, usage, certainty, cost, mark } = attempt;
  const { currency = null, prices = null, rate = null, cost: amount = null, costRub = null } = cost ?? {};
  const route = [model, upstream, upstreamModel, keyPlace, requestId] as const;
  const end = [ending, firstMs, totalMs, usage, certainty] as const;
  return [
    charge,
    number,
    wallet,
    Number(last),
    ...route,
    at,
    ...end,
    currency,
    prices,
    rate,
    amount,
    costRub,
    mark,
    reason,
  ] as const;
}

function readAttemptRow(row: Record<string, unknown>): Attempt {
  const { charge, wallet, model, upstream, ending, usage, certainty, mark } = row as unknown as Attempt;
  return {
    charge,
    number: Number(row.number),
    wallet,
    last: row.last === 1n,
    model,
    upstream,
    upstreamModel: row.upstream_model as string | null,
    keyPlace: numberOrNull(row.key_place),
    requestId: row.request_id as string | null,
    at: Number(row.at),
    ending,
    firstMs: numberOrNull(row.first_ms),
    totalMs: Number(row.total_ms),
    usage,
    certainty,
    cost: readCost(row),
    mark,
    ...(row.reason !== null && { reason: row.reason as string }),
  };
}

/** A falsified row may have a part of a cost, which the audit has to see. */
function readCost({ currency, prices, rate, cost, cost_rub: costRub }: Record<string, unknown>): AttemptCost | null {
  const parts = { currency, prices, rate, cost, costRub };
  return Object.values(parts).every((part) => part === null) ? null : (parts as AttemptCost);
}

function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value);
}
