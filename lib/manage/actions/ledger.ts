// The journal of a wallet, and the audit of all wallets.

import type { Entry } from '../../money/decide.ts';
import { toRub } from '../../money/money.ts';
import type { OnProgress } from '../../store/store.ts';
import { type Answer, formatMoney, formatPairs, formatTable, toTime } from '../answer.ts';
import type { Session } from '../session.ts';
import { changeJson, findWallet } from './wallet-answer.ts';

interface Page {
  readonly limit: number;
  readonly before?: number;
}

export const ledgerActions = { list, verify };

async function list(session: Session, account: string, { limit, before }: Page): Promise<Answer> {
  const { store } = session;
  const { id } = await findWallet(session, account);
  const entries = await store.ledger.entries(id, { limit, ...(before !== undefined && { before }) });
  const last = entries.at(-1);
  const next = entries.length === limit && last && last.seq > 1 ? last.seq : null;
  const rows = entries.map(({ seq, at, kind, avail, held, charged, charge, note }) => [
    String(seq),
    toTime(at),
    kind,
    formatMoney(avail),
    formatMoney(held),
    formatMoney(charged),
    charge ?? note ?? '',
  ]);
  const table = formatTable([' seq', 'at', 'kind', ' balance', ' held', ' charged', 'call, payment or reason'], rows);
  const more = next === null ? '' : `\nOlder entries: tollgate ledger list ${id} --before ${next}`;
  const opening = await store.archives.opening(id);
  const archived = opening
    ? `\nUp to entry ${opening.seq}, entries of calls are archived: tollgate ledger archive list`
    : '';
  return {
    json: {
      account_id: id,
      entries: entries.map(toJson),
      next_before: next,
      archived_to: opening?.seq,
    },
    text: (rows.length === 0 ? 'No entries.' : table + more) + archived,
  };
}

async function verify({ store }: Session, onProgress?: OnProgress): Promise<Answer> {
  const { verifyLedger } = await import('../../ledger/audit.ts');
  const { ok, wallets, entries, drift, problems, more } = await verifyLedger(store, onProgress);
  const pairs = formatPairs([
    ['ledger', ok ? 'adds up' : 'DOES NOT ADD UP'],
    ['wallets', String(wallets)],
    ['entries', String(entries)],
    ['drift', formatMoney(drift)],
  ]);
  const lines = problems.map(({ wallet, problem }) => `${wallet}: ${problem}`);
  if (more > 0) lines.push(`… and ${more} more`);
  return {
    json: {
      ok,
      wallets,
      entries,
      drift_rub: toRub(drift),
      problems: ok ? undefined : problems,
      problems_more: more > 0 ? more : undefined,
    },
    text: [pairs, ...lines].join('\n'),
    failed: !ok,
  };
}

function toJson(entry: Entry) {
  return {
    seq: entry.seq,
    at: toTime(entry.at),
    kind: entry.kind,
    request_id: entry.charge,
    note: entry.note,
    change: changeJson(entry),
    overshoot_rub: toRub(entry.overshoot),
  };
}
