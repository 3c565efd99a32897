// One text answer as a plugin reads it: the request, its refusal, and the parts of the reply.
import assert from 'node:assert/strict';
import { ASK, type AskableIterator, type Waiter } from '../../stream/drive.ts';
import type { ProviderPart } from '../../stream/provider-part.ts';
import type { AnswerReader } from '../contract/answer.ts';
import type { HostFault } from '../contract/fault.ts';
import type { HostRequest } from '../contract/request.ts';
import type { Asking } from './ask.ts';
import { Frames } from './frames.ts';
import type { KeyRing } from './key-ring.ts';

export interface AnswerOptions {
  readonly ask: Asking['ask'];
  readonly keys: KeyRing;
  readonly fault: HostFault;
  readonly url: string;
  readonly init: HostRequest;
  readonly reader: AnswerReader;
}

export function createAnswer(options: AnswerOptions): AskableIterator<Parts> {
  return new Answer(options);
}

type Parts = readonly ProviderPart[];
type Step = IteratorResult<Parts>;

const DONE: Step = { done: true, value: undefined };

/** Not a generator: that would hold the last parts for as long as a reader does not take the next. */
class Answer implements AskableIterator<Parts>, Waiter<Parts> {
  readonly #signal: AbortSignal;
  readonly #keys: KeyRing;
  readonly #frames: Frames;
  /** Dropped once asked, so that what was sent is not kept for the life of the reply. */
  #asking: AnswerOptions | undefined;
  #state: 'new' | 'open' | 'read' | 'left' = 'new';
  #parts: AskableIterator<Parts> | undefined;
  #keyId: string | undefined;
  #waiter: Waiter<Parts> | undefined;

  constructor(options: AnswerOptions) {
    const { keys, reader, fault, init } = options;
    this.#asking = options;
    this.#signal = init.signal;
    this.#keys = keys;
    this.#frames = new Frames({ reader, fault, eventCharsMax: init.eventCharsMax });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    return new Promise((resolve, reject) => this[ASK]({ resolve, reject }));
  }

  [ASK](waiter: Waiter<Parts>): void {
    assert(!this.#waiter, 'an answer is read one step at a time');
    this.#waiter = waiter;
    if (this.#asking && this.#state === 'new') this.#begin(this.#asking);
    else this.#step();
  }

  #begin(asking: AnswerOptions): void {
    this.#open(asking).then(
      () => this.#step(),
      (error) => this.#settle()?.reject(error),
    );
  }

  #step(): void {
    if (this.#state === 'open') this.#parts?.[ASK](this);
    else this.#end();
  }

  /** The next parts have arrived, or there are no more. */
  resolve(step: Step): void {
    if (step.done && !this.#isLeft()) this.#state = 'read';
    if (step.done || this.#isLeft()) this.#end();
    else this.#settle()?.resolve(step);
  }

  /** The body broke off. */
  reject(error: unknown): void {
    if (this.#signal.aborted) this.#state = 'left';
    if (this.#isLeft()) {
      this.#settle()?.reject(error);
      return;
    }
    this.#state = 'read';
    const parts = this.#frames.break(error);
    if (parts.length > 0) this.#settle()?.resolve({ done: false, value: parts });
    else this.#end();
  }

  /** May be called while a step is pending, which then yields nothing more. */
  async return(): Promise<Step> {
    this.#state = 'left';
    await this.#parts?.return?.();
    return DONE;
  }

  async #open({ ask, url, init }: AnswerOptions): Promise<void> {
    this.#asking = undefined;
    this.#state = 'open';
    try {
      const response = await ask(url, init, true);
      this.#keyId = response.keyId;
      this.#parts = response.body.stream(this.#frames);
    } catch (error) {
      this.#state = 'left';
      throw error;
    }
    if (this.#isLeft()) await this.return();
  }

  #end(): void {
    const waiter = this.#settle();
    const { error } = this.#frames;
    if (error === undefined || this.#isLeft()) {
      waiter?.resolve(DONE);
      return;
    }
    this.#state = 'left';
    // Some upstreams report within an answer what others report by status.
    this.#keys.blame(this.#keyId, error);
    waiter?.reject(error);
  }

  #settle(): Waiter<Parts> | undefined {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    return waiter;
  }

  #isLeft(): boolean {
    return this.#state === 'left';
  }
}
