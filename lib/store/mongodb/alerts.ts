// Alerts in the MongoDB store.
import type { Document } from 'mongodb';
import type { Alarm, AlertSettings, AlertStore } from '../ports/alerts.ts';
import { call, MAJORITY, read, send } from './call.ts';
import type { Connection } from './connection.ts';
import { isDuplicate } from './failure.ts';
import { type Row, toLong } from './rows.ts';

export function alertStore({ db }: Connection): AlertStore {
  const alerts = db.collection<Row>('alerts');
  const alarms = db.collection<Row>('alarms');

  /** Writes the next version of a row; false if another process was faster. */
  async function writeNextVersion(name: string, { _id, ...fields }: Row): Promise<boolean> {
    const { version } = fields;
    const row = { _id, ...fields, version: version + 1 };
    const command =
      version === 0 ? { insert: name, documents: [row] } : { update: name, updates: [{ q: { _id, version }, u: row }] };
    try {
      const { n } = await call({ repeatable: false }, (signal) => send(db, { ...command, ...MAJORITY }, { signal }));
      return Number(n) === 1;
    } catch (error) {
      if (error instanceof Error && isDuplicate(error.cause)) return false;
      throw error;
    }
  }

  async function replaceDocuments(name: string, rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return;
    const updates = rows.map((row) => ({ q: { _id: row._id }, u: row, upsert: true }));
    await call({ repeatable: true }, (signal) => send(db, { update: name, updates, ...MAJORITY }, { signal }));
  }

  return {
    async get(account) {
      const row = await read((signal) => alerts.findOne({ _id: account }, { signal }));
      return row ? readAlertSettingsDocument(row) : undefined;
    },
    change: (settings) => writeNextVersion('alerts', toAlertSettingsDocument(settings)),
    async page({ after = '', limit }) {
      const filter = { _id: { $gt: after } };
      const rows = await read((signal) => alerts.find(filter, { signal }).sort({ _id: 1 }).limit(limit).toArray());
      return rows.map(readAlertSettingsDocument);
    },
    async alarms(account) {
      const rows = await read((signal) => alarms.find({ account }, { signal }).sort({ subject: 1 }).toArray());
      return rows.map(({ subject, state, version }) => ({ account, subject, state, version: Number(version) }));
    },
    changeAlarm: (alarm) => writeNextVersion('alarms', toAlarmDocument(alarm)),
    async put(settings, list) {
      await replaceDocuments('alerts', [toAlertSettingsDocument(settings)]);
      await replaceDocuments('alarms', list.map(toAlarmDocument));
    },
  };
}

function toAlertSettingsDocument({ account: _id, balanceBelow, ...settings }: AlertSettings): Row {
  return { _id, balanceBelow: balanceBelow === null ? null : toLong(balanceBelow), ...settings };
}

function readAlertSettingsDocument({ _id: account, balanceBelow, budgets, webhook, version }: Document): AlertSettings {
  return { account, balanceBelow, budgets, webhook: webhook && { ...webhook }, version: Number(version) };
}

function toAlarmDocument(alarm: Alarm): Row {
  return { _id: `${alarm.account} ${alarm.subject}`, ...alarm };
}
