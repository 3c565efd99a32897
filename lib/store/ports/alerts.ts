// The port of alerts: the alert settings of an account, and the state of each alert.
import type { Micro } from '../../money/money.ts';

/** The alert settings of an account. */
export interface AlertSettings {
  readonly account: string;
  /** Alert when the balance falls below this; null: never. */
  readonly balanceBelow: Micro | null;
  /** Whether to alert when a key has used shares of its budget. */
  readonly budgets: boolean;
  /** A webhook called in addition to the emails to the owners; null: none. */
  readonly webhook: AlertWebhook | null;
  /** Counts changes: a change applies only to the version that was read. 0: not stored yet. */
  readonly version: number;
}

interface AlertWebhook {
  readonly url: string;
  /** Signs the requests, so it must be stored readable; it is encrypted in the database if there is a key. */
  readonly secret: string;
}

/** A watched subject, and the state of its last alert. */
export interface Alarm {
  readonly account: string;
  /** `balance`; `kind:id` for other watched subjects; `topup.succeeded:1` for single events. */
  readonly subject: string;
  /** JSON whose format belongs to the kind of the subject. */
  readonly state: string;
  /** Like the version of the settings. 0: not stored yet. */
  readonly version: number;
}

export interface AlertStore {
  get(account: string): Promise<AlertSettings | undefined>;
  /** Writes the settings as the next version of those that were read; false if they have changed in the meantime. */
  change(settings: AlertSettings): Promise<boolean>;
  /** Settings of accounts with ids above `after`, in order of account. */
  page(page: { readonly after?: string; readonly limit: number }): Promise<readonly AlertSettings[]>;
  /** All alarms of an account, in order of subject. */
  alarms(account: string): Promise<readonly Alarm[]>;
  /**
   * Writes an alarm as the next version of the one that was read; false if it has changed in the meantime: if several
   * processes decide at once, only one succeeds.
   */
  changeAlarm(alarm: Alarm): Promise<boolean>;
  /** Writes settings and alarms as they are in another store, overwriting: for a copy. */
  put(settings: AlertSettings, alarms: readonly Alarm[]): Promise<void>;
}
