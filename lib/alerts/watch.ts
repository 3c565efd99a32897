// The interface of a watch, which decides from the current state and the mark of its last alert whether to alert.
/** What a watch stores with an alert, until it is re-armed. */
export type AlarmMark = Readonly<Record<string, string>>;

export interface AlertContent {
  readonly type:
    | 'balance.below'
    | 'budget.used'
    | 'topup.succeeded'
    | 'topup.declined'
    | 'topup.paused'
    | 'card.saved'
    | 'card.removed'
    | 'price.below_cost'
    | 'upstream.key_refused'
    | 'upstream.no_money'
    | 'upstream.failing'
    | 'ledger.wrong'
    | 'disk.low'
    | 'payments.review'
    | 'test';
  /**
   * Amounts are decimal strings in RUB. By type:
   * - `balance.below`: `threshold` and `balance`;
   * - `budget.used`: `key`, `name`, `percent` (80, 95, 100), `budget` and `spent`;
   * - `topup.…`: amounts, and `payment`, unless it was paused without one;
   * - `card.…`: `card`, such as `Visa •••• 4242`.
   *
   * Those for operators:
   * - `price.below_cost`: `models`, and `lines` with a line for each price;
   * - `upstream.key_refused`, `upstream.no_money`: `upstream`, and how many `keys` it has and how many are `refused`;
   * - `upstream.failing`: `upstream`, `models`, `minutes` since when they fail, and `kind` of failure;
   * - `ledger.wrong`: `problems` and `drift`;
   * - `disk.low`: `folder`, `host`, and `free` in GB;
   * - `payments.review`: `count`, and `newest`, the id of a payment.
   */
  readonly data: Readonly<Record<string, string>>;
}

type WatchDecision =
  | { readonly kind: 'stay' }
  /** Clears the mark, so that the next event alerts again. */
  | { readonly kind: 'rearm' }
  | { readonly kind: 'alert'; readonly mark: AlarmMark; readonly content: AlertContent };

export interface Watch {
  /** Identifies the alarm of this watch: `balance`, `kind:id`. */
  readonly subject: string;
  decide(mark: AlarmMark | null): WatchDecision;
}
