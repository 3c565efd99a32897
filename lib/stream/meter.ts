// Counts what a text answer used as its parts pass, and determines at the end what is billed.
import type { Tokens } from '../money/price.ts';
import type { StreamPart } from './part.ts';

export interface MeterOptions {
  /** False for an upstream whose counts are not used: both sides are then estimated. */
  readonly trusted: boolean;
  /** Input tokens to bill if the upstream reports none. */
  readonly inputEstimate: number;
  /** Input counts above this are believed up to it. */
  readonly inputMax: number;
  /** The maximum of output tokens billed. */
  readonly outputMax: number;
  /** What the call's pictures add to an input count that excludes them. */
  readonly pictures?: PictureTokens;
}

export interface PictureTokens {
  readonly tokens: number;
  /** The minimum of an input count that includes them. */
  readonly countedFrom: number;
}

export interface Meter {
  observe(parts: readonly StreamPart[]): void;
  /** Forgets the reports of an upstream that failed before its first text. */
  restart(): void;
  /** Input tokens as known so far. */
  inputSoFar(): number;
  /** What has been used so far, as if the answer were cut off now. */
  used(): Tokens;
  /** Whether that exceeds this on either side. Every hold asks it of all running calls of its wallet. */
  exceeds(tokens: Tokens): boolean;
  /** What is billed. A cut-off answer is billed for what arrived, whatever the last report said. */
  bill(ending: 'finished' | 'cut'): Bill;
  /** True once text has passed. */
  readonly hasText: boolean;
  /** Whether the upstream has reported more input than is believed. */
  readonly isInputAboveBound: boolean;
}

export interface Bill extends Tokens {
  /** Why a number is an estimate, for the log; absent if both are the upstream's. */
  readonly doubt?: string;
}

/** Approximate characters per token, where nobody counted. */
export const CHARACTERS_PER_TOKEN = 4;

/** The longest tokens are of repeated signs: a count with more text behind it was made before that. */
const CHARACTERS_PER_TOKEN_MAX = 64;

export function createMeter(options: MeterOptions): Meter {
  return new AnswerMeter(options);
}

/** A class, because every open answer has one: closures would take three times the memory. */
class AnswerMeter implements Meter {
  hasText = false;
  readonly #options: MeterOptions;
  #characters = 0;
  /** Since output was last counted. */
  #uncounted = 0;
  #input: number | undefined;
  #output: number | undefined;

  constructor(options: MeterOptions) {
    this.#options = options;
  }

  observe(parts: readonly StreamPart[]): void {
    for (const part of parts) {
      if (part.type === 'block-delta') {
        this.hasText = true;
        const characters = countCharacters(part.text);
        this.#characters += characters;
        this.#uncounted += characters;
      } else if (part.type === 'usage' && this.#options.trusted) {
        // Absent numbers leave the previous ones; anything that is not a number counts as absent.
        if (typeof part.input === 'number') this.#input = part.input;
        if (typeof part.output !== 'number') continue;
        this.#output = part.output;
        this.#uncounted = 0;
      }
    }
  }

  restart(): void {
    this.#input = undefined;
    this.#output = undefined;
  }

  inputSoFar(): number {
    const { inputEstimate, pictures } = this.#options;
    const counted = this.#believableInput();
    if (counted === undefined) return inputEstimate;
    return pictures && counted < pictures.countedFrom ? counted + pictures.tokens : counted;
  }

  used(): Tokens {
    return { input: this.inputSoFar(), output: this.#outputSoFar() };
  }

  exceeds(tokens: Tokens): boolean {
    return this.inputSoFar() > tokens.input || this.#outputSoFar() > tokens.output;
  }

  bill(ending: 'finished' | 'cut'): Bill {
    const doubts: string[] = [];
    const { trusted } = this.#options;
    const output = ending === 'finished' ? this.#believableOutput() : undefined;
    if (trusted && (this.#believableInput() === undefined || this.isInputAboveBound))
      doubts.push(`input ${this.#input}`);
    if (trusted && ending === 'finished' && output === undefined) doubts.push(`output ${this.#output}`);
    return {
      ...this.used(),
      ...(output !== undefined && { output }),
      ...(doubts.length > 0 && { doubt: `usage reported as ${doubts.join(', ')}` }),
    };
  }

  #outputSoFar(): number {
    const produced = tokensOfCharacters(this.#characters);
    return Math.min(Math.max(this.#believableOutput() ?? 0, produced), this.#options.outputMax);
  }

  #believableInput(): number | undefined {
    const input = this.#input;
    if (input === undefined || !Number.isSafeInteger(input) || input <= 0) return undefined;
    return Math.min(input, this.#options.inputMax);
  }

  get isInputAboveBound(): boolean {
    return (this.#input ?? 0) > this.#options.inputMax;
  }

  #believableOutput(): number | undefined {
    const output = this.#output;
    if (output === undefined || !Number.isInteger(output) || output < 0) return undefined;
    if (output > this.#options.outputMax || (output === 0 && this.hasText)) return undefined;
    return this.#uncounted <= output * CHARACTERS_PER_TOKEN_MAX ? output : undefined;
  }
}

export function tokensOfCharacters(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** Unicode characters of a text, a surrogate pair as one. */
export function countCharacters(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length; at += 1) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) pairs += 1;
  }
  return text.length - pairs;
}
