// Settings in the MongoDB store.
import type { SettingStore } from '../ports/settings.ts';
import { call, MAJORITY, read, send } from './call.ts';
import type { Connection } from './connection.ts';
import type { Row } from './rows.ts';

export function settingStore({ db }: Connection): SettingStore {
  const settings = db.collection<Row>('settings');
  return {
    async get(name) {
      return (await read((signal) => settings.findOne({ _id: name }, { signal })))?.value;
    },
    async list() {
      const rows = await read((signal) => settings.find({}, { signal }).sort({ _id: 1 }).toArray());
      return rows.map((row) => ({ name: row._id, value: row.value }));
    },
    async set(name, value) {
      const updates = [{ q: { _id: name }, u: { $set: { value } }, upsert: true }];
      await call({ repeatable: true }, (signal) => send(db, { update: 'settings', updates, ...MAJORITY }, { signal }));
    },
  };
}
