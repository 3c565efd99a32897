// One text answer as a plugin reads it: the request, its refusal, and the parts of the reply.
import type { ProviderPart } from '../stream/provider-part.ts';
import type { Asking } from './ask.ts';
import type { HostFault } from './fault-contract.ts';
import { Frames } from './frames.ts';
import type { AnswerReader } from './host-contract.ts';
import type { KeyRing } from './keys.ts';
import type { HostRequest } from './request-contract.ts';

export interface AnswerOptions {
  readonly ask: Asking['ask'];
  readonly keys: KeyRing;
  readonly fault: HostFault;
  readonly url: string;
  readonly init: HostRequest;
  readonly reader: AnswerReader;
}

export function createAnswer(options: AnswerOptions): AsyncIterableIterator<readonly ProviderPart[]> {
  return new Answer(options);
}

type Step = IteratorResult<readonly ProviderPart[]>;

const DONE: Step = { done: true, value: undefined };

/** No generator: one would hold the last parts for as long as a reader does not take what comes next. */
class Answer implements AsyncIterableIterator<readonly ProviderPart[]> {
  readonly #signal: AbortSignal;
  readonly #keys: KeyRing;
  readonly #frames: Frames;
  /** Until it is asked: what was sent is not kept for the life of the reply. */
  #asking: AnswerOptions | undefined;
  #state: 'new' | 'open' | 'read' | 'left' = 'new';
  #parts: AsyncIterableIterator<readonly ProviderPart[]> | undefined;
  #keyId: string | undefined;

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

  async next(): Promise<Step> {
    if (this.#asking && this.#state === 'new') await this.#open(this.#asking);
    if (this.#state === 'open') {
      const parts = await this.#step();
      if (parts.length > 0) return { done: false, value: parts };
    }
    return this.#end();
  }

  /** May come while a step is under way: that one then gives nothing more. */
  async return(): Promise<Step> {
    this.#state = 'left';
    await this.#parts?.return?.();
    return DONE;
  }

  async #open({ ask, url, init }: AnswerOptions): Promise<void> {
    this.#asking = undefined;
    this.#state = 'open';
    try {
      const response = await ask(url, init);
      this.#keyId = response.keyId;
      this.#parts = response.body.stream(this.#frames);
    } catch (error) {
      this.#state = 'left';
      throw error;
    }
    if (this.#isLeft()) await this.return();
  }

  /** The next parts; none when there are no more. */
  async #step(): Promise<readonly ProviderPart[]> {
    try {
      const { done, value } = await (this.#parts as AsyncIterableIterator<readonly ProviderPart[]>).next();
      if (done && !this.#isLeft()) this.#state = 'read';
      return done || this.#isLeft() ? [] : value;
    } catch (error) {
      if (this.#signal.aborted) this.#state = 'left';
      if (this.#isLeft()) throw error;
      this.#state = 'read';
      return this.#frames.break(error);
    }
  }

  #end(): Step {
    const { error } = this.#frames;
    if (error === undefined || this.#isLeft()) return DONE;
    this.#state = 'left';
    // Some upstreams say within an answer what others say by a status.
    this.#keys.blame(this.#keyId, error);
    throw error;
  }

  #isLeft(): boolean {
    return this.#state === 'left';
  }
}
