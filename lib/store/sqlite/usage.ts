// Folded usage in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import { mapUnits, UNIT_COUNTS, UNIT_NAMES, USAGE_UNITS } from '../../money/usage-units.ts';
import type {
  FoldedUsage,
  UsageGroupSum,
  UsageHour,
  UsageQuery,
  UsageStep,
  UsageStore,
  UsageTotals,
} from '../ports/usage.ts';
import { type Connection, inReadTransaction, prepareBig } from './connection.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';

const COUNTS = ['calls', 'charged', 'refunded', ...USAGE_UNITS] as const;

export function usageWrites({ db, write }: Connection): PortWrites<'usage'> {
  const cursor = db.prepare('SELECT seq FROM usage_cursors WHERE wallet = ?');
  const move = db.prepare(
    'INSERT INTO usage_cursors (wallet, seq) VALUES (?1, ?2) ON CONFLICT (wallet) DO UPDATE SET seq = ?2',
  );
  const add = db.prepare(
    `INSERT INTO usage_hours (wallet, hour, key, model, kind, ${COUNTS.join(', ')})
      VALUES (?, ?, ?, ?, ?, ${COUNTS.map(() => '?').join(', ')}) ON CONFLICT (wallet, hour, key, model, kind)
      DO UPDATE SET ${COUNTS.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`,
  );
  const drops = ['usage_hours', 'usage_cursors'].map((table) => db.prepare(`DELETE FROM ${table} WHERE wallet = ?`));
  const addUsageHours = (wallet: string, hours: readonly UsageHour[], to: number) => {
    for (const { hour, key, model, kind, calls, charged, refunded, ...units } of hours) {
      add.run(wallet, hour, key, model, kind, calls, charged, refunded, ...UNIT_COUNTS.map((name) => units[name]));
    }
    move.run(wallet, to);
  };
  return {
    add: ({ wallet, from, to, hours }: UsageStep): boolean =>
      write(() => {
        if (((cursor.get(wallet)?.seq as number | undefined) ?? 0) !== from) return false;
        addUsageHours(wallet, hours, to);
        return true;
      }),
    put: (wallet: string, usage: FoldedUsage): void =>
      write(() => {
        for (const drop of drops) drop.run(wallet);
        if (usage.cursor > 0) addUsageHours(wallet, usage.hours, usage.cursor);
      }),
    forget: (wallet: string): void =>
      write(() => {
        for (const drop of drops) drop.run(wallet);
      }),
  };
}

/** SQL expressions to group by; constants, never input. */
const GROUPS: Readonly<Record<UsageQuery['by'], string>> = {
  hour: 'CAST(hour AS TEXT)',
  day: "date(hour / 1000, 'unixepoch')",
  model: 'model',
  key: 'key',
  kind: 'kind',
};

export function usageReads(db: DatabaseSync): PortReads<'usage'> {
  const cursor = db.prepare('SELECT seq FROM usage_cursors WHERE wallet = ?');
  const wallets = db.prepare(
    `SELECT id, wallets.seq > coalesce(usage_cursors.seq, 0) AS behind FROM wallets
      LEFT JOIN usage_cursors ON wallet = id WHERE id > ? ORDER BY id LIMIT ?`,
  );
  const sums = Object.fromEntries(
    Object.entries(GROUPS).map(([by, group]) => {
      const columns = COUNTS.map((name) => `sum(${name}) AS ${name}`).join(', ');
      const where = `wallet = ? AND hour >= ? AND hour < ? AND (?4 IS NULL OR key = ?4) AND (?5 IS NULL OR model = ?5)
        AND (?6 IS NULL OR kind = ?6) AND (?7 IS NULL OR key IN (SELECT value FROM json_each(?7)))`;
      return [
        by,
        prepareBig(db, `SELECT ${group} AS label, ${columns} FROM usage_hours WHERE ${where} GROUP BY label`),
      ];
    }),
  ) as Record<UsageQuery['by'], ReturnType<typeof prepareBig>>;
  const hours = prepareBig(db, 'SELECT * FROM usage_hours WHERE wallet = ?');
  const readCursor = (wallet: string): number => (cursor.get(wallet)?.seq as number | undefined) ?? 0;
  return {
    cursor: readCursor,
    readAll: (wallet: string): FoldedUsage =>
      inReadTransaction(db, () => ({ cursor: readCursor(wallet), hours: hours.all(wallet).map(readUsageHourRow) })),
    findBehind: (after: string, limit: number): Awaited<ReturnType<UsageStore['findBehind']>> => {
      const rows = wallets.all(after, limit) as unknown as readonly { readonly id: string; readonly behind: 0 | 1 }[];
      const found = rows.filter(({ behind }) => behind === 1).map(({ id }) => id);
      const last = rows.length < limit ? undefined : rows.at(-1);
      return last ? { found, next: last.id } : { found };
    },
    sums: (wallet: string, query: UsageQuery): UsageGroupSum[] => {
      const { by, from = 0, to = Number.MAX_SAFE_INTEGER, key = null, model = null, kind = null } = query;
      const keys = query.keys ? JSON.stringify(query.keys) : null;
      return sums[by].all(wallet, from, to, key, model, kind, keys).map(readUsageSumRow);
    },
  };
}

function readUsageHourRow(row: Record<string, unknown>): UsageHour {
  const { key, model, kind } = row as unknown as UsageHour;
  return { hour: Number(row.hour), key, model, kind, ...readUsageTotals(row) };
}

function readUsageSumRow(row: Record<string, unknown>): UsageGroupSum {
  return { group: row.label as string, ...readUsageTotals(row) };
}

function readUsageTotals(row: Record<string, unknown>): UsageTotals {
  return {
    calls: Number(row.calls),
    charged: row.charged as bigint,
    refunded: row.refunded as bigint,
    ...mapUnits(UNIT_COUNTS, (name) => Number(row[UNIT_NAMES[name]])),
  };
}
