// The port of the catalog's part that operators write on pages: every version of it, for undo and for other gateways.

export interface CatalogVersion {
  /** Counts the versions, from 1. */
  readonly seq: number;
  /** When it was saved, ms since the epoch. */
  readonly at: number;
  /** The id of the user who saved it; `-` for a command. */
  readonly user: string;
  /** What was done, and to what: `model.change gpt-x`. Without secrets. */
  readonly note: string;
  /** A catalog file; the secrets that it names are settings. */
  readonly text: string;
}

export interface CatalogVersionStore {
  /** False if the number is taken: somebody else has saved in the meantime. */
  add(version: CatalogVersion): Promise<boolean>;
  get(seq: number): Promise<CatalogVersion | undefined>;
  /** The number of the latest version; 0 if there is none. */
  last(): Promise<number>;
  /** The latest first; `before` leaves out that number and all later ones. */
  page(page: { readonly before?: number; readonly limit: number }): Promise<readonly CatalogVersion[]>;
  /** Writes versions as they are in another store, overwriting: for a copy. */
  put(versions: readonly CatalogVersion[]): Promise<void>;
}
