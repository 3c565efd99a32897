// Reads the lines of an answer of YandexGPT: each repeats the text so far, and counts so far as text.
import type { AnswerReader, FinishReason, HostFault } from '../../lib/plugin/contract.ts';

type Fields = Readonly<Record<string, unknown>>;

export function readerOf(fault: HostFault): AnswerReader {
  let sent = '';
  return {
    take(line, out) {
      if (line.error) throw fault.ofComplaint(line, true);
      const { alternatives, usage, modelVersion } = fieldsOf(line.result);
      const counts = fieldsOf(usage);
      out.usage({ input: counts.inputTextTokens, output: counts.completionTokens });
      const { message, status } = fieldsOf(Array.isArray(alternatives) ? alternatives[0] : undefined);
      if (typeof status !== 'string') return;
      out.start({ model: modelVersion });
      const reason = REASONS.get(status.replace('ALTERNATIVE_STATUS_', ''));
      const { text } = fieldsOf(message);
      if (typeof text === 'string' && text.startsWith(sent)) {
        out.text(text.slice(sent.length));
        sent = text;
      } else if (typeof text === 'string' && reason !== 'filter') {
        // A filter puts words of its own in place of the answer. Nothing else may take back what the client has.
        throw fault.make('protocol', 'the text so far was replaced');
      }
      if (reason !== undefined) out.finish(reason, status);
    },
  };
}

/** What is not here, such as `PARTIAL`, ends nothing. */
const REASONS = new Map<string, FinishReason>([
  ['FINAL', 'stop'],
  ['TRUNCATED_FINAL', 'length'],
  ['CONTENT_FILTER', 'filter'],
  ['TOOL_CALLS', 'tool'],
]);

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
