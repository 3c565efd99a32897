// What can be watched: each kind decides from the current state and its own mark of the last alert whether to alert.

/** What a kind records when it alerts, until it is re-armed. */
export type Mark = Readonly<Record<string, string>>;

export interface Happening {
  readonly type:
    | 'balance.below'
    | 'budget.used'
    | 'topup.succeeded'
    | 'topup.declined'
    | 'topup.paused'
    | 'card.saved'
    | 'card.removed'
    | 'test';
  /**
   * Amounts are decimal strings in RUB. `budget.used` also has `key`, `name`, `percent` (80, 95, 100); `topup.…`
   * `payment`; `card.…` only `card`, such as `Visa •••• 4242`.
   */
  readonly data: Readonly<Record<string, string>>;
}

export type Decision =
  | { readonly kind: 'stay' }
  /** Clear the mark: the next time alerts again. */
  | { readonly kind: 'arm' }
  | { readonly kind: 'tell'; readonly mark: Mark; readonly happening: Happening };

export interface Watch {
  /** Identifies the alarm, one for each thing watched: `balance`, `kind:id`. */
  readonly subject: string;
  decide(mark: Mark | null): Decision;
}
