// The grammar at the boundary between provider and gateway: whatever a plugin yields or throws, the result is one
// start, blocks in sequence, and one finish or one error at the end; and nothing beyond what was asked for.
import { fault, isFault } from '../base/faults.ts';
import { AnswerImages } from './answer-images.ts';
import { takeCharacters } from './characters.ts';
import { CitationLimit } from './citation-limit.ts';
import { addState, checkState, continuesText, grammarError, settleBlock, settleReason } from './grammar.ts';
import { BLOCKS_EMPTY_MAX, CHARACTERS_PER_TOKEN_MAX, FAR_BEYOND, type GuardOptions } from './guard-options.ts';
import type { ErrorPart, StreamPart } from './part.ts';
import type { Transform } from './pipeline.ts';
import type { Block, BlockState, Citation, FinishPart, ImagePart, ProviderPart } from './provider-part.ts';
import { isBlock, type WaitingBlock, WaitingBlocks } from './waiting-blocks.ts';

const NOTHING: readonly StreamPart[] = [];

/** No block: unlike any index that a provider may give, it does not even equal itself. */
const NONE = Number.NaN;

const EMPTY_ARGUMENTS = '{}';

/**
 * Holds the finish back until the end, because text may follow an upstream's reason to end. Blocks that are open at the
 * same time upstream are passed on one after the other. A class, because every open answer has one: closures would take
 * three times the memory.
 */
export class Guard implements Transform<ProviderPart | ErrorPart, StreamPart> {
  /** True once the answer was cut or has failed: nothing more is wanted from the upstream. */
  done = false;
  /** When content of any kind last arrived, or the first reason to end, by `performance.now()`; 0 before both. */
  workedAt = 0;
  readonly #options: GuardOptions;
  readonly #charactersMax: number;
  /** The batch shows that the upstream is at work. */
  #isAtWork = false;
  #started = false;
  #finish: FinishPart | undefined;
  /** Content followed a finish, so the reasons of this upstream say nothing about the end. */
  #isFollowed = false;
  /** The finish or the error was passed on. */
  #ended = false;
  #lastIndex = -1;
  #blocks = 0;
  /** The index of the upstream's block that is passed on. */
  #servedIndex = NONE;
  #waiting: WaitingBlocks | undefined;
  /** Open blocks that nobody is shown. */
  #hidden: Map<number, Block['type']> | undefined;
  /** Something was produced that was asked for. */
  #hasOutput = false;
  /** Of our last block or image: consecutive texts are one block, whose end is known only when something else follows. */
  #ourIndex = -1;
  /** That block, as long as it is open. */
  #ourBlock: Block | undefined;
  #citationLimit: CitationLimit | undefined;
  #images: AnswerImages | undefined;
  #hasTools = false;
  #ourBlockHasText = false;
  /** All that was produced. */
  #characters = 0;
  #outputTokens = 0;
  /** Where parts go that differ from those of the batch; undefined as long as the batch passes as it is. */
  #passed: StreamPart[] | undefined;

  constructor(options: GuardOptions = { outputMax: Number.POSITIVE_INFINITY }) {
    this.#options = options;
    this.#charactersMax = options.outputMax * CHARACTERS_PER_TOKEN_MAX;
  }

  /** True once there is a finish that a broken connection does not put in doubt, or the answer was cut. */
  get finished(): boolean {
    return this.#finish !== undefined && !this.#isFollowed;
  }

