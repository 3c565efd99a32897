// What can be watched: each kind decides from how things are, and from what it noted when it last told, whether to tell.

/** What a kind notes when it tells, until it is armed again. */
export type Mark = Readonly<Record<string, string>>;

export interface Happening {
  readonly type: 'balance.below' | 'budget.used' | 'topup.succeeded' | 'topup.declined' | 'topup.paused' | 'test';
  /** Amounts are decimal strings in RUB, of `budget.used` also `key`, `name` and `percent`: 80, 95 or 100; of `topup.…` `payment`. */
  readonly data: Readonly<Record<string, string>>;
}

export type Decision =
  | { readonly kind: 'stay' }
  /** Forget the mark: the next time is told again. */
  | { readonly kind: 'arm' }
  | { readonly kind: 'tell'; readonly mark: Mark; readonly happening: Happening };

export interface Watch {
  /** The alarm's, one for each thing watched: `balance`, `kind:id`. */
  readonly subject: string;
  decide(mark: Mark | null): Decision;
}
