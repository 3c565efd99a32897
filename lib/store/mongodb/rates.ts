// Exchange rates in the MongoDB store. The id of a row is its currency and number.
import type { NewRate, RateRecord, RateStore } from '../ports/rates.ts';
import { call, MAJORITY, read, send } from './call.ts';
import type { Connection } from './connection.ts';
import { DUPLICATE_KEY } from './failure.ts';
import { type Row, toLong } from './rows.ts';

export function rateStore({ db }: Connection): RateStore {
  const rates = db.collection<Row>('rates');

  async function findLast(currency: string): Promise<RateRecord | undefined> {
    const sort = { seq: -1 } as const;
    const row = await read((signal) => rates.findOne({ currency }, { sort, signal }));
    return row ? readRateDocument(row) : undefined;
  }

  /** Of two processes that append at once, the second finds the number taken and looks again. */
  async function append(rate: NewRate): Promise<void> {
    for (;;) {
      const last = await findLast(rate.currency);
      if (last?.rub === rate.rub && last.from === rate.from) return;
      const documents = [toRateDocument({ ...rate, seq: (last?.seq ?? 0) + 1 })];
      const command = { insert: 'rates', documents, ...MAJORITY };
      const reply = await call({ repeatable: true }, (signal) => send(db, command, { signal, ignored: DUPLICATE_KEY }));
      if (reply.n === 1) return;
    }
  }

  return {
    async record(list) {
      for (const rate of list) await append(rate);
    },
    async list() {
      const sort = { currency: 1, seq: 1 } as const;
      return (await read((signal) => rates.find({}, { signal }).sort(sort).toArray())).map(readRateDocument);
    },
    async put(list) {
      if (list.length === 0) return;
      const updates = list.map(toRateDocument).map(({ _id, ...fields }) => ({ q: { _id }, u: fields, upsert: true }));
      await call({ repeatable: true }, (signal) => send(db, { update: 'rates', updates, ...MAJORITY }, { signal }));
    },
  };
}

function toRateDocument({ currency, seq, rub, from, at }: RateRecord) {
  return { _id: `${currency}:${seq}`, currency, seq, rub: toLong(rub), from, at };
}

function readRateDocument({ currency, seq, rub, from, at }: Row): RateRecord {
  return { currency, seq: Number(seq), rub, from, at: Number(at) };
}
