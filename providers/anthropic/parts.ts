// Maps the events of a messages stream to parts, or the whole message of an endpoint that does not stream.
import type { FinishReason, ReplyReader, StreamPart, UpstreamFault } from '../../lib/plugin/contract.ts';
import { complaintOf, type Faults, isComplaint } from './faults.ts';
import { END_MARK, Frames, NotJson } from './frames.ts';
import { type Tokens, Usage } from './usage.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Reads one reply, an array of lines at a time. */
export class Reply implements ReplyReader {
  /** True when nothing that follows counts. */
  done = false;
  /** Set once the reply turned out to have failed; the parts before it count. */
  failure: unknown;
  readonly #faults: Faults;
  readonly #frames = new Frames((value) => this.#take(value));
  readonly #usage = new Usage();
  #parts: StreamPart[] = [];
  #names: { readonly id?: string; readonly model?: string } = {};
  #started = false;
  #finished = false;
  /** The upstream's index of the open block. */
  #openIndex: unknown;
  #isOpen = false;
  #blocks = 0;
  /** The first half of a character whose other half is in the next delta. */
  #half = '';

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  push(lines: readonly string[]): readonly StreamPart[] {
    return this.#collect(() => {
      for (const line of lines) {
        if (this.done) return;
        this.#frames.readLine(line);
      }
    });
  }

  /** The reply ended by itself. */
  end(): readonly StreamPart[] {
    return this.#collect(() => this.#frames.end());
  }

  /** The connection broke: harmless when the message had come to its end. */
  break(error: unknown): readonly StreamPart[] {
    return this.#collect(() => {
      throw error;
    });
  }

  refuse(status: number, text: string): UpstreamFault {
    return this.#faults.ofReply(status, text);
  }

  #collect(read: () => void): readonly StreamPart[] {
    try {
      read();
    } catch (error) {
      this.done = true;
      if (!this.#finished) {
        this.failure = error instanceof NotJson ? this.#faults.ofKind('protocol', `not JSON: ${error.message}`) : error;
      }
    }
    const parts = this.#parts;
    this.#parts = [];
    return parts;
  }

  #take(value: unknown): void {
    if (value === END_MARK) this.#end();
    else if (Array.isArray(value)) for (const item of value) this.#take(item);
    else if (typeof value === 'object' && value !== null) this.#takeEvent(value as Fields);
  }

  #takeEvent(event: Fields): void {
    switch (event.type) {
      case 'content_block_delta':
        this.#takeDelta(event);
        break;
      case 'message_start':
        this.#takeStart(event.message);
        break;
      case 'content_block_start':
        this.#takeBlock(event.index, event.content_block);
        break;
      case 'content_block_stop':
        if (event.index === this.#openIndex) this.#closeBlock();
        break;
      case 'message_delta':
        this.#takeEnding(event.delta, event.usage);
        break;
      case 'message_stop':
        this.#report(this.#usage.reportMetrics(event['amazon-bedrock-invocationMetrics']));
        this.#end();
        break;
      case 'message':
        this.#takeMessage(event);
        break;
      default:
        if (!this.#finished && isComplaint(event)) throw this.#faults.ofComplaint(complaintOf(event) ?? NO_MESSAGE);
    }
  }

  #takeStart(message: unknown): void {
    if (!isFields(message)) return;
    this.#note(message);
    this.#report(this.#usage.report(message.usage));
  }

  /** Some endpoints put the first words into the start of a block. */
  #takeBlock(index: unknown, block: unknown): void {
    if (isFields(block) && isText(block)) this.#append(index, block.text);
  }

  #takeDelta({ index, delta }: Fields): void {
    if (!isFields(delta)) return;
    const { type, text } = delta;
    if (typeof text === 'string' && (type === 'text_delta' || type === undefined)) this.#append(index, text);
  }

  #takeEnding(delta: unknown, usage: unknown): void {
    this.#report(this.#usage.report(usage));
    if (isFields(delta)) this.#finish(delta.stop_reason);
  }

  /** The whole message, as an endpoint sends it that does not stream. */
  #takeMessage(message: Fields): void {
    this.#takeStart(message);
    const content = typeof message.content === 'string' ? [{ text: message.content }] : message.content;
    if (Array.isArray(content)) for (const [index, block] of content.entries()) this.#takeBlock(index, block);
    this.#finish(message.stop_reason);
    this.#end();
  }

  #note({ id, model }: Fields): void {
    const named = typeof id === 'string' && id !== '' && { id };
    this.#names = { ...named, ...(typeof model === 'string' && model !== '' && { model }) };
  }

  #append(index: unknown, text: string): void {
    if (text === '' || this.#finished) return;
    if (this.#isOpen && index !== this.#openIndex) this.#closeBlock();
    let whole = this.#half === '' ? text : this.#joinHalf(text);
    const last = whole.charCodeAt(whole.length - 1);
    if (last >= FIRST_HALF && last < SECOND_HALF) {
      this.#half = whole.slice(-1);
      whole = whole.slice(0, -1);
    }
    if (!this.#isOpen) this.#openBlock(index);
    if (whole !== '') this.#parts.push({ type: 'block-delta', index: this.#blocks, text: whole });
  }

  #joinHalf(text: string): string {
    const next = text.charCodeAt(0);
    const half = next >= SECOND_HALF && next < SECOND_HALF + 0x400 ? this.#half : REPLACEMENT;
    this.#half = '';
    return half + text;
  }

  /** Opened by its first words: a block of nothing, or of thoughts, is none. */
  #openBlock(index: unknown): void {
    this.#start();
    this.#isOpen = true;
    this.#openIndex = index;
    this.#parts.push({ type: 'block-start', index: this.#blocks, block: { type: 'text' } });
  }

  #closeBlock(): void {
    if (!this.#isOpen) return;
    if (this.#half !== '') this.#parts.push({ type: 'block-delta', index: this.#blocks, text: REPLACEMENT });
    this.#half = '';
    this.#parts.push({ type: 'block-end', index: this.#blocks });
    this.#isOpen = false;
    this.#openIndex = undefined;
    this.#blocks += 1;
  }

  #start(): void {
    if (!this.#started) this.#parts.push({ type: 'start', ...this.#names });
    this.#started = true;
  }

  #report(tokens: Tokens | undefined): void {
    if (tokens) this.#parts.push({ type: 'usage', ...tokens });
  }

  #finish(stopReason: unknown): void {
    if (typeof stopReason !== 'string' || stopReason === '' || this.#finished) return;
    const reason = REASONS.get(stopReason.toLowerCase()) ?? 'other';
    if (reason === 'failed') throw this.#faults.ofKind('server', `stop reason ${stopReason}`);
    this.#closeBlock();
    this.#start();
    this.#parts.push({ type: 'finish', reason, raw: stopReason });
    this.#finished = true;
  }

  /** The end of the message: after text a reason of its own. */
  #end(): void {
    if (this.#isOpen || this.#blocks > 0) this.#finish('message_stop');
    this.done = true;
  }
}

const FIRST_HALF = 0xd800;
const SECOND_HALF = 0xdc00;
const REPLACEMENT = '\uFFFD';
const NO_MESSAGE = { message: 'an error without a message', words: [] };

/** The documented reasons, then those that converting proxies let through; what is not here is `other`. */
const REASONS = new Map<string, FinishReason | 'failed'>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool'],
  ['refusal', 'filter'],
  ['pause_turn', 'other'],
  ['message_stop', 'stop'],
  ['stop', 'stop'],
  ['length', 'length'],
  ['content_filter', 'filter'],
  ['sensitive', 'filter'],
  ['tool_calls', 'tool'],
  ['error', 'failed'],
  ['network_error', 'failed'],
  ['abort', 'failed'],
]);

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

function isText(block: Fields): block is Fields & { readonly text: string } {
  return typeof block.text === 'string' && (block.type === 'text' || block.type === undefined);
}
