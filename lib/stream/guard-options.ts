// What a call allows its answer, and what its guard tells of it.
import type { AnswerMemory } from './answer-memory.ts';

export interface GuardOptions {
  /**
   * Output tokens after which an answer is cut: by the upstream's count, or by an amount of text that is never fewer.
   */
  readonly outputMax: number;
  /** Default `any`. */
  readonly calls?: CallsAllowed | undefined;
  /** The names of the tools that may be called. */
  readonly toolNames?: readonly string[] | undefined;
  /** Whether an earlier call of the conversation has this id, which then none of this answer may have. */
  readonly isCallId?: ((id: string) => boolean) | undefined;
  /** The strings that may end the answer. */
  readonly stops?: readonly string[] | undefined;
  /** Whether reasoning is passed on as blocks; by default it is hidden. */
  readonly showsReasoning?: boolean | undefined;
  /** Counts what images take; absent if nothing is measured. */
  readonly memory?: AnswerMemory | undefined;
  /** Called at each reason to end, which content may still follow. */
  readonly onFinish?: (() => void) | undefined;
}

/** The tool calls that an answer may contain. Not every upstream supports such limits, so further calls are hidden. */
export type CallsAllowed = 'any' | 'one' | 'none';

/** No tokenizer in use makes longer tokens from ordinary text. */
export const CHARACTERS_PER_TOKEN_MAX = 16;

/** A running count passes its limit step by step: one that is far beyond is a mistake. */
export const FAR_BEYOND = 4;

/** So many blocks of an answer may take no token: calls without arguments and empty texts would not end it otherwise. */
export const BLOCKS_EMPTY_MAX = 64;
