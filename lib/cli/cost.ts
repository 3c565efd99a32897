// `tollgate cost`: what calls cost the operator, and whether a vendor's bill agrees.

import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import type { ComparedModel, DifferingCall } from '../ledger/bill-comparison.ts';
import { costActions } from '../manage/actions/cost.ts';
import { type Answer, formatTable } from '../manage/answer.ts';
import { readText, readTime } from '../manage/arguments.ts';
import type { Session } from '../manage/session.ts';
import { formatRub, toRub } from '../money/money.ts';
import { COST_GROUPS } from '../store/ports/attempts.ts';
import { onStore } from './session.ts';

export function addCostCommands(program: Command): void {
  const cost = program.command('cost').description('what calls cost at their upstreams: report, compare');
  cost
    .command('report')
    .description(
      'Adds up what calls were charged and what they cost, by the time of their attempts at upstreams. The margin is ' +
        'what was charged less the reported and the estimated cost.',
    )
    .addOption(new Option('--by <group>', 'a row for each').choices(COST_GROUPS).default('day'))
    .option('--from <time>', 'attempts at this time or later: a day (UTC), or a time with its zone', readTime)
    .option('--to <time>', 'attempts before this time (exclusive)', readTime)
    .option('--csv', 'print comma-separated values, without a total')
    .addHelpText('after', '\nExample:\n  tollgate cost report --by model --from 2026-11-01 --to 2026-12-01')
    .action(onStore(costActions.report));
  cost
    .command('compare')
    .description("Compares a vendor's usage export (CSV) with the attempts of its days, by day and model.")
    .argument('<file>', 'with columns for the day and the model, and for tokens, cost or both')
    .option('--upstream <name>', 'only attempts at this upstream; default: at any with a model of the file', readText)
    .option('--currency <code>', 'currency of the costs in the file, unless it names one', readText)
    .option('--calls', 'also list the calls behind the differences')
    .addHelpText('after', '\nExample:\n  tollgate cost compare activity.csv --upstream main --calls')
    .action(onStore(compare));
}

interface CompareOptions {
  readonly upstream?: string;
  readonly currency?: string;
  readonly calls?: boolean;
}

async function compare({ store }: Session, file: string, options: CompareOptions): Promise<Answer> {
  const { readBill } = await import('../ledger/vendor-bill.ts');
  const { compareBill, differs } = await import('../ledger/bill-comparison.ts');
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError(`The file ${file} cannot be read: ${error.code}.`);
  });
  const lines = readBill(text);
  const currency = options.currency ?? lines.find((line) => line.currency !== null)?.currency ?? 'USD';
  const { rows, calls } = await compareBill(store.attempts, lines, { upstream: options.upstream, currency });
  const differing = rows.filter(differs);
  const listed = options.calls ? calls : [];
  const table = rows.length === 0 ? 'The bill has no lines with a model.' : comparisonTable(rows, currency);
  const verdict = `${differing.length} of ${rows.length} days and models differ.`;
  return {
    json: { currency, rows: rows.map(rowJson), ...(options.calls && { calls: listed.map(callJson) }) },
    text: [table, verdict, ...(listed.length > 0 ? [callTable(listed, currency)] : [])].join('\n\n'),
  };
}

function rowJson({ day, model, billed, booked, difference }: ComparedModel) {
  return {
    day,
    model,
    billed: {
      requests: billed.requests,
      prompt_tokens: billed.promptTokens,
      output_tokens: billed.outputTokens,
      cost: amountOrNull(billed.cost),
    },
    booked: {
      requests: booked.requests,
      prompt_tokens: booked.promptTokens,
      output_tokens: booked.outputTokens,
      reported: toRub(booked.reported),
      estimated: toRub(booked.estimated),
      possible: toRub(booked.possible),
    },
    difference: amountOrNull(difference),
  };
}

function callJson({ day, model, requestId, attempt, billed }: DifferingCall) {
  return {
    day,
    model,
    upstream_request_id: requestId,
    request_id: attempt?.charge ?? null,
    attempt: attempt?.number ?? null,
    ending: attempt?.ending ?? null,
    certainty: attempt?.certainty ?? null,
    booked: amountOrNull(attempt?.cost?.cost ?? null),
    billed: amountOrNull(billed ?? null),
  };
}

/** Micro-units of any currency are shown like those of RUB. */
const amountOrNull = (micro: bigint | null) => (micro === null ? null : toRub(micro));

const formatAmount = (micro: bigint | null | undefined) => (micro == null ? '-' : formatRub(micro));

function comparisonTable(rows: readonly ComparedModel[], currency: string): string {
  const pair = (billed: number | null, booked: number) => `${billed ?? '-'} / ${booked}`;
  const head = ['day', 'model', ' prompt', ' output', ` billed ${currency}`, ' booked', ' possible', ' difference'];
  const cells = rows.map(({ day, model, billed, booked, difference }) => [
    day,
    model,
    pair(billed.promptTokens, booked.promptTokens),
    pair(billed.outputTokens, booked.outputTokens),
    formatAmount(billed.cost),
    formatAmount(booked.reported + booked.estimated),
    formatAmount(booked.possible),
    formatAmount(difference),
  ]);
  return `${formatTable(head, cells)}\nTokens: billed / booked.`;
}

function callTable(calls: readonly DifferingCall[], currency: string): string {
  const head = ['day', 'model', 'upstream id', 'request', 'ending', 'certainty', ` booked ${currency}`, ' billed'];
  const cells = calls.map(({ day, model, requestId, attempt, billed }) => [
    day,
    model,
    requestId ?? '-',
    attempt?.charge ?? 'not booked',
    attempt?.ending ?? '-',
    attempt?.certainty ?? '-',
    formatAmount(attempt?.cost?.cost),
    formatAmount(billed),
  ]);
  return formatTable(head, cells);
}
