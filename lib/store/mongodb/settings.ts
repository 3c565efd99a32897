// Settings in the MongoDB store.
import type { SettingStore } from '../ports/settings.ts';
import { call, MAJORITY, read, send } from './call.ts';
import type { Connection } from './connection.ts';
import { DUPLICATE_KEY } from './failure.ts';
import type { Row } from './rows.ts';

export function settingStore({ db }: Connection): SettingStore {
  const settings = db.collection<Row>('settings');
  return {
    async get(name) {
      return (await read((signal) => settings.findOne({ _id: name }, { signal })))?.value;
    },
    async list(prefix = '') {
      const filter = { _id: { $gte: prefix, $lt: `${prefix}\u{10ffff}` } };
      const rows = await read((signal) => settings.find(filter, { signal }).sort({ _id: 1 }).toArray());
      return rows.map((row) => ({ name: row._id, value: row.value }));
    },
    async replace(name, { before, after }) {
      // The answer to an earlier attempt may have been lost.
      const q = { _id: name, value: { $in: [after, ...(before === undefined ? [] : [before])] } };
      const update = { q, u: { $set: { value: after } }, upsert: before === undefined };
      const command = { update: 'settings', updates: [update], ...MAJORITY };
      const { n } = await call({ repeatable: true }, (signal) => send(db, command, { signal, ignored: DUPLICATE_KEY }));
      return n === 1;
    },
    async set(name, value) {
      const updates = [{ q: { _id: name }, u: { $set: { value } }, upsert: true }];
      await call({ repeatable: true }, (signal) => send(db, { update: 'settings', updates, ...MAJORITY }, { signal }));
    },
  };
}
