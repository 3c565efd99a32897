// Reads the chunks of an answer of GigaChat, or the whole answer in one piece.
import type { AnswerReader, FinishReason, Host } from '../../lib/plugin/contract.ts';

export function readerOf({ fault, fields }: Host): AnswerReader {
  return {
    take(chunk, out) {
      const complaint = fault.ofComplaint(chunk);
      if (complaint) throw complaint;
      out.start(chunk);
      const { prompt_tokens: input, completion_tokens: output } = fields(chunk.usage);
      out.usage({ input, output });
      const { delta, message, finish_reason: reason } = fields(chunk.choices, 0);
      const { content } = fields(delta ?? message);
      if (typeof content === 'string') out.text(content);
      if (reason === 'error') throw fault.make('server', 'finish reason error');
      if (typeof reason === 'string' && reason !== '') out.finish(REASONS.get(reason) ?? 'other', reason);
    },
  };
}

const REASONS = new Map<string, FinishReason>([
  ['stop', 'stop'],
  ['length', 'length'],
  ['function_call', 'tool'],
  ['blacklist', 'filter'],
]);
