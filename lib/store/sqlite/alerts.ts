// Alerts in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import type { Alarm, AlertSettings, AlertStore } from '../ports/alerts.ts';
import { type Connection, prepareBig } from './connection.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';

const COLUMNS = 'account, balance_below, budgets, webhook_url, webhook_secret, version';

export function alertWrites({ db, write }: Connection): PortWrites<'alerts'> {
  const insert = db.prepare(`INSERT INTO alerts (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  const update = db.prepare(
    `UPDATE alerts SET balance_below = ?2, budgets = ?3, webhook_url = ?4, webhook_secret = ?5, version = ?6 + 1
      WHERE account = ?1 AND version = ?6`,
  );
  const put = db.prepare(`INSERT OR REPLACE INTO alerts (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`);
  const insertAlarm = db.prepare(
    'INSERT INTO alarms (account, subject, state, version) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const updateAlarm = db.prepare(
    'UPDATE alarms SET state = ?3, version = ?4 + 1 WHERE account = ?1 AND subject = ?2 AND version = ?4',
  );
  const putAlarm = db.prepare('INSERT OR REPLACE INTO alarms (account, subject, state, version) VALUES (?, ?, ?, ?)');
  return {
    change: (settings: AlertSettings): boolean =>
      write(() => {
        if (settings.version > 0) return update.run(...toAlertSettingsCells(settings)).changes === 1;
        return insert.run(...toAlertSettingsCells({ ...settings, version: 1 })).changes === 1;
      }),
    changeAlarm: ({ account, subject, state, version }: Alarm): boolean =>
      write(() => {
        if (version > 0) return updateAlarm.run(account, subject, state, version).changes === 1;
        return insertAlarm.run(account, subject, state, 1).changes === 1;
      }),
    put: (settings: AlertSettings, alarms: readonly Alarm[]): void =>
      write(() => {
        put.run(...toAlertSettingsCells(settings));
        for (const { account, subject, state, version } of alarms) putAlarm.run(account, subject, state, version);
      }),
  };
}

export function alertReads(db: DatabaseSync): PortReads<'alerts'> {
  const get = prepareBig(db, `SELECT ${COLUMNS} FROM alerts WHERE account = ?`);
  const page = prepareBig(db, `SELECT ${COLUMNS} FROM alerts WHERE account > ? ORDER BY account LIMIT ?`);
  const alarms = db.prepare('SELECT account, subject, state, version FROM alarms WHERE account = ? ORDER BY subject');
  return {
    get: (account: string): AlertSettings | undefined => {
      const row = get.get(account);
      return row && readAlertSettingsRow(row);
    },
    page: ({ after = '', limit }: Parameters<AlertStore['page']>[0]): AlertSettings[] =>
      page.all(after, limit).map(readAlertSettingsRow),
    alarms: (account: string): Alarm[] => alarms.all(account).map((row) => ({ ...row }) as unknown as Alarm),
  };
}

function toAlertSettingsCells({ account, balanceBelow, budgets, webhook, version }: AlertSettings) {
  return [account, balanceBelow, Number(budgets), webhook?.url ?? null, webhook?.secret ?? null, version] as const;
}

function readAlertSettingsRow(row: Record<string, unknown>): AlertSettings {
  const { webhook_url: url, webhook_secret: secret } = row;
  return {
    account: row.account as string,
    balanceBelow: row.balance_below as bigint | null,
    budgets: Number(row.budgets) === 1,
    webhook: typeof url === 'string' && typeof secret === 'string' ? { url, secret } : null,
    version: Number(row.version),
  };
}
