// Reads the events of a response by type, or a whole response.
import type { AnswerReader, AnswerWriter, Host, JsonObject } from '../../lib/plugin/contract.ts';

export function readerOf({ fault, fields, finishReason }: Host): AnswerReader {
  let isRefused = false;

  /** The last event contains the whole response: why it ended, and what it used. */
  function end(response: JsonObject, out: AnswerWriter): void {
    const { input_tokens: input, output_tokens: output } = fields(response.usage);
    out.usage({ input, output });
    if (response.status === 'failed') throw fault.ofComplaint({ error: response.error }, true);
    const { reason = 'incomplete' } = fields(response.incomplete_details);
    if (response.status === 'incomplete') out.finish(finishReason(reason) ?? 'other', `${reason}`);
    else out.finish(isRefused ? 'filter' : 'stop', `${response.status}`);
    out.done(`${response.status}`);
  }

  function takeText(text: unknown, block: string, out: AnswerWriter): void {
    if (typeof text === 'string') out.text(text, block);
  }

  /** A call is identified by its item; its arguments arrive in pieces, or with the item. */
  function takeCall(item: JsonObject, at: unknown, out: AnswerWriter): void {
    if (item.type !== 'function_call') return;
    const { call_id: id, name, arguments: json } = item;
    out.tool({ block: `call ${at}`, id, name, ...(json !== '' && { json }) });
  }

  return {
    take(event, out) {
      const { type, delta, output_index: item, content_index: part } = event;
      if (type === 'error' || event.error) throw fault.ofComplaint(event, true);
      if (event.object === 'response') {
        out.start(event);
        for (const [at, content] of contentsOf(event, fields).entries()) {
          if (content.type === 'refusal') isRefused = true;
          takeText(content.text ?? content.refusal, `${at}`, out);
          takeCall(content, at, out);
        }
        end(event, out);
      } else if (type === 'response.created') out.start(fields(event.response));
      else if (type === 'response.output_text.delta') takeText(delta, `${item} ${part}`, out);
      else if (type === 'response.refusal.delta') {
        isRefused = true;
        takeText(delta, `${item} ${part}`, out);
      } else if (type === 'response.output_item.added') takeCall(fields(event.item), item, out);
      else if (type === 'response.function_call_arguments.delta') out.tool({ block: `call ${item}`, json: delta });
      else if (typeof type === 'string' && ENDS.test(type)) end(fields(event.response), out);
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
