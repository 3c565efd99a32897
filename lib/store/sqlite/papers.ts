// Papers for companies in the SQLite store.
import type { DatabaseSync } from 'node:sqlite';
import type { AuditLine } from '../ports/audit-log.ts';
import type { PaperKind, PaperList, PaperRow, PaperStore } from '../ports/papers.ts';
import { prepareAuditLine } from './audit-log.ts';
import type { Connection } from './connection.ts';
import type { PortReads, PortWrites } from './thread-ports.ts';

const COLUMNS = 'kind, id, number, account, state, at, version, content';
const SELECT = `SELECT ${COLUMNS} FROM papers WHERE kind = ? AND id = ?`;

export function paperWrites({ db, write }: Connection): PortWrites<'papers'> {
  const one = db.prepare(SELECT);
  const last = db.prepare('SELECT max(number) AS number FROM papers WHERE kind = ?');
  const put = db.prepare(`INSERT OR REPLACE INTO papers (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const saveLine = prepareAuditLine(db);
  const find = (kind: PaperKind, id: string) => one.all(kind, id).map(readRow)[0];
  const save = ({ kind, id, number, account, state, at, version, content }: PaperRow) =>
    void put.run(kind, id, number, account, state, at, version, content);
  return {
    issue: (paper: Parameters<PaperStore['issue']>[0]): PaperRow =>
      write(() => {
        const known = find(paper.kind, paper.id);
        if (known) return known;
        const issued = { ...paper, number: Number(last.get(paper.kind)?.number ?? 0) + 1, version: 1 };
        save(issued);
        return issued;
      }),
    change: (papers: readonly PaperRow[], line?: AuditLine): boolean =>
      write(() => {
        if (papers.some(({ kind, id, version }) => (find(kind, id)?.version ?? 0) !== version - 1)) return false;
        papers.forEach(save);
        if (line) saveLine(line);
        return true;
      }),
    put: (papers: readonly PaperRow[]): void => write(() => papers.forEach(save)),
  };
}

export function paperReads(db: DatabaseSync): PortReads<'papers'> {
  const one = db.prepare(SELECT);
  const byNumber = db.prepare(`SELECT ${COLUMNS} FROM papers WHERE kind = ? AND number = ?`);
  const page = db.prepare(`SELECT ${COLUMNS} FROM papers WHERE (kind, id) > (?, ?) ORDER BY kind, id LIMIT ?`);
  const prepareList = (filter: string) =>
    db.prepare(
      `SELECT ${COLUMNS} FROM papers WHERE kind = :kind${filter} AND (at, id) < (:at, :id) ORDER BY at DESC, id DESC LIMIT :limit`,
    );
  const lists = {
    all: prepareList(''),
    account: prepareList(' AND account = :account'),
    state: prepareList(' AND state = :state'),
    both: prepareList(' AND account = :account AND state = :state'),
  };
  return {
    get: (kind: PaperKind, id: string): PaperRow | undefined => one.all(kind, id).map(readRow)[0],
    find: (kind: PaperKind, number: number): PaperRow | undefined => byNumber.all(kind, number).map(readRow)[0],
    list({ kind, account, state, before, limit }: PaperList): PaperRow[] {
      const { at, id } = before ?? { at: Number.MAX_SAFE_INTEGER, id: '' };
      const narrow = account === undefined ? 'all' : 'account';
      const name = state === undefined ? narrow : account === undefined ? 'state' : 'both';
      const filters = { ...(account !== undefined && { account }), ...(state !== undefined && { state }) };
      return lists[name].all({ kind, at, id, limit, ...filters }).map(readRow);
    },
    page: ({ after, limit }: Parameters<PaperStore['page']>[0]): PaperRow[] =>
      page.all(after?.kind ?? '', after?.id ?? '', limit).map(readRow),
  };
}

function readRow(row: Record<string, unknown>): PaperRow {
  return { ...(row as unknown as PaperRow) };
}
