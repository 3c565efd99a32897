// What a call allows its answer, and what its guard tells of it.
import type { AnswerMemory } from './answer-memory.ts';
import type { ErrorPart, StreamPart } from './part.ts';
import type { Transform } from './pipeline.ts';
import type { ProviderPart } from './provider-part.ts';

export interface GuardOptions {
  /**
   * Output tokens after which an answer is cut: by the upstream's count, or by an amount of text that is never fewer.
   */
  readonly outputMax: number;
  /** Default `any`. */
  readonly calls?: CallsAllowed | undefined;
  /** The names of the tools that may be called. */
  readonly toolNames?: readonly string[] | undefined;
  /** Whether reasoning is passed on as blocks; by default it is hidden. */
  readonly showsReasoning?: boolean | undefined;
  /** Counts what images take; absent if nothing is measured. */
  readonly memory?: AnswerMemory | undefined;
  /** Called at each reason to end, which content may still follow. */
  readonly onFinish?: (() => void) | undefined;
}

/** The tool calls that an answer may contain. Not every upstream supports such limits, so further calls are hidden. */
export type CallsAllowed = 'any' | 'one' | 'none';

/**
 * Holds the finish back until the end, because text may follow an upstream's reason to end. Blocks that are open at the
 * same time upstream are passed on one after the other.
 */
export interface Guard extends Transform<ProviderPart | ErrorPart, StreamPart> {
  end(): readonly StreamPart[];
  /** True once there is a finish that a broken connection does not put in doubt, or the answer was cut. */
  readonly finished: boolean;
  /** When content of any kind last arrived, or the first reason to end, by `performance.now()`; 0 before both. */
  readonly workedAt: number;
  /** True once the answer was cut or has failed: nothing more is wanted from the upstream. */
  readonly done: boolean;
}
