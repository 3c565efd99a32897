// `tollgate ledger`: the journal of a wallet, and the audit of all wallets.
import type { Command } from 'commander';
import type { Entry } from '../money/decide.ts';
import { toRub } from '../money/money.ts';
import { readCount } from './arguments.ts';
import { addArchiveCommand } from './ledger-archive.ts';
import { changeJson, findWallet } from './money.ts';
import { type Answer, formatMoney, formatPairs, formatTable, toTime } from './output.ts';
import { withBar } from './progress.ts';
import { ID_OR_NAME, onStore, type Session } from './session.ts';

const ENTRIES_BY_DEFAULT = 50;

interface Page {
  readonly limit: number;
  readonly before?: number;
}

export function addLedgerCommands(program: Command): void {
  const ledger = program.command('ledger').description('the journal of all money: list, verify, archive');
  ledger
    .command('list')
    .description('Lists the entries of a wallet, newest first.')
    .argument('<account>', ID_OR_NAME)
    .option('--limit <count>', 'show at most this many entries', readCount, ENTRIES_BY_DEFAULT)
    .option('--before <seq>', 'only entries numbered below this', readCount)
    .addHelpText('after', '\nExample:\n  tollgate ledger list acc_5f0c… --limit 20')
    .action(onStore(list));
  ledger
    .command('verify')
    .description(
      'Checks every wallet and every call against its entries. Writes nothing and works beside a running server. ' +
        'Exits with code 1 if something does not add up.',
    )
    .addHelpText('after', '\nExample:\n  tollgate ledger verify')
    .action(onStore(verify, { readOnly: true }));
  addArchiveCommand(ledger);
}

/** Also what the management API does: lib/manage/verbs.ts. */
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

async function verify({ store, caller }: Session): Promise<Answer> {
  const { verifyLedger } = await import('../ledger/audit.ts');
  const { ok, wallets, entries, drift, problems, more } = caller
    ? await verifyLedger(store)
    : await withBar((show) => verifyLedger(store, show));
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
