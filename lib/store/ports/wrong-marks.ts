// Rows whose values were changed outside the store; see `row-mark.ts`.

/** The rows of a page whose mark does not match their values. */
export interface WrongMarks {
  readonly found: readonly { readonly id: string; readonly wallet: string }[];
  /** The last row that was checked; undefined if there are no more. */
  readonly next?: string;
}