  push(batch: readonly (ProviderPart | ErrorPart)[]): readonly StreamPart[] {
    if (this.done || this.#ended) return NOTHING;
    this.#passed = undefined;
    const before = this.#finish;
    let at = 0;
    try {
      for (; at < batch.length && !this.done; at += 1) this.#step(batch, at);
    } catch (error) {
      this.#passed ??= batch.slice(0, at) as StreamPart[];
      this.#fail({ type: 'error', fault: isFault(error) ? error : fault('upstream_failed', {}, error) });
    }
    const passed = this.#passed;
    this.#passed = undefined;
    if (this.#isAtWork) this.workedAt = performance.now();
    this.#isAtWork = false;
    if (this.#finish !== before) this.#options.onFinish?.();
    return passed ?? (batch as readonly StreamPart[]);
  }

  #step(batch: readonly (ProviderPart | ErrorPart)[], at: number): void {
    const part = batch[at] as ProviderPart | ErrorPart;
    // Most parts: they pass as they are.
    const isServed = part?.type === 'block-delta' && part.index === this.#servedIndex;
    const isPlain = isServed && part.index === this.#ourIndex;
    if (isPlain && this.#takeText(part.text)) this.#passed?.push(part);
    else {
      this.#passed ??= batch.slice(0, at) as StreamPart[];
      this.#take(part, batch[at + 1]);
    }
    if (this.#characters > this.#charactersMax) this.#cutSurplus(batch, at);
  }

  /** True if the text of the served block may pass unchanged. */
  #takeText(text: string): boolean {
    if (typeof text !== 'string') throw grammarError('a delta without text');
    if (text === '' || this.#isCountedOut()) return false;
    this.#noteContent(text.length);
    this.#ourBlockHasText = true;
    this.#hasOutput = true;
    return true;
  }

  #noteContent(characters: number): void {
    this.#characters += characters;
    this.#isAtWork = true;
    if (this.#finish) this.#isFollowed = true;
  }

  #emit(part: StreamPart): void {
    (this.#passed as StreamPart[]).push(part);
  }

  #take(part: ProviderPart | ErrorPart, next: ProviderPart | ErrorPart | undefined): void {
    switch (part?.type) {
      case 'block-delta':
        this.#takeDelta(part.index, part.text);
        break;
      case 'image':
        this.#takeImage(part);
        break;
      case 'usage':
        if (typeof part.output === 'number') this.#outputTokens = part.output;
        this.#emit(part);
        break;
      case 'start':
        if (this.#started) throw grammarError('a second start');
        this.#started = true;
        this.#emit(part);
        break;
      case 'block-start':
        this.#takeStart(part.index, part.block, next?.type === 'block-state' ? next : undefined);
        break;
      case 'block-state':
        this.#takeState(part.index, part.state);
        break;
      case 'block-citation':
        this.#takeCitation(part.index, part.citation);
        break;
      case 'block-end':
        this.#takeEnd(part.index);
        break;
      case 'finish':
        if (!this.#started) throw grammarError('a finish before the start');
        this.#takeFinish(part);
        break;
      case 'alive':
        this.#isAtWork = true;
        break;
      case 'error':
        if (!isFault(part.fault)) throw grammarError('an error of its own');
        this.#fail(part);
        break;
      default:
        throw grammarError(`a part of type ${String((part as { type?: unknown } | undefined)?.type)}`);
    }
  }

  #takeDelta(index: number, text: string): void {
    if (typeof text !== 'string') throw grammarError('a delta without text');
    if (text !== '' && this.#isCountedOut()) {
      this.#cut();
      return;
    }
    if (index === this.#servedIndex) {
      if (text !== '' && this.#takeText(text)) this.#emit({ type: 'block-delta', index: this.#ourIndex, text });
      return;
    }
    const hidden = this.#hidden?.get(index);
    const waiting = hidden === undefined ? this.#waiting?.find(index) : undefined;
    if (hidden === undefined && !waiting) throw grammarError('a delta outside its block');
    if (text === '') return;
    this.#noteContent(text.length);
    this.#hasOutput ||= hidden !== 'tool';
    if (!waiting) this.#emit({ type: 'hidden', text });
    else this.#waiting?.append(waiting, text);
  }

  #takeStart(index: number, given: Block, following: { index: number; state: BlockState } | undefined): void {
    if (!this.#started) throw grammarError('a block before the start');
    if (!(index > this.#lastIndex)) throw grammarError('a block out of order');
    const block = settleBlock(given, this.#options);
    this.#isAtWork ||= block.type === 'tool';
    this.#lastIndex = index;
    this.#blocks += 1;
    if (this.#blocks > this.#options.outputMax + BLOCKS_EMPTY_MAX) {
      this.#cut();
      return;
    }
    if (this.#isHidden(block)) {
      this.#hidden ??= new Map();
      this.#hidden.set(index, block.type);
      return;
    }
    this.#hasTools ||= block.type === 'tool';
    // A call may end an answer that has a reason already; a text that stays empty does not say anything.
    if (block.type === 'tool') this.#noteContent(0);
    const isStated = block.type === 'tool' && following?.index === index;
    const state = isStated ? checkState(following.state) : undefined;
    const waiting: WaitingBlock = { index, block, text: '', state, isEnded: false };
    if (Number.isNaN(this.#servedIndex)) this.#serve(waiting);
    else this.#openWaiting().add(waiting);
  }

  #isHidden({ type }: Block): boolean {
    const { calls, showsReasoning } = this.#options;
    if (type === 'reasoning') return !showsReasoning;
    return type === 'tool' && (calls === 'none' || (calls === 'one' && this.#hasTools));
  }

  #takeState(index: number, state: BlockState): void {
    checkState(state);
    this.#isAtWork = true;
    const waiting = this.#waiting?.find(index);
    if (waiting) this.#waiting?.setState(waiting, state);
    else if (index === this.#servedIndex) {
      // A call's state has passed with its start.
      if (this.#ourBlock?.type === 'reasoning') this.#emit({ type: 'block-state', index: this.#ourIndex, state });
    } else if (!this.#hidden?.has(index)) throw grammarError('a state outside its block');
  }

  #takeCitation(index: number, citation: Citation): void {
    const waiting = this.#waiting?.find(index);
    if (!waiting && index !== this.#servedIndex) throw grammarError('a citation outside its block');
    this.#isAtWork = true;
    this.#citationLimit ??= new CitationLimit();
    if (!this.#citationLimit.take(citation)) return;
    if (waiting) {
      waiting.citations ??= [];
      waiting.citations.push(citation);
    } else if (this.#ourBlock?.type === 'text') this.#emit({ type: 'block-citation', index: this.#ourIndex, citation });
  }

  #takeEnd(index: number): void {
    if (index === this.#servedIndex) {
      this.#endServed();
      this.#serveWaiting();
      return;
    }
    if (this.#hidden?.delete(index)) return;
    const waiting = this.#waiting?.find(index);
    if (!waiting) throw grammarError('the end of a block that is not open');
    this.#waiting?.end(waiting);
  }

  /** However many tokens were counted before: it is paid for. */
  #takeImage(part: ImagePart): void {
    if (!this.#started) throw grammarError('an image before the start');
    this.#images ??= new AnswerImages(this.#options.memory);
    const image = this.#images.take(part);
    this.#noteContent(0);
    this.#hasOutput = true;
    if (Number.isNaN(this.#servedIndex)) this.#emitImage(image);
    else this.#openWaiting().add(image);
  }

  #emitImage(image: Required<ImagePart>): void {
    this.#closeOurBlock();
    this.#ourIndex += 1;
    this.#emit({ ...image, index: this.#ourIndex });
  }

  #openWaiting(): WaitingBlocks {
    this.#waiting ??= new WaitingBlocks();
    return this.#waiting;
  }

  /** Passes a block on, with what has arrived of it. */
  #serve({ index, block, text, state, citations, isEnded }: WaitingBlock): void {
    this.#servedIndex = index;
    if (!this.#continues(block)) {
      this.#closeOurBlock();
      this.#ourIndex += 1;
      this.#ourBlock = block;
      this.#ourBlockHasText = false;
      this.#emit({ type: 'block-start', index: this.#ourIndex, block: addState(block, state) });
    }
    if (block.type === 'reasoning' && state) this.#emit({ type: 'block-state', index: this.#ourIndex, state });
    if (text !== '') {
      this.#ourBlockHasText = true;
      this.#emit({ type: 'block-delta', index: this.#ourIndex, text });
    }
    for (const citation of citations ?? []) this.#emit({ type: 'block-citation', index: this.#ourIndex, citation });
    if (isEnded) this.#endServed();
  }

  /** Whether a block only goes on with our open text. */
  #continues(block: Block): boolean {
    return block.type === 'text' && this.#ourBlock?.type === 'text' && continuesText(this.#ourBlock, block);
  }

  #serveWaiting(): void {
    while (Number.isNaN(this.#servedIndex)) {
      const next = this.#waiting?.take();
      if (!next) return;
      if (isBlock(next)) this.#serve(next);
      else this.#emitImage(next);
    }
  }

  #endServed(): void {
    this.#servedIndex = NONE;
    if (this.#ourBlock?.type !== 'text') this.#closeOurBlock();
  }

  /** A call without arguments has empty ones. */
  #closeOurBlock(): void {
    if (!this.#ourBlock) return;
    if (this.#ourBlock.type === 'tool' && !this.#ourBlockHasText) {
      this.#characters += EMPTY_ARGUMENTS.length;
      this.#hasOutput = true;
      this.#emit({ type: 'block-delta', index: this.#ourIndex, text: EMPTY_ARGUMENTS });
    }
    this.#ourBlock = undefined;
    this.#emit({ type: 'block-end', index: this.#ourIndex });
  }

  /** The last reason counts, but a plain end does not take a call back. */
  #takeFinish(part: FinishPart): void {
    this.#isAtWork ||= !this.#finish;
    if (this.#finish?.reason !== 'tool' || part.reason !== 'stop') this.#finish = part;
  }

  /** The upstream continues although it is done by its own count. */
  #isCountedOut(): boolean {
    const { outputMax } = this.#options;
    const tokens = this.#outputTokens;
    return tokens > outputMax && this.#characters > 0 && tokens <= FAR_BEYOND * outputMax;
  }

  /** Ends an answer whose upstream exceeds what was asked for. */
  #cut(): void {
    this.done = true;
    this.#finish = { type: 'finish', reason: 'length', raw: 'cut at max_tokens' };
    this.#isFollowed = false;
  }

  /** Drops the excess of the last text. */
  #cutSurplus(batch: readonly (ProviderPart | ErrorPart)[], at: number): void {
    this.#passed ??= batch.slice(0, at + 1) as StreamPart[];
    const last = this.#passed.at(-1);
    const surplus = this.#characters - this.#charactersMax;
    if (last?.type === 'block-delta') {
      const text = takeCharacters(last.text, Math.max(0, last.text.length - surplus));
      this.#passed[this.#passed.length - 1] = { ...last, text };
    }
    this.#cut();
  }

  /** Harmless once the answer is complete. */
  #fail(part: ErrorPart): void {
    this.done = true;
    if (this.finished) return;
    this.#ended = true;
    this.#emit(part);
  }

  end(): readonly StreamPart[] {
    if (this.#ended) return NOTHING;
    this.#ended = true;
    this.#passed = [];
    if (!this.#finish) return [{ type: 'error', fault: fault('upstream_truncated') }];
    this.#endAll();
    if (!this.#hasOutput && !(this.#outputTokens > 0)) {
      // A filter that leaves nothing refuses the request.
      const code = this.#finish.reason === 'filter' ? 'upstream_content' : 'upstream_empty';
      return [{ type: 'error', fault: fault(code) }];
    }
    const { sequence, ...finish } = this.#finish;
    const reason = settleReason(finish, this.#hasTools);
    this.#emit({ ...finish, reason, ...(reason === 'stop' && this.#isStop(sequence) && { sequence }) });
    return this.#passed;
  }

  /** Some upstreams have stop strings of their own. */
  #isStop(sequence: string | undefined): boolean {
    return sequence !== undefined && this.#options.stops?.includes(sequence) === true;
  }

  /** Blocks that the upstream left open end with the answer. */
  #endAll(): void {
    this.#waiting?.endAll();
    this.#servedIndex = NONE;
    this.#serveWaiting();
    this.#closeOurBlock();
  }
}
