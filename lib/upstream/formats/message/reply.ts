// Maps the events of a messages stream to parts, or the whole message of an endpoint that does not stream.
import type { AnswerReader, AnswerWriter, Host, JsonObject, MessageQuirks } from '../../contract/provider.ts';
import { fieldsOf, isFields } from '../../host/fields.ts';
import { Usage } from './usage.ts';

type Kit = Pick<Host, 'fault' | 'finishReason'>;

/** Reads one reply. Events name their type in their data, so the `event` field is not needed. */
export class MessageReply implements AnswerReader {
  readonly #kit: Kit;
  readonly #quirks: MessageQuirks;
  readonly #usage = new Usage();
  /** The open tool call. */
  #call: unknown;

  constructor(kit: Kit, quirks: MessageQuirks) {
    this.#kit = kit;
    this.#quirks = quirks;
  }

  take(event: JsonObject, out: AnswerWriter): void {
    if (event.error) this.#refuse(event);
    switch (event.type) {
      case 'content_block_delta':
        this.#takeDelta(event, out);
        break;
      case 'message_start':
        this.#takeStart(event.message, out);
        break;
      case 'content_block_start':
        this.#takeBlock(event.index, event.content_block, out);
        break;
      case 'content_block_stop':
        if (this.#call !== undefined) out.tool({ block: this.#call, done: true });
        this.#call = undefined;
        break;
      case 'message_delta':
        this.#takeEnding(event.delta, event.usage, out);
        break;
      case 'message_stop':
        this.#takeLastCounts(event, out);
        out.done(STOP);
        break;
      case 'message':
        this.#takeMessage(event, out);
        break;
      default:
        // Events of unknown types are skipped, but errors of any shape are not.
        if (event.type === undefined || event.type === 'error' || event.success === false) this.#refuse(event);
    }
  }

  #takeStart(message: unknown, out: AnswerWriter): void {
    if (!isFields(message)) return;
    out.start(message);
    out.usage(this.#usage.report(message.usage));
  }

  #takeEnding(delta: unknown, usage: unknown, out: AnswerWriter): void {
    out.usage(this.#usage.report(usage));
    if (isFields(delta)) this.#finish(delta.stop_reason, out);
  }

  /** Counts reported earlier stand. */
  #takeLastCounts(event: JsonObject, out: AnswerWriter): void {
    const { counts } = this.#quirks;
    if (counts && !this.#usage.hasOutput) out.usage(this.#usage.report(fieldsOf(event, ...counts.at), counts.names));
  }

  /** The whole message, from an endpoint that does not stream. */
  #takeMessage(message: JsonObject, out: AnswerWriter): void {
    this.#takeStart(message, out);
    const content = typeof message.content === 'string' ? [{ text: message.content }] : message.content;
    if (Array.isArray(content)) for (const [index, block] of content.entries()) this.#takeBlock(index, block, out);
    this.#finish(message.stop_reason, out);
    out.done(STOP);
  }

  #takeDelta({ index, delta }: JsonObject, out: AnswerWriter): void {
    if (!isFields(delta)) return;
    const { type, text, partial_json: json } = delta;
    if (typeof text === 'string' && (type === 'text_delta' || type === undefined)) out.text(text, index);
    else if (typeof json === 'string' && this.#call !== undefined) out.tool({ block: this.#call, json });
  }

  /** Some endpoints put the first words, or all arguments, into the start of a block. */
  #takeBlock(index: unknown, block: unknown, out: AnswerWriter): void {
    if (!isFields(block)) return;
    if (isText(block)) out.text(block.text, index);
    if (block.type !== 'tool_use') return;
    const { id, name, input } = block;
    this.#call = `call ${index}`;
    const isWhole = typeof input === 'string' || (isFields(input) && Object.keys(input).length > 0);
    out.tool({ block: this.#call, id, name, ...(isWhole && { json: input }) });
  }

  #finish(stopReason: unknown, out: AnswerWriter): void {
    const reason = this.#kit.finishReason(stopReason);
    if (reason) out.finish(reason, `${stopReason}`);
  }

  #refuse(event: JsonObject): void {
    const complaint = this.#kit.fault.ofComplaint(event);
    if (complaint) throw complaint;
  }
}

/** The end mark, as the finish reason if there is no other. */
const STOP = 'message_stop';

function isText(block: JsonObject): block is JsonObject & { readonly text: string } {
  return typeof block.text === 'string' && (block.type === 'text' || block.type === undefined);
}
