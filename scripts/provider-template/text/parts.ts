// What the events of an answer contain: text, usage, the end or an error.
import type { AnswerReader, FinishReason, Host } from '../../../lib/upstream/contract/provider.ts';

const REASONS = new Map<unknown, FinishReason>([
  ['complete', 'stop'],
  ['limit', 'length'],
  ['filtered', 'filter'],
]);

export function createReader(host: Host): AnswerReader {
  return {
    take({ text, usage, done, error }, out) {
      if (error !== undefined) throw host.fault.ofComplaint({ error }, true);
      if (typeof text === 'string') out.text(text);
      if (typeof usage === 'object' && usage !== null) out.usage(usage);
      if (typeof done === 'string') out.finish(REASONS.get(done) ?? 'other', done);
    },
  };
}
