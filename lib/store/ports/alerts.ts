// The port of alerts: what the owners of an account want to be alerted of, and the state of those alerts.
import type { Micro } from '../../money/money.ts';

/** The alert settings of an account. */
export interface AlertSettings {
  readonly account: string;
  /** Alert when the balance falls below this; null: never. */
  readonly balanceBelow: Micro | null;
  /** Whether to alert when a key has used shares of its budget. */
  readonly budgets: boolean;
  /** Called in addition to the emails to the owners; null: none. */
  readonly webhook: AlertWebhook | null;
  /** Counts changes: a change applies only to the version that was read. 0: not stored yet. */
  readonly version: number;
}

export interface AlertWebhook {
  readonly url: string;
  /** Signs what is sent, so it has to be read again; in the database it is encrypted if there is a key. */
  readonly secret: string;
}

/** One thing that is watched, and its last alert. */
export interface Alarm {
  readonly account: string;
  /** `balance`; other kinds add what they watch: `kind:id`; and `topup.succeeded:1` for what happens meanwhile. */
  readonly subject: string;
  /** JSON, owned by the kind that watches. */
  readonly state: string;
  /** Like the settings' version. 0: not stored yet. */
  readonly version: number;
}

export interface AlertStore {
  get(account: string): Promise<AlertSettings | undefined>;
  /** Writes the settings as the next version of those that were read; false if they have changed in the meantime. */
  change(settings: AlertSettings): Promise<boolean>;
  /** Settings of all accounts above `after`, in order of account. */
  page(page: { readonly after?: string; readonly limit: number }): Promise<readonly AlertSettings[]>;
  /** All alarms of an account, in order of subject. */
  alarms(account: string): Promise<readonly Alarm[]>;
  /**
   * Writes an alarm as the next version of the one that was read; false if it has changed in the meantime: of several
   * processes that decide at once, one wins.
   */
  changeAlarm(alarm: Alarm): Promise<boolean>;
  /** Writes settings and alarms as they are in another store, overwriting: for a copy. */
  put(settings: AlertSettings, alarms: readonly Alarm[]): Promise<void>;
}
