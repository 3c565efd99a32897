// The port of papers for companies: details of buyers, invoices, payments of bank statements, acts. A store keeps their
// contents as text; it numbers them, finds them, and writes several of them together.
import type { AuditLine } from './audit-log.ts';

export const PAPER_KINDS = ['buyer', 'invoice', 'payment', 'act'] as const;
export type PaperKind = (typeof PAPER_KINDS)[number];

export interface PaperRow {
  readonly kind: PaperKind;
  /** Unique within the kind. */
  readonly id: string;
  /** Given by the store, from 1 on without gaps within the kind; null for kinds without numbers. */
  readonly number: number | null;
  /** Null while nobody knows whose it is. */
  readonly account: string | null;
  readonly state: string;
  /** When it was made, ms since the epoch. */
  readonly at: number;
  /** Counts changes, from 1 on. */
  readonly version: number;
  /** JSON. */
  readonly content: string;
}

export interface PaperList {
  readonly kind: PaperKind;
  /** Absent fields do not filter. */
  readonly account?: string;
  readonly state?: string;
  /** The last one of the previous page. */
  readonly before?: Pick<PaperRow, 'at' | 'id'>;
  readonly limit: number;
}

export interface PaperStore {
  get(kind: PaperKind, id: string): Promise<PaperRow | undefined>;
  /** Finds a numbered paper. */
  find(kind: PaperKind, number: number): Promise<PaperRow | undefined>;
  /** Newest first. */
  list(list: PaperList): Promise<readonly PaperRow[]>;
  /** Stores a paper under the next number of its kind; one that is stored already keeps its number, and is returned. */
  issue(paper: Omit<PaperRow, 'number' | 'version'>): Promise<PaperRow>;
  /**
   * Writes papers in one transaction if each is stored with the version before its own, or not at all for version 1;
   * otherwise none, and resolves to false. A line goes into the audit log in the same transaction.
   */
  change(papers: readonly PaperRow[], line?: AuditLine): Promise<boolean>;
  /** In order of kind and id. */
  page(page: { readonly after?: Pick<PaperRow, 'kind' | 'id'>; readonly limit: number }): Promise<readonly PaperRow[]>;
  /** For a copy: writes rows as they are in another store, overwriting. */
  put(papers: readonly PaperRow[]): Promise<void>;
}
