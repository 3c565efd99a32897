// `tollgate charge`: what one call cost, and how its money moved.
import type { Command } from 'commander';
import type { Charge, Entry, Usage } from '../money/decide.ts';
import { toRub } from '../money/money.ts';
import { changeJson } from './money.ts';
import { type Answer, formatMoney, formatPairs, formatTable, toTime } from './output.ts';
import { onStore, type Session } from './session.ts';

export function addChargeCommands(program: Command): void {
  const charge = program.command('charge').description('the money of one call: show');
  charge
    .command('show')
    .description('Shows the charge of a call with its entries, by the x-request-id of the reply.')
    .argument('<request-id>', 'the x-request-id, or the id of a video')
    .addHelpText('after', '\nExample:\n  tollgate charge show req_91ab…')
    .action(onStore(show));
}

async function show({ store }: Session, id: string): Promise<Answer> {
  const charge = await store.ledger.charge(id);
  if (!charge) {
    const [{ OperatorError }, { quote }] = await Promise.all([
      import('../config.ts'),
      import('../accounts/accounts.ts'),
    ]);
    throw new OperatorError(`There is no charge ${quote(id)}. Calls refused before they began have none.`);
  }
  const entries = await store.ledger.entriesOfCharge(id);
  return { json: toJson(charge, entries), text: toText(charge, entries) };
}

function toText(charge: Charge, entries: readonly Entry[]): string {
  const pairs = formatPairs([
    ['request', charge.id],
    ['account', charge.wallet],
    ['key id', charge.key],
    ['kind', charge.kind],
    ['model', charge.model],
    ['state', charge.state],
    ['reserved', formatMoney(charge.reserved)],
    ['charged', formatMoney(charge.charged)],
    ...listPrices(charge.prices).map(({ path, micro }) => [`price ${path}`, formatMoney(micro)] as const),
    ...Object.entries(usageOf(charge)).map(([name, value]) => [name.replace('_', ' '), String(value)] as const),
    ['created', toTime(charge.createdAt)],
    ['ended', toTime(charge.endedAt) ?? '-'],
  ]);
  const rows = entries.map(({ at, kind, avail, held, charged }) => [
    toTime(at),
    kind,
    ...[avail, held, charged].map(formatMoney),
  ]);
  return `${pairs}\n\n${formatTable(['entry', 'kind', ' balance', ' held', ' charged'], rows)}`;
}

function toJson(charge: Charge, entries: readonly Entry[]) {
  return {
    request_id: charge.id,
    account_id: charge.wallet,
    key_id: charge.key,
    kind: charge.kind,
    model: charge.model,
    state: charge.state,
    reserved_rub: toRub(charge.reserved),
    charged_rub: toRub(charge.charged),
    prices_rub: Object.fromEntries(listPrices(charge.prices).map(({ path, micro }) => [path, toRub(micro)])),
    ...usageOf(charge),
    created_at: toTime(charge.createdAt),
    ended_at: toTime(charge.endedAt),
    entries: entries.map((entry) => ({
      seq: entry.seq,
      at: toTime(entry.at),
      kind: entry.kind,
      change: changeJson(entry),
      overshoot_rub: toRub(entry.overshoot),
    })),
  };
}

function usageOf({ usage }: Charge): Usage {
  return usage === null ? {} : JSON.parse(usage);
}

/** The prices a call was made with: JSON of decimal micro-roubles, perhaps in groups, as `input` or `second.720p`. */
function listPrices(prices: string): { path: string; micro: bigint }[] {
  const walk = (value: unknown, path: string): { path: string; micro: bigint }[] => {
    if (typeof value === 'string') return /^\d+$/.test(value) ? [{ path, micro: BigInt(value) }] : [];
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([name, inner]) => walk(inner, path ? `${path}.${name}` : name));
  };
  return walk(JSON.parse(prices), '');
}
