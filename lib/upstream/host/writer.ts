// Writes the parts of one answer in their grammar, whatever order and pieces an upstream sends them in.
import type { Block, FinishReason, ProviderPart } from '../../stream/provider-part.ts';
import type { AnswerWriter, ToolPiece } from '../contract/answer.ts';
import { tokenCountOf } from './token-counts.ts';
import { ToolCalls } from './tool-calls.ts';

export class Writer implements AnswerWriter {
  /** True once the finish was written. */
  finished = false;
  /** True after the end mark. */
  isDone = false;
  /** Where parts are written. */
  #parts: ProviderPart[] = [];
  #id: string | undefined;
  #model: string | undefined;
  #isStarted = false;
  /** The reader's name for the open block. */
  #block: unknown;
  #isOpen = false;
  #index = 0;
  #tools: ToolCalls | undefined;
  /** Text that arrived within a call. */
  #late = '';
  /** The first half of a character whose other half is in the next fragment. */
  #half = '';
  #input: number | undefined;
  #output: number | undefined;
  /** Why the answer ends, held back while text may follow: some servers repeat a reason on every chunk. */
  #reason: { readonly reason: FinishReason; readonly raw: string } | undefined;
  /** Text followed a reason, so the reasons say nothing about the end. */
  #wasFollowed = false;
  #wasOpen = false;
  /** What the current value brought. */
  #hasText = false;
  #hasUsage = false;
  #hasReason = false;

  into(parts: ProviderPart[]): void {
    this.#parts = parts;
  }

  /** Before a value is read. */
  begin(): void {
    this.#wasOpen = this.#isOpen || this.#index > 0;
    this.#hasText = false;
    this.#hasUsage = false;
    this.#hasReason = false;
  }

  /** After a value was read: a lone reason after text or calls, or lone counts after a reason, end the answer. */
  settle(): void {
    if (!this.#reason || this.finished || this.#hasText) return;
    if (this.#hasReason ? this.#wasOpen : this.#hasUsage) this.close();
  }

  /** Nothing follows: writes the finish that was held back. True if the answer is finished. */
  close(): boolean {
    if (!this.#reason || this.finished) return this.finished;
    this.#endTools();
    this.#endBlock();
    this.#start();
    const { reason, raw } = this.#reason;
    this.#parts.push({ type: 'finish', reason, raw });
    this.finished = true;
    return true;
  }

  /** The answer broke off: like `close`, but only for a reason that can be believed. */
  breakOff(): boolean {
    return !this.#wasFollowed && this.close();
  }

  #noteText(): void {
    this.#hasText = true;
    this.#wasFollowed ||= this.#reason !== undefined;
  }

  start({ id, model }: { readonly id?: unknown; readonly model?: unknown }): void {
    if (typeof id === 'string' && id !== '') this.#id ??= id;
    if (typeof model === 'string' && model !== '') this.#model ??= model;
  }

  text(text: string, block?: unknown): void {
    if (text === '' || this.finished) return;
    this.#noteText();
    if (this.#tools && !this.#leaveTools(text)) return;
    if (block !== this.#block) {
      this.#endBlock();
      this.#block = block;
    }
    this.#take(text, TEXT);
  }

  tool(piece: ToolPiece): void {
    if (this.finished) return;
    this.#noteText();
    this.#tools ??= this.#openTools();
    this.#tools.take(piece);
  }

  #openTools(): ToolCalls {
    return new ToolCalls({
      open: (call) => {
        this.#endBlock();
        this.#block = call;
        this.#open({ type: 'tool', ...call });
      },
      write: (json) => this.#take(json, undefined),
      close: () => this.#endBlock(),
    });
  }

  /** False while a call is incomplete: the text then waits for its end. */
  #leaveTools(text: string): boolean {
    if (this.#tools?.isBusy) {
      this.#late += text;
      return false;
    }
    this.#endTools();
    return true;
  }

  #endTools(): void {
    const late = this.#late;
    this.#late = '';
    this.#tools?.end();
    if (late !== '') this.#take(late, TEXT);
  }

  /** Into the open block, or into a new one. */
  #take(text: string, block: Block | undefined): void {
    let whole = this.#half !== '' || isSecondHalf(text) ? this.#joinHalf(text) : text;
    const last = whole.charCodeAt(whole.length - 1);
    if (last >= FIRST_HALF && last < SECOND_HALF) {
      this.#half = whole.slice(-1);
      whole = whole.slice(0, -1);
      if (whole === '') return;
    }
    this.#write(whole, block);
  }

  usage(tokens: { readonly input?: unknown; readonly output?: unknown }): void {
    this.#hasUsage = true;
    const input = tokenCountOf(tokens.input);
    const output = tokenCountOf(tokens.output);
    const changes = (input ?? this.#input) !== this.#input || (output ?? this.#output) !== this.#output;
    if (!changes) return;
    this.#input = input ?? this.#input;
    this.#output = output ?? this.#output;
    this.#parts.push({
      type: 'usage',
      ...(input !== undefined && { input }),
      ...(output !== undefined && { output }),
    });
  }

  finish(reason: FinishReason, raw: string): void {
    this.#hasReason = true;
    this.#reason = { reason, raw };
  }

  done(mark: string): void {
    const hasBlocks = this.#isOpen || this.#index > 0;
    if (!this.#reason && hasBlocks) this.#reason = { reason: 'stop', raw: mark };
    this.close();
    this.isDone = true;
  }

  #write(text: string, block: Block | undefined): void {
    if (!this.#isOpen && block) this.#open(block);
    this.#parts.push({ type: 'block-delta', index: this.#index, text });
  }

  #open(block: Block): void {
    this.#start();
    this.#isOpen = true;
    this.#parts.push({ type: 'block-start', index: this.#index, block });
  }

  #endBlock(): void {
    if (this.#half !== '') this.#write(REPLACEMENT, TEXT);
    this.#half = '';
    if (!this.#isOpen) return;
    this.#parts.push({ type: 'block-end', index: this.#index });
    this.#isOpen = false;
    this.#index += 1;
  }

  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const id = this.#id !== undefined && { id: this.#id };
    this.#parts.push({ type: 'start', ...id, ...(this.#model !== undefined && { model: this.#model }) });
  }

  /** A half without its other half is replaced: many readers of JSON refuse it. */
  #joinHalf(text: string): string {
    const half = this.#half;
    this.#half = '';
    if (!isSecondHalf(text)) return REPLACEMENT + text;
    return half === '' ? REPLACEMENT + text.slice(1) : half + text;
  }
}

function isSecondHalf(text: string): boolean {
  const first = text.charCodeAt(0);
  return first >= SECOND_HALF && first < SECOND_HALF + 0x400;
}

const TEXT: Block = { type: 'text' };

const FIRST_HALF = 0xd800;
const SECOND_HALF = 0xdc00;
const REPLACEMENT = '\uFFFD';
