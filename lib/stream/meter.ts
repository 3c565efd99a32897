// Counts what a text answer used as its parts pass, and determines at the end what is billed.
import { countPrompt, omitZeros, type PromptTokens, TOKEN_COUNTS, type Tokens } from '../money/price.ts';
import { countCharacters } from './characters.ts';
import { TOKENS_PER_IMAGE, TOKENS_PER_IMAGE_LEAST } from './image-tokens.ts';
import type { StreamPart } from './part.ts';
import type { Transform } from './pipeline.ts';
import type { UsageCounts } from './provider-part.ts';

export interface MeterOptions {
  /** False for an upstream whose counts are not used: both sides are then estimated. */
  readonly trusted: boolean;
  /** Input tokens to bill if the upstream reports none. */
  readonly inputEstimate: number;
  /** Those of them that are recordings; undefined: none. */
  readonly audioEstimate?: number | undefined;
  /** Input counts above this are believed up to it. */
  readonly inputMax: number;
  /** The maximum of output tokens billed. */
  readonly outputMax: number;
  /** The tokens of a text, where nobody counted; not used for an upstream that is not trusted. */
  readonly estimateTokens: (text: string) => number;
  /** What the call's images add to an input count that excludes them. */
  readonly images?: ImageTokens | undefined;
}

export interface ImageTokens {
  readonly tokens: number;
  /** The minimum of an input count that includes them. */
  readonly countedFrom: number;
}

/** The input is what is no audio and what no cache had anything to do with; other counts are absent if zero. */
interface Bill extends Tokens {
  /** Why a number is an estimate, for the log; absent if both are the upstream's. */
  readonly doubt?: string;
}

/** Of an answer whose upstream's counts are not used. */
const CHARACTERS_PER_TOKEN = 4;

/** The longest tokens are of repeated signs: a count with more text for each was made before it, or of a part of it. */
const CHARACTERS_PER_TOKEN_MAX = 64;

const TOKENS_PER_CHARACTER_MAX = 4;

/** Text that waits to be counted: most answers are counted by their upstream in time. */
const PENDING_CHARACTERS_MAX = 512;

/** Passes everything on. A class, because every open answer has one: closures would take three times the memory. */
export class Meter implements Transform<StreamPart> {
  readonly #options: MeterOptions;
  #hasText = false;
  /** Images that were passed on. */
  #images = 0;
  /** Of all text, and of the reasoning in it. */
  #length = 0;
  #thoughtLength = 0;
  #isThought = false;
  /** Of an upstream that is not trusted. */
  #characters = 0;
  /** Of the text before the pending one. */
  #tokens = 0;
  #pending = '';
  #reported: { -readonly [Name in keyof UsageCounts]: UsageCounts[Name] } | undefined;

  constructor(options: MeterOptions) {
    this.#options = options;
  }

  push(batch: readonly StreamPart[]): readonly StreamPart[] {
    for (const part of batch) {
      if (part.type === 'block-delta') this.#takeText(part.text, this.#isThought);
      else if (part.type === 'hidden') this.#takeText(part.text, true);
      else if (part.type === 'block-start') this.#isThought = part.block.type === 'reasoning';
      else if (part.type === 'usage' && this.#options.trusted) this.#takeReport(part);
      else if (part.type === 'image') this.#takeImage();
    }
    return batch;
  }

  #takeText(text: string, isThought: boolean): void {
    this.#hasText = true;
    this.#length += text.length;
    if (isThought) this.#thoughtLength += text.length;
    if (!this.#options.trusted) {
      this.#characters += countCharacters(text);
      return;
    }
    this.#pending += text;
    if (this.#pending.length > PENDING_CHARACTERS_MAX) this.#countPending(this.#pending.lastIndexOf(' '));
  }

  #takeImage(): void {
    this.#hasText = true;
    this.#images += 1;
  }

