// Upstreams' words for the reasons an answer ends.
import type { FinishReason } from '../../stream/provider-part.ts';
import type { HostFault, UpstreamFaultKind } from '../contract/fault.ts';
import type { Host } from '../contract/host.ts';

export function createFinishReason(fault: HostFault): Host['finishReason'] {
  return (word, complaint) => {
    if (typeof word !== 'string') return undefined;
    const [name = ''] = word.toLowerCase().replaceAll('-', '_').split(':', 1);
    if (NO_WORDS.has(name) || name.endsWith('_unspecified')) return undefined;
    const known = REASONS.get(name);
    const failed = known ? undefined : findFailure(name);
    if (failed === undefined) return known ?? 'other';
    const told = complaint ? fault.ofComplaint({ error: complaint }) : undefined;
    throw told ?? fault.make(failed, `finish reason ${word}`);
  };
}

/** Mean no reason yet. */
const NO_WORDS = new Set(['', 'null', 'none']);

/** In lower case, with `_` for `-`; anything else is `other`. */
const REASONS: ReadonlyMap<string, FinishReason> = byWord({
  stop: 'stop eos eos_token end end_turn stop_sequence stop_token complete completed finished done',
  length: `length max_tokens max_output_tokens max_completion_tokens max_length model_length token_limit
    model_context_window_exceeded context_length_exceeded context time_limit`,
  filter: `content_filter content_filtered content_policy sensitive safety refusal recitation blocklist blacklist
    prohibited_content spii language image_safety image_recitation image_prohibited_content guardrail_intervened
    guardrails model_armor`,
  tool: 'tool_calls tool_call tool_use function_call',
});

/** The text is not the whole answer: by the last words of a name, whoever had the error. */
const FAILURES: readonly (readonly [RegExp, UpstreamFaultKind])[] = [
  // What there is of the answer is then left over from a call that the vendor could not read.
  [/^(malformed_\w+|unexpected_tool_call|missing_thought_signature|function_call_filter)$/, 'server'],
  [/overload(ed)?(_?error)?$|(^|_)busy$|insufficient_system_resource|(no_|over_?)capacity$/, 'overloaded'],
  [/(time_?out|timed_?out|deadline_exceeded)(_?error)?$/, 'timeout'],
  [/rate_?limit(ed|_exceeded|_?error)?$/, 'rate'],
  [
    /(error|failed|failure|exception|crash(ed)?|unavailable|disconnect(ed)?|abort(ed)?|cancell?ed|interrupted)$/,
    'server',
  ],
];

function findFailure(name: string): UpstreamFaultKind | undefined {
  return FAILURES.find(([pattern]) => pattern.test(name))?.[1];
}

function byWord<Value extends string>(words: Readonly<Partial<Record<Value, string>>>): Map<string, Value> {
  const entries = Object.entries(words) as [Value, string][];
  return new Map(entries.flatMap(([value, list]) => list.split(/\s+/).map((word) => [word, value])));
}
