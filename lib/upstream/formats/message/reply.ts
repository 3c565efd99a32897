// Maps the events of a messages stream to parts, or the whole message of an endpoint that does not stream.
import type { AnswerReader, AnswerWriter, Host, JsonObject, MessageQuirks } from '../../contract/provider.ts';
import { isFields, readFields } from '../../host/fields.ts';
import { sumNamedCounts } from '../../host/token-counts.ts';
import { readMessageCitation } from '../citations.ts';
import { MESSAGES_FORMAT } from '../names.ts';
import { OddEvents } from '../odd-events.ts';
import { Usage } from '../usage.ts';

type Kit = Pick<Host, 'fault' | 'finishReason'>;

/** A content block of the stream; the writer knows it by this object. */
interface Block {
  /** `other`: the input and result of a server's own tools, and what is not known. */
  readonly type: 'text' | 'reasoning' | 'tool' | 'other';
  readonly index: unknown;
}

/** Reads one reply. Events name their type in their data, so the `event` field is not needed. */
export class MessageReply implements AnswerReader {
  readonly #kit: Kit;
  readonly #quirks: MessageQuirks;
  readonly #usage: Usage;
  /** Open blocks by their index; one without an index has none here either. */
  readonly #blocks = new Map<unknown, Block>();
  #last: Block | undefined;
  #id: unknown;
  #isStarted = false;
  #hasBlocks = false;
  #hasReason = false;
  /** Since the last piece of the answer; most have none. */
  #odd: OddEvents | undefined;

  constructor(kit: Kit, quirks: MessageQuirks) {
    this.#kit = kit;
    this.#quirks = quirks;
    this.#usage = new Usage({ isCacheBeside: true, isCacheInside: quirks.countsCacheInside === true });
  }

