// Reads the events of a response by type, or a whole response.
import type { AnswerReader, AnswerWriter, Host, JsonObject } from '../../lib/upstream/contract/provider.ts';

export function readerOf({ fault, fields, finishReason }: Host): AnswerReader {
  let isRefused = false;
  let hasPieces = false;

  /** The last event contains the whole response: what it used, why it ended, and what no piece brought. */
  function end(response: JsonObject, said: string, out: AnswerWriter): void {
    const { input_tokens: input, output_tokens: output } = fields(response.usage);
    out.start(response);
    out.usage({ input, output });
    const status = said === 'failed' ? said : `${response.status ?? said}`;
    const failure = response.error ?? (/^(in)?completed?$/.test(status) ? undefined : status);
    if (failure) throw fault.ofComplaint({ error: failure }, true);
    for (const [at, content] of hasPieces ? [] : contentsOf(response, fields).entries()) {
      if (content.type === 'refusal') isRefused = true;
      takeText(content.text ?? content.refusal, `${at}`, out);
      takeCall(content, at, out);
    }
    const { reason = status } = fields(response.incomplete_details);
    if (status === 'incomplete') out.finish(finishReason(reason) ?? 'other', `${reason}`);
    else out.finish(isRefused ? 'filter' : 'stop', status);
    out.done(status);
  }

  function takeText(text: unknown, block: string, out: AnswerWriter): void {
    hasPieces ||= typeof text === 'string';
    if (typeof text === 'string') out.text(text, block);
  }

  /** A call is identified by its item; its arguments arrive in pieces, or with the item. */
  function takeCall(item: JsonObject, at: unknown, out: AnswerWriter): void {
    if (item.type !== 'function_call') return;
    hasPieces = true;
    const { call_id: id, name, arguments: json } = item;
    out.tool({ block: `call ${at}`, id, name, json });
  }

  return {
    take(event, out) {
      const { type, delta, output_index: item, content_index: part } = event;
      if (type === 'error' || event.error) throw fault.ofComplaint(event, true);
      if (event.object === 'response') end(event, 'completed', out);
      else if (type === 'response.created') out.start(fields(event.response));
      else if (type === 'response.output_text.delta' || type === 'response.refusal.delta') {
        isRefused ||= type === 'response.refusal.delta';
        takeText(delta, `${item} ${part}`, out);
      } else if (type === 'response.output_item.added') takeCall(fields(event.item), item, out);
      else if (type === 'response.function_call_arguments.delta') out.tool({ block: `call ${item}`, json: delta });
      else if (typeof type === 'string' && ENDS.test(type)) end(fields(event.response), type.slice(9), out);
    },
  };
}

const ENDS = /^response\.(completed|incomplete|failed)$/;

/** The parts of messages, and other items: tool calls, reasoning. */
function contentsOf({ output }: JsonObject, fields: Host['fields']): readonly JsonObject[] {
  const items = Array.isArray(output) ? output.map((item) => fields(item)) : [];
  const partsOf = ({ content }: JsonObject) => (Array.isArray(content) ? content.map((part) => fields(part)) : []);
  return items.flatMap((item) => (item.type === 'message' ? partsOf(item) : [item]));
}
