// Promo codes in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import type { PromoClaim, PromoCode, PromoStore, PromoUse } from '../ports/promos.ts';
import { decideClaim } from '../promo-claims.ts';
import { type Connection, prepareBig } from './connection.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';

const COLUMNS = 'code, amount, uses, used, until, days, opens, reason, created_at, ended_at';
const SELECT_CODE = `SELECT ${COLUMNS} FROM promo_codes WHERE code = ?`;

export function promoWrites({ db, write }: Connection): PortWrites<'promos'> {
  const one = prepareBig(db, SELECT_CODE);
  const known = db.prepare('SELECT code, account, at FROM promo_uses WHERE code = ? AND account = ?');
  const put = db.prepare(`INSERT OR REPLACE INTO promo_codes (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const end = db.prepare('UPDATE promo_codes SET ended_at = ? WHERE code = ? AND ended_at IS NULL');
  const count = db.prepare('UPDATE promo_codes SET used = ? WHERE code = ?');
  const putUse = db.prepare('INSERT OR REPLACE INTO promo_uses (code, account, at) VALUES (?, ?, ?)');
  const find = (code: string) => one.all(code).map(readPromoRow)[0];
  const save = (promo: PromoCode) => void put.run(...toPromoCells(promo));
  return {
    add: (promo: PromoCode): boolean =>
      write(() => {
        if (find(promo.code)) return false;
        save(promo);
        return true;
      }),
    end: (code: string, at: number): boolean => write(() => end.run(at, code).changes === 1),
    claim: ({ code, account, at }: PromoUse): PromoClaim =>
      write(() => {
        const claim = decideClaim(find(code), known.get(code, account) as PromoUse | undefined, at);
        if (claim.status !== 'claimed') return claim;
        count.run(claim.promo.used, code);
        putUse.run(code, account, at);
        return claim;
      }),
    put: ({ codes, uses }: Parameters<PromoStore['put']>[0]): void =>
      write(() => {
        for (const promo of codes) save(promo);
        for (const { code, account, at } of uses) putUse.run(code, account, at);
      }),
  };
}

export function promoReads(db: DatabaseSync): PortReads<'promos'> {
  const one = prepareBig(db, SELECT_CODE);
  const page = prepareBig(db, `SELECT ${COLUMNS} FROM promo_codes WHERE code > ? ORDER BY code LIMIT ?`);
  const uses = db.prepare(
    'SELECT code, account, at FROM promo_uses WHERE (code, account) > (?, ?) ORDER BY code, account LIMIT ?',
  );
  return {
    get: (code: string): PromoCode | undefined => one.all(code).map(readPromoRow)[0],
    page: ({ after, limit }: { after: string; limit: number }): PromoCode[] => page.all(after, limit).map(readPromoRow),
    uses: ({ after, limit }: Parameters<PromoStore['uses']>[0]): PromoUse[] =>
      uses.all(after?.code ?? '', after?.account ?? '', limit).map((row) => ({ ...row }) as unknown as PromoUse),
  };
}

function toPromoCells(promo: PromoCode) {
  const { code, amount, uses, used, until, days, opens, reason, createdAt, endedAt } = promo;
  return [code, amount, uses, used, until, days, opens ? 1 : 0, reason, createdAt, endedAt] as const;
}

function readPromoRow(row: Record<string, unknown>): PromoCode {
  return {
    code: row.code as string,
    amount: row.amount as bigint,
    uses: Number(row.uses),
    used: Number(row.used),
    until: numberOrNull(row.until),
    days: numberOrNull(row.days),
    opens: row.opens === 1n,
    reason: row.reason as string,
    createdAt: Number(row.created_at),
    endedAt: numberOrNull(row.ended_at),
  };
}

function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value);
}
