// Reads the chunks of an answer of GigaChat, or the whole answer in one piece.
import type { AnswerReader, Host } from '../../lib/plugin/contract.ts';

export function readerOf({ fault, fields, finishReason }: Host): AnswerReader {
  return {
    take(chunk, out) {
      const complaint = fault.ofComplaint(chunk);
      if (complaint) throw complaint;
      out.start(chunk);
      const { prompt_tokens: input, completion_tokens: output } = fields(chunk.usage);
      out.usage({ input, output });
      const { delta, message, finish_reason: word } = fields(chunk.choices, 0);
      const { content } = fields(delta ?? message);
      if (typeof content === 'string') out.text(content);
      const reason = finishReason(word);
      if (reason) out.finish(reason, `${word}`);
    },
  };
}
