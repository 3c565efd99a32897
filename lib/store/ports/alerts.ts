// The port of alerts: what the owners of an account want to be told of, and how far telling them has come.
import type { Micro } from '../../money/money.ts';

/** The wishes of an account. */
export interface AlertSettings {
  readonly account: string;
  /** A balance below it is told; null: none is. */
  readonly balanceBelow: Micro | null;
  /** Whether is told how much of its budget a key has used. */
  readonly budgets: boolean;
  /** Called besides the letters to the owners; null: none. */
  readonly webhook: AlertWebhook | null;
  /** The number of changes: a change applies to the version that was read, or not at all. 0: there are no wishes yet. */
  readonly version: number;
}

export interface AlertWebhook {
  readonly url: string;
  /** Signs what is sent; kept as it is, because it is needed for each signature. */
  readonly secret: string;
}

/** One thing that is watched, and the last time it was told of. */
export interface Alarm {
  readonly account: string;
  /** `balance`; other kinds add what they watch: `kind:id`. */
  readonly subject: string;
  /** JSON of whoever watches. */
  readonly state: string;
  /** As that of the wishes. 0: it is not stored yet. */
  readonly version: number;
}

export interface AlertStore {
  get(account: string): Promise<AlertSettings | undefined>;
  /** Writes the wishes as the next version of those that were read; false when they have changed meanwhile. */
  change(settings: AlertSettings): Promise<boolean>;
  /** All wishes of accounts above `after`, in order of account. */
  page(page: { readonly after?: string; readonly limit: number }): Promise<readonly AlertSettings[]>;
  /** All alarms of an account, in order of subject. */
  alarms(account: string): Promise<readonly Alarm[]>;
  /**
   * Writes an alarm as the next version of the one that was read; false when it has changed meanwhile: of several
   * processes that decide at once, one goes on.
   */
  move(alarm: Alarm): Promise<boolean>;
  /** Writes wishes and alarms as they are in another store, whatever was there: for a copy. */
  put(settings: AlertSettings, alarms: readonly Alarm[]): Promise<void>;
}
