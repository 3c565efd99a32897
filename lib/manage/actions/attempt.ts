// The attempts of a call at upstreams, as they are listed with its charge.
import type { Attempt } from '../../money/attempt.ts';
import { formatRub, toRub } from '../../money/money.ts';
import { formatMoney, formatTable, toTime } from '../answer.ts';

export function attemptJson({ cost, usage, ...attempt }: Attempt) {
  return {
    number: attempt.number,
    at: toTime(attempt.at),
    model: attempt.model,
    upstream: attempt.upstream,
    upstream_model: attempt.upstreamModel,
    key: attempt.keyPlace,
    upstream_request_id: attempt.requestId,
    ending: attempt.ending,
    reason: attempt.reason ?? null,
    first_ms: attempt.firstMs,
    total_ms: attempt.totalMs,
    usage: usage === null ? null : JSON.parse(usage),
    certainty: attempt.certainty,
    cost_rub: cost && toRub(cost.costRub),
    cost: cost && { currency: cost.currency, amount: toRub(cost.cost), rate_rub: toRub(cost.rate) },
  };
}

/** Empty if there are none. */
export function formatAttempts(attempts: readonly Attempt[]): string {
  if (attempts.length === 0) return '';
  const head = ['attempt', 'upstream', 'model', ' key', 'upstream id', 'ending', ' first ms', ' ms', 'cost', ' RUB'];
  const rows = attempts.map(({ cost, ...attempt }) => [
    String(attempt.number),
    attempt.upstream ?? '(unknown)',
    attempt.upstreamModel ?? attempt.model,
    String(attempt.keyPlace ?? '-'),
    attempt.requestId ?? '-',
    describeEnding(attempt),
    String(attempt.firstMs ?? '-'),
    String(attempt.totalMs),
    `${attempt.certainty}${cost ? ` ${formatRub(cost.cost)} ${cost.currency}` : ''}`,
    cost ? formatMoney(cost.costRub) : 'unknown',
  ]);
  return `\n\n${formatTable(head, rows)}`;
}

function describeEnding({ ending, reason }: Pick<Attempt, 'ending' | 'reason'>): string {
  return reason === undefined ? ending : `${ending}: ${reason}`;
}