  /** A word is counted as a whole: the beginning of one waits. */
  #countPending(end: number): void {
    const until = end > 0 ? end : this.#pending.length;
    this.#tokens += this.#options.estimateTokens(this.#pending.slice(0, until));
    this.#pending = this.#pending.slice(until);
  }

  /** Absent numbers leave the previous ones; anything that is not a number counts as absent. */
  #takeReport(counts: UsageCounts): void {
    this.#reported ??= {};
    for (const name of TOKEN_COUNTS) {
      const count = counts[name];
      if (typeof count === 'number') this.#reported[name] = count;
    }
  }

  /** Input tokens as known so far, in the same split as a bill's. */
  promptSoFar(): PromptTokens {
    const { inputEstimate, audioEstimate: audio = 0, images } = this.#options;
    const prompt = this.#believablePrompt();
    if (!prompt) return omitZeros({ input: inputEstimate - audio, audio });
    const lacksImages = images && countPrompt(prompt) < images.countedFrom;
    return lacksImages ? { ...prompt, input: prompt.input + images.tokens } : prompt;
  }

  /** What has been used so far, as if the answer were cut off now. */
  used(): Tokens {
    return this.#withReasoning({ ...this.promptSoFar(), output: this.#outputSoFar() });
  }

  /** Whether that exceeds this on either side. Every hold asks it of all running calls of its wallet. */
  exceeds(tokens: Tokens): boolean {
    if (countPrompt(this.promptSoFar()) > countPrompt(tokens)) return true;
    // Far from it, nothing has to be counted.
    const texts = this.#tokens + this.#pending.length * TOKENS_PER_CHARACTER_MAX;
    const atMost = texts + this.#images * TOKENS_PER_IMAGE;
    const isFar = this.#options.trusted && Math.max(atMost, this.#reported?.output ?? 0) <= tokens.output;
    return !isFar && this.#outputSoFar() > tokens.output;
  }

  /** What is billed. A cut-off answer is billed for what arrived, whatever the last report said. */
  bill(ending: 'finished' | 'cut'): Bill {
    const doubts: string[] = [];
    const { trusted } = this.#options;
    const output = ending === 'finished' ? this.#believableOutput() : undefined;
    if (trusted && (this.#believablePrompt() === undefined || this.isInputAboveBound))
      doubts.push(`input ${this.#inputReported() ?? 'none'}`);
    if (trusted && ending === 'finished' && output === undefined)
      doubts.push(`output ${this.#reported?.output ?? 'none'}`);
    const bill = this.#withReasoning({ ...this.promptSoFar(), output: output ?? this.#outputSoFar() });
    return doubts.length > 0 ? { ...bill, doubt: `usage reported as ${doubts.join(', ')}` } : bill;
  }

  #outputSoFar(): number {
    return Math.min(Math.max(this.#believableOutput() ?? 0, this.#produced()), this.#options.outputMax);
  }

  /** Tokens of all the text and the images that were read. */
  #produced(): number {
    return this.#producedText() + this.#images * TOKENS_PER_IMAGE;
  }

  #producedText(): number {
    if (!this.#options.trusted) return convertToTokens(this.#characters);
    const pending = this.#pending === '' ? 0 : this.#options.estimateTokens(this.#pending);
    return Math.ceil(this.#tokens + pending);
  }

  #withReasoning(usage: Tokens): Tokens {
    const { reasoning } = this.#reported ?? {};
    if (!isCount(reasoning) || reasoning === 0) return usage;
    return { ...usage, reasoning: Math.min(reasoning, usage.output) };
  }

  #inputReported(): number | undefined {
    const { input, audio, cacheRead, cacheWrite } = this.#reported ?? {};
    if ((input ?? audio ?? cacheRead ?? cacheWrite) === undefined) return undefined;
    return countPrompt(this.#reported ?? {});
  }

  /** Undefined if it cannot be: the parts of a plausible sum may still be absurd. */
  #believablePrompt(): PromptTokens | undefined {
    const sum = this.#inputReported();
    if (!isCount(sum) || sum === 0) return undefined;
    const { cacheRead = 0, input = 0, audio = 0, cacheWrite = 0, cacheWrite1h = 0 } = this.#reported ?? {};
    if (![cacheRead, input, audio, cacheWrite, cacheWrite1h].every(isCount)) return undefined;
    // Of too many, those that cost least.
    let room = this.#options.inputMax;
    const take = (count: number) => {
      const taken = Math.min(count, room);
      room -= taken;
      return taken;
    };
    const read = take(cacheRead);
    const fresh = take(input);
    return omitZeros({
      input: fresh,
      audio: take(audio),
      cacheRead: read,
      cacheWrite: take(cacheWrite),
      cacheWrite1h: take(cacheWrite1h),
    });
  }

  /** What the upstream has reported of a whole answer, also above what is believed; undefined if it is not complete. */
  get reported(): Tokens | undefined {
    const { input = 0, output, reasoning, ...others } = this.#reported ?? {};
    const counts = [input, output, ...Object.values(others)];
    if (!counts.every(isCount) || !this.#inputReported() || this.#believableOutput() === undefined) return undefined;
    return {
      ...omitZeros({ ...others, input }),
      output: output ?? 0,
      ...(isCount(reasoning) && reasoning > 0 && { reasoning }),
    };
  }

  /** Whether the upstream has reported any count. */
  get hasReport(): boolean {
    return this.#reported !== undefined;
  }

  /** Whether the upstream has reported more input than is believed. */
  get isInputAboveBound(): boolean {
    return (this.#inputReported() ?? 0) > this.#options.inputMax;
  }

  /** A report above the cap is the cap. */
  #believableOutput(): number | undefined {
    const output = this.#reported?.output;
    if (output === undefined || !Number.isSafeInteger(output) || output < 0) return undefined;
    if (output === 0 && this.#hasText) return undefined;
    if (this.#length > output * CHARACTERS_PER_TOKEN_MAX) return undefined;
    return Math.min(output + this.#imagesBeside(output), this.#options.outputMax);
  }

  /** The tokens of images that a count of the rest leaves out: where another model has drawn them. */
  #imagesBeside(output: number): number {
    if (this.#images === 0) return 0;
    const { reasoning = 0 } = this.#reported ?? {};
    // Our estimate of the text may be twice a tokenizer's, so half of it is used. Reasoning is left out on both sides.
    const share = reasoning > 0 && this.#thoughtLength > 0 ? 1 - this.#thoughtLength / this.#length : 1;
    const least = (share * this.#producedText()) / 2 + this.#images * TOKENS_PER_IMAGE_LEAST;
    return output - reasoning < least ? this.#images * TOKENS_PER_IMAGE : 0;
  }
}

function isCount(count: number | undefined): count is number {
  return Number.isSafeInteger(count) && (count as number) >= 0;
}

export function convertToTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
