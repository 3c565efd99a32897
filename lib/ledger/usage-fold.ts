// Usage from hourly sums instead of from every call: the journal is folded behind a cursor, on demand and off the path
// of calls.
import type { Charge, Entry, Usage } from '../money/decide.ts';
import { chargeOfEntry } from '../money/replay.ts';
import type { UsageCounts, UsageGroupSum, UsageHour } from '../store/ports/usage.ts';
import type { Store } from '../store/store.ts';
import { inOrder, reportUsage, type UsageQuery, type UsageReport, type UsageRow, type UsageSum } from './usage.ts';

type UsageParts = Pick<Store, 'journal' | 'ledger' | 'usage'>;

const HOUR_MS = 3_600_000;
/** Entries per transaction of the fold. */
const ENTRIES_PER_STEP = 1000;

/** Like `reportUsage`, but its time grows with hours instead of calls where the filter allows. */
export async function readUsage(store: UsageParts, wallet: string, query: UsageQuery): Promise<UsageReport> {
  const { by, filter } = query;
  const { state, from, to } = filter;
  const isWhole = [from, to].every((at) => at === undefined || at % HOUR_MS === 0);
  if (state !== undefined || !isWhole) return reportUsage(store.ledger, wallet, query);
  await foldUsage(store, wallet);
  const { key, model, kind } = filter;
  const sums = await store.usage.sums(wallet, {
    by,
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(key !== undefined && { key }),
    ...(model !== undefined && { model }),
    ...(kind !== undefined && { kind }),
  });
  return reportOf(sums, by);
}

/** Adds what the wallet's journal has beyond the sums; concurrent folds add each part only once. */
export async function foldUsage({ journal, ledger, usage }: UsageParts, wallet: string): Promise<void> {
  const end = (await ledger.wallet(wallet))?.seq ?? 0;
  for (let cursor = await usage.cursor(wallet); cursor < end; cursor = await usage.cursor(wallet)) {
    const page = await journal.pageOf(wallet, cursor, ENTRIES_PER_STEP);
    const { entries } = page;
    const last = entries.at(-1);
    if (!last) return;
    const charges = new Map(page.charges.map((charge) => [charge.id, charge]));
    // If another fold moved the cursor, the next read starts behind what it added.
    await usage.add({ wallet, from: cursor, to: last.seq, hours: hoursOf(entries, charges) });
  }
}

function hoursOf(entries: readonly Entry[], charges: ReadonlyMap<string, Charge>): readonly UsageHour[] {
  const hours = new Map<string, UsageHour>();
  for (const entry of entries) {
    const charge = charges.get(chargeOfEntry(entry) ?? '');
    if (!charge) continue;
    const { createdAt, key, model, kind } = charge;
    const hour = createdAt - (createdAt % HOUR_MS);
    const label = JSON.stringify([hour, key, model, kind]);
    const counts = countsOf(entry, charge);
    const found = hours.get(label);
    hours.set(label, { hour, key, model, kind, ...(found ? added(found, counts) : counts) });
  }
  return [...hours.values()];
}

/** What one entry adds. A charge has its usage once settled, and keeps it after a refund. */
function countsOf(entry: Entry, { usage }: Charge): UsageCounts {
  const { kind, charged } = entry;
  const used: Usage = usage === null ? {} : JSON.parse(usage);
  const sign = kind === 'settle' || kind === 'charge' ? 1 : kind === 'refund' ? -1 : 0;
  const units = (name: string) => sign * Number(used[name] ?? 0);
  return {
    calls: kind === 'reserve' || kind === 'charge' ? 1 : 0,
    charged,
    refunded: kind === 'refund' ? -charged : 0n,
    tokensInput: units('tokens_input'),
    tokensOutput: units('tokens_output'),
    images: units('images'),
    seconds: units('seconds'),
  };
}

function added(left: UsageCounts, right: UsageCounts): UsageCounts {
  return {
    calls: left.calls + right.calls,
    charged: left.charged + right.charged,
    refunded: left.refunded + right.refunded,
    tokensInput: left.tokensInput + right.tokensInput,
    tokensOutput: left.tokensOutput + right.tokensOutput,
    images: left.images + right.images,
    seconds: left.seconds + right.seconds,
  };
}

const NOTHING: UsageCounts = {
  ...{ calls: 0, charged: 0n, refunded: 0n, tokensInput: 0, tokensOutput: 0, images: 0, seconds: 0 },
};

function reportOf(sums: readonly UsageGroupSum[], by: UsageQuery['by']): UsageReport {
  const rows: UsageRow[] = sums.map(({ group, ...counts }) => ({ group, ...sumOf(counts) }));
  const total = sumOf(sums.reduce(added, NOTHING));
  return { rows: inOrder(rows, by), total };
}

function sumOf({ calls, charged, refunded, tokensInput, tokensOutput, images, seconds }: UsageCounts): UsageSum {
  const units = { tokens_input: tokensInput, tokens_output: tokensOutput, images, seconds };
  return { calls, charged, refunded, units };
}