  take(event: JsonObject, out: AnswerWriter): void {
    if (event.error) this.#takeOdd(event);
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
        this.#endBlock(event.index, out);
        break;
      case 'message_delta':
        this.#takeEnding(event, out);
        break;
      case 'message_stop':
        this.#endByMark();
        this.#takeLastCounts(event, out);
        out.done(STOP);
        break;
      case 'message':
        this.#takeMessage(event, out);
        break;
      default:
        this.#takeOdd(event);
    }
  }

  end(_out: AnswerWriter, marked: boolean): void {
    if (marked) this.#endByMark();
  }

  /** A mark alone does not say that the answer was whole. */
  #endByMark(): void {
    if (!this.#hasReason) this.#odd?.check();
  }

  /** Events of unknown types are skipped, but errors of any shape are not. */
  #takeOdd(event: JsonObject): void {
    this.#odd ??= new OddEvents(this.#kit);
    const isComplaint = event.error || event.type === undefined || event.type === 'error' || event.success === false;
    if (isComplaint) this.#odd.refuse(event);
    else this.#odd.note(event);
  }

  #takeStart(message: unknown, out: AnswerWriter): void {
    if (!isFields(message)) return;
    const isSame = message.id !== undefined && message.id === this.#id;
    if (this.#isStarted && this.#hasBlocks && !isSame) {
      this.#endAtNextMessage(out);
      return;
    }
    this.#isStarted = true;
    this.#id = message.id;
    out.start(message);
    this.#count(message.usage, out);
  }

  /** A second message in the stream is nobody's answer. */
  #endAtNextMessage(out: AnswerWriter): void {
    if (!this.#hasReason) throw this.#kit.fault.make('protocol', 'another message begins before the end of the first');
    out.done(STOP);
  }

  /** An older spelling has the counts inside the delta. */
  #takeEnding({ delta, usage }: JsonObject, out: AnswerWriter): void {
    this.#count(readFields(delta).usage, out);
    this.#count(usage, out);
    if (isFields(delta)) this.#finish(delta, out);
  }

  #count(usage: unknown, out: AnswerWriter): void {
    if (isFields(usage)) out.usage(this.#usage.report(usage));
  }

  /** Counts reported earlier stand. */
  #takeLastCounts(event: JsonObject, out: AnswerWriter): void {
    const { counts } = this.#quirks;
    this.#count(event.usage, out);
    if (counts && !this.#usage.hasOutput) out.usage(sumNamedCounts(readFields(event, ...counts.at), counts.names));
  }

  /** The whole message, from an endpoint that does not stream. */
  #takeMessage(message: JsonObject, out: AnswerWriter): void {
    this.#takeStart(message, out);
    const content = typeof message.content === 'string' ? [{ text: message.content }] : message.content;
    if (Array.isArray(content)) {
      for (const [index, block] of content.entries()) {
        this.#takeBlock(index, block, out);
        this.#endBlock(index, out);
      }
    }
    this.#finish(message, out);
    out.done(STOP);
  }

  #takeDelta({ index, delta, usage }: JsonObject, out: AnswerWriter): void {
    if (!isFields(delta)) return;
    this.#odd = undefined;
    const { type, text, thinking, signature, partial_json: json } = delta;
    const block = this.#find(index);
    if (typeof text === 'string' && (type === 'text_delta' || type === undefined)) {
      out.text(text, this.#nameFor('text', block, index));
    } else if (typeof thinking === 'string') {
      out.reasoning(thinking, this.#nameFor('reasoning', block, index));
    } else if (typeof json === 'string') {
      if (block?.type === 'tool') out.tool({ block, json });
      else out.alive();
    } else if (typeof signature === 'string') takeState(signature, this.#nameFor('reasoning', block, index), out);
    else if (type === 'citations_delta') takeCitation(delta.citation, this.#nameFor('text', block, index), out);
    if (usage || delta.usage) this.#count(usage ?? delta.usage, out);
  }

  /** A delta names its block. Where starts have no index, or deltas have none, it is the last one. */
  #find(index: unknown): Block | undefined {
    const named = this.#blocks.get(index);
    return named ?? (index === undefined || this.#blocks.has(undefined) ? this.#last : undefined);
  }

  /** Some endpoints never start blocks; what does not fit its block is one by itself. */
  #nameFor(type: 'text' | 'reasoning', block: Block | undefined, index: unknown): unknown {
    if (block?.type === type) return block;
    return block ? `${type} ${index}` : this.#open(type, index);
  }

  #open(type: Block['type'], index: unknown): Block {
    const block = { type, index };
    this.#hasBlocks = true;
    this.#blocks.set(index, block);
    this.#last = block;
    return block;
  }

  #endBlock(index: unknown, out: AnswerWriter): void {
    const block = this.#find(index);
    if (!block) return;
    out.end(block);
    if (this.#blocks.get(block.index) === block) this.#blocks.delete(block.index);
    if (this.#last === block) this.#last = undefined;
  }

  /** A start is always another block. Some endpoints put the first words, or all arguments, into it. */
  #takeBlock(index: unknown, value: unknown, out: AnswerWriter): void {
    if (!isFields(value)) return;
    this.#odd = undefined;
    const { type, id, name, input } = value;
    const before = this.#blocks.get(index);
    if (before) out.end(before);
    const block = this.#open(readBlockType(value), index);
    if (block.type === 'tool') {
      const isWhole = typeof input === 'string' || (isFields(input) && Object.keys(input).length > 0);
      out.tool({ block, id, name, ...(isWhole && { json: input }) });
    } else if (block.type === 'text') {
      const { text = '', citations } = value;
      if (typeof text === 'string') out.text(text, block, { cited: Array.isArray(citations) });
      if (Array.isArray(citations)) for (const citation of citations) takeCitation(citation, block, out);
    } else if (type === 'redacted_thinking') {
      out.reasoning('', block, { redacted: true });
      takeState(value.data, block, out);
    } else if (block.type === 'reasoning') {
      if (typeof value.thinking === 'string' && value.thinking !== '') out.reasoning(value.thinking, block);
      takeState(value.signature, block, out);
      out.alive();
    } else if (type === 'image') takeImage(value, out);
    else out.alive();
  }

  #finish({ stop_reason: stopReason, stop_sequence: sequence }: JsonObject, out: AnswerWriter): void {
    const reason = this.#kit.finishReason(stopReason);
    if (!reason) return;
    this.#hasReason = true;
    // No vendor bills such a refusal, although its counts have the prompt, and a token or two of an answer.
    if (reason === 'filter' && !this.#hasBlocks) {
      throw this.#kit.fault.make('request', `stop reason ${stopReason} before the first block`, { about: 'content' });
    }
    out.finish(reason, `${stopReason}`, sequence);
  }
}

/** The end mark, as the finish reason if there is no other. */
const STOP = 'message_stop';

/** Of gateways that have answers of other vendors in this format. */
function takeImage({ source }: JsonObject, out: AnswerWriter): void {
  const { media_type: mediaType, data } = readFields(source);
  if (typeof data === 'string') out.image({ mediaType, base64: data });
  else out.alive();
}

function takeState(value: unknown, block: unknown, out: AnswerWriter): void {
  if (typeof value === 'string' && value !== '') out.state({ format: MESSAGES_FORMAT, value }, block);
}

function takeCitation(value: unknown, block: unknown, out: AnswerWriter): void {
  const citation = readMessageCitation(value);
  if (!citation) {
    out.alive();
    return;
  }
  // Opens the block: a citation may come before its first word.
  out.text('', block, { cited: true });
  out.cite(citation, block);
}

function readBlockType({ type, text }: JsonObject): Block['type'] {
  if (type === 'text' || (type === undefined && typeof text === 'string')) return 'text';
  if (type === 'thinking' || type === 'redacted_thinking') return 'reasoning';
  return type === 'tool_use' ? 'tool' : 'other';
}
