// Reads the lines of a YandexGPT answer: each repeats the text so far, with counts as text.
import type { AnswerReader, AnswerWriter, FinishReason, Host } from '../../lib/upstream/contract/provider.ts';

export function createYandexReader({ fault, fields }: Host): AnswerReader {
  let sent = '';
  return {
    take(line, out) {
      if (line.error) throw fault.ofComplaint(line, true);
      const complaint = line.result ? undefined : fault.ofComplaint(line);
      if (complaint) throw complaint;
      const { alternatives, usage, modelVersion } = fields(line.result);
      const counts = fields(usage);
      const { reasoningTokens: reasoning } = fields(counts.completionTokensDetails);
      out.usage({ input: counts.inputTextTokens, output: counts.completionTokens, reasoning });
      const { message, status } = fields(alternatives, 0);
      if (typeof status !== 'string') return;
      out.start({ model: modelVersion });
      const reason = REASONS.get(status.replace('ALTERNATIVE_STATUS_', ''));
      const { text, toolCallList } = fields(message);
      if (typeof text === 'string') takeText(text, reason === 'filter', out);
      if (toolCallList) takeCalls(fields(toolCallList).toolCalls, reason !== undefined, out);
      if (reason !== undefined) out.finish(reason, status);
    },
  };

  /**
   * A filter replaces the answer with its own words, and the last line may leave some or all of the text out. Nothing else
   * may take back what the client has.
   */
  function takeText(text: string, isFiltered: boolean, out: AnswerWriter): void {
    if (text.startsWith(sent)) {
      out.text(text.slice(sent.length));
      sent = text;
    } else if (!isFiltered && !sent.startsWith(text)) throw fault.make('protocol', 'the text so far was replaced');
  }

  /** The last line has them as a whole. */
  function takeCalls(calls: unknown, isWhole: boolean, out: AnswerWriter): void {
    if (!isWhole || !Array.isArray(calls)) {
      out.alive();
      return;
    }
    for (const [block, call] of calls.entries()) {
      const { name, arguments: json = {} } = fields(call, 'functionCall');
      out.tool({ block, name, json, done: true });
    }
  }
}

/** Anything not listed, such as `PARTIAL`, ends nothing. */
const REASONS = new Map<string, FinishReason>([
  ['FINAL', 'stop'],
  ['TRUNCATED_FINAL', 'length'],
  ['CONTENT_FILTER', 'filter'],
  ['TOOL_CALLS', 'tool'],
]);
