// Counts what a text answer used as its parts pass, and determines at the end what is billed.
import type { Tokens } from '../money/price.ts';
import type { StreamPart } from './part.ts';

export interface MeterOptions {
  /** False for an upstream whose counts are not used: both sides are then estimated. */
  readonly trusted: boolean;
  /** Input tokens to bill if the upstream reports none. */
  readonly inputEstimate: number;
  /** Input counts above this are rejected. */
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
}

export interface Bill extends Tokens {
  /** Why a number is an estimate, for the log; absent if both are the upstream's. */
  readonly doubt?: string;
}

/** Approximate characters per token, where nobody counted. */
export const CHARACTERS_PER_TOKEN = 4;

export function createMeter({ trusted, inputEstimate, inputMax, outputMax, pictures }: MeterOptions): Meter {
  let characters = 0;
  let hasText = false;
  let input: number | undefined;
  let output: number | undefined;

  function observe(parts: readonly StreamPart[]): void {
    for (const part of parts) {
      if (part.type === 'block-delta') {
        hasText = true;
        characters += countCharacters(part.text);
      } else if (part.type === 'usage' && trusted) {
        // Absent numbers leave the previous ones; anything that is not a number counts as absent.
        if (typeof part.input === 'number') input = part.input;
        if (typeof part.output === 'number') output = part.output;
      }
    }
  }

  function believableInput(): boolean {
    return input !== undefined && Number.isInteger(input) && input > 0 && input <= inputMax;
  }

  function believableOutput(): boolean {
    if (output === undefined || !Number.isInteger(output) || output < 0 || output > outputMax) return false;
    return output > 0 || !hasText;
  }

  function bill(ending: 'finished' | 'cut'): Bill {
    const doubts: string[] = [];
    if (trusted && !believableInput()) doubts.push(`input ${input}`);
    if (trusted && ending === 'finished' && !believableOutput()) doubts.push(`output ${output}`);
    return {
      ...used(),
      ...(ending === 'finished' && believableOutput() && { output: output as number }),
      ...(doubts.length > 0 && { doubt: `usage reported as ${doubts.join(', ')}` }),
    };
  }

  function used(): Tokens {
    return { input: inputSoFar(), output: outputSoFar() };
  }

  function outputSoFar(): number {
    const produced = tokensOfCharacters(characters);
    return Math.min(believableOutput() ? Math.max(output as number, produced) : produced, outputMax);
  }

  function inputSoFar(): number {
    if (!believableInput()) return inputEstimate;
    const counted = input as number;
    return pictures && counted < pictures.countedFrom ? counted + pictures.tokens : counted;
  }

  function restart(): void {
    input = undefined;
    output = undefined;
  }

  return {
    observe,
    restart,
    inputSoFar,
    used,
    exceeds: (tokens) => inputSoFar() > tokens.input || outputSoFar() > tokens.output,
    bill,
    get hasText() {
      return hasText;
    },
  };
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
