// What a store tells of rows whose values were changed behind its back; see `row-mark.ts`.

/** Those of a page whose mark is not theirs. */
export interface WrongMarks {
  readonly found: readonly { readonly id: string; readonly wallet: string }[];
  /** The last row that was looked at; undefined if there are no more. */
  readonly next?: string;
}
