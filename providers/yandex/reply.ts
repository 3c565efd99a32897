// Reads the lines of a YandexGPT answer: each repeats the text so far, with counts as text.
import type { AnswerReader, FinishReason, Host } from '../../lib/upstream/contract/provider.ts';

export function readerOf({ fault, fields }: Host): AnswerReader {
  let sent = '';
  return {
    take(line, out) {
      if (line.error) throw fault.ofComplaint(line, true);
      const { alternatives, usage, modelVersion } = fields(line.result);
      const counts = fields(usage);
      const { reasoningTokens: reasoning } = fields(counts.completionTokensDetails);
      out.usage({ input: counts.inputTextTokens, output: counts.completionTokens, reasoning });
      const { message, status } = fields(alternatives, 0);
      if (typeof status !== 'string') return;
      out.start({ model: modelVersion });
      const reason = REASONS.get(status.replace('ALTERNATIVE_STATUS_', ''));
      const { text } = fields(message);
      if (typeof text === 'string' && text.startsWith(sent)) {
        out.text(text.slice(sent.length));
        sent = text;
      } else if (typeof text === 'string' && reason !== 'filter') {
        // A filter replaces the answer with its own words. Nothing else may take back what the client has.
        throw fault.make('protocol', 'the text so far was replaced');
      }
      if (reason !== undefined) out.finish(reason, status);
    },
  };
}

/** Anything not listed, such as `PARTIAL`, ends nothing. */
const REASONS = new Map<string, FinishReason>([
  ['FINAL', 'stop'],
  ['TRUNCATED_FINAL', 'length'],
  ['CONTENT_FILTER', 'filter'],
  ['TOOL_CALLS', 'tool'],
]);
