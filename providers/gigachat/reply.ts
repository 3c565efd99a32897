// Reads the chunks of an answer of GigaChat, or the whole answer in one piece.
import type { AnswerReader, FinishReason, HostFault } from '../../lib/plugin/contract.ts';

type Fields = Readonly<Record<string, unknown>>;

export function readerOf(fault: HostFault): AnswerReader {
  return {
    take(chunk, out) {
      const complaint = fault.ofComplaint(chunk);
      if (complaint) throw complaint;
      out.start(chunk);
      const usage = fieldsOf(chunk.usage);
      out.usage({ input: usage.prompt_tokens, output: usage.completion_tokens });
      const choice = fieldsOf(Array.isArray(chunk.choices) ? chunk.choices[0] : undefined);
      const { content } = fieldsOf(choice.delta ?? choice.message);
      if (typeof content === 'string') out.text(content);
      const { finish_reason: reason } = choice;
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

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
