// The JSON values of one answer on their way to its plugin's reader, and what becomes of the answer: the parts that the
// reader writes, its end, or its failure.
import type { ProviderPart } from '../../stream/provider-part.ts';
import type { AnswerReader } from '../contract/answer.ts';
import type { JsonObject } from '../contract/request.ts';
import { Writer } from './writer.ts';

export const END_MARK = '[DONE]';

/** Nothing is written between two reads. */
const IGNORED: ProviderPart[] = [];

export class AnswerValues {
  /** True when nothing that follows counts. */
  done = false;
  /** Set once the answer turned out to have failed; the parts before it count. */
  error: unknown;
  readonly #reader: AnswerReader;
  readonly #writer = new Writer();

  constructor(reader: AnswerReader) {
    this.#reader = reader;
  }

  /** Where the reader writes from now on; without a list, the last parts are not kept until there are others. */
  into(parts = IGNORED): void {
    this.#writer.into(parts);
  }

  /** Of a list, each value separately. */
  take(value: unknown, eventName: () => string): void {
    if (Array.isArray(value)) for (const item of value) this.#take(item, eventName);
    else this.#take(value, eventName);
  }

  #take(value: unknown, eventName: () => string): void {
    if (this.done || typeof value !== 'object' || value === null) return;
    this.#reader.take(value as JsonObject, this.#writer, eventName);
    this.done = this.#writer.isDone;
  }

  takeEndMark(): void {
    this.#reader.end?.(this.#writer, true);
    this.#writer.done(END_MARK);
    this.done = true;
  }

  /** The body ended before the answer was done. */
  end(): void {
    this.#reader.end?.(this.#writer, false);
    this.#writer.close();
  }

  /** Harmless once the answer is finished, and the last word when it had a reason to. */
  fail(error: unknown): void {
    if (this.#writer.finished) return;
    this.done = true;
    this.error = error;
  }
}
