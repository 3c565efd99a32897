// Exchange rates in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import type { NewRate, RateRecord } from '../ports/rates.ts';
import { type Connection, prepareBig } from './connection.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';

export function rateWrites({ db, write }: Connection): PortWrites<'rates'> {
  const last = prepareBig(db, 'SELECT seq, rub, since FROM rates WHERE currency = ? ORDER BY seq DESC LIMIT 1');
  const put = db.prepare('INSERT OR REPLACE INTO rates (currency, seq, rub, since, at) VALUES (?, ?, ?, ?, ?)');
  return {
    record: (rates: readonly NewRate[]): void =>
      write(() => {
        for (const { currency, rub, from, at } of rates) {
          const known = last.get(currency);
          if (known?.rub === rub && known.since === from) continue;
          put.run(currency, Number(known?.seq ?? 0) + 1, rub, from, at);
        }
      }),
    put: (rates: readonly RateRecord[]): void =>
      write(() => {
        for (const { currency, seq, rub, from, at } of rates) put.run(currency, seq, rub, from, at);
      }),
  };
}

export function rateReads(db: DatabaseSync): PortReads<'rates'> {
  const all = prepareBig(db, 'SELECT currency, seq, rub, since, at FROM rates ORDER BY currency, seq');
  return {
    list: (): RateRecord[] =>
      all.all().map(({ currency, seq, rub, since, at }) => ({
        currency: currency as string,
        seq: Number(seq),
        rub: rub as bigint,
        from: since as string,
        at: Number(at),
      })),
  };
}
