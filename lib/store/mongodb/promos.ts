// Promo codes in the MongoDB store. The id of a use is its code and account.
import type { Document } from 'mongodb';
import type { PromoCode, PromoStore, PromoUse } from '../ports/promos.ts';
import { decideClaim } from '../promo-claims.ts';
import { call, MAJORITY, read, send } from './call.ts';
import type { Connection } from './connection.ts';
import { DUPLICATE_KEY } from './failure.ts';
import { type Row, toLong } from './rows.ts';
import { readFirstBatch, type Transactions } from './transaction.ts';

export function promoStore({ db }: Connection, transactions: Transactions): PromoStore {
  const codes = db.collection<Row>('promo_codes');
  const uses = db.collection<Row>('promo_uses');
  const write = (command: Document) =>
    call({ repeatable: true }, (signal) => send(db, { ...command, ...MAJORITY }, { signal }));
  return {
    async add(promo) {
      const command = { insert: 'promo_codes', documents: [toPromoDocument(promo)], ...MAJORITY };
      const { n } = await call({ repeatable: false }, (signal) =>
        send(db, command, { signal, ignored: DUPLICATE_KEY }),
      );
      return n === 1;
    },
    async get(code) {
      const row = await read((signal) => codes.findOne({ _id: code }, { signal }));
      return row ? readPromoDocument(row) : undefined;
    },
    async page({ after, limit }) {
      const query = { sort: { _id: 1 }, limit } as const;
      const rows = await read((signal) => codes.find({ _id: { $gt: after } }, { ...query, signal }).toArray());
      return rows.map(readPromoDocument);
    },
    async end(code, at) {
      const updates = [{ q: { _id: code, endedAt: null }, u: { $set: { endedAt: at } } }];
      return (await write({ update: 'promo_codes', updates })).n === 1;
    },
    claim: ({ code, account, at }) =>
      transactions.run({
        async steps(step) {
          const find = async (from: string, _id: string) =>
            (await readFirstBatch(step({ find: from, filter: { _id }, limit: 1 })))[0];
          const row = await find('promo_codes', code);
          const known = await find('promo_uses', toUseId({ code, account }));
          const claim = decideClaim(row && readPromoDocument(row), known && readUseDocument(known), at);
          if (claim.status !== 'claimed') return claim;
          const updates = [{ q: { _id: code }, u: { $set: { used: claim.promo.used } } }];
          await step({ update: 'promo_codes', updates });
          await step({ insert: 'promo_uses', documents: [toUseDocument({ code, account, at })] });
          return claim;
        },
      }),
    async uses({ after, limit }) {
      const { code = '', account = '' } = after ?? {};
      const filter = { $or: [{ code, account: { $gt: account } }, { code: { $gt: code } }] };
      const query = { sort: { code: 1, account: 1 }, limit } as const;
      return (await read((signal) => uses.find(filter, { ...query, signal }).toArray())).map(readUseDocument);
    },
    async put(rows) {
      const toUpdates = (documents: readonly Document[]) =>
        documents.map(({ _id, ...u }) => ({ q: { _id }, u, upsert: true }));
      const parts = { promo_codes: rows.codes.map(toPromoDocument), promo_uses: rows.uses.map(toUseDocument) };
      for (const [update, documents] of Object.entries(parts))
        if (documents.length > 0) await write({ update, updates: toUpdates(documents) });
    },
  };
}

function toUseId({ code, account }: Pick<PromoUse, 'code' | 'account'>): string {
  return `${code} ${account}`;
}

function toUseDocument(use: PromoUse) {
  return { _id: toUseId(use), ...use };
}

function readUseDocument({ code, account, at }: Document): PromoUse {
  return { code, account, at: Number(at) };
}

function toPromoDocument({ code: _id, amount, ...promo }: PromoCode) {
  return { _id, amount: toLong(amount), ...promo };
}

function readPromoDocument(row: Document): PromoCode {
  const { _id: code, amount, opens, reason } = row;
  return {
    code,
    amount,
    uses: Number(row.uses),
    used: Number(row.used),
    until: numberOrNull(row.until),
    days: numberOrNull(row.days),
    opens,
    reason,
    createdAt: Number(row.createdAt),
    endedAt: numberOrNull(row.endedAt),
  };
}

function numberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value);
}
