// One text answer as a plugin reads it: the request, its refusal, and the parts of the reply.
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

type Batch = readonly ProviderPart[];
type Step = IteratorResult<Batch>;

const DONE: Step = { done: true, value: undefined };

/** Nothing is sent before the first `next`. */
export function readAnswer(options: AnswerOptions): AsyncIterableIterator<Batch> {
  return new Answer(options);
}

/** Not a generator, like the pipeline that reads it. */
class Answer implements AsyncIterableIterator<Batch> {
  readonly #signal: AbortSignal;
  readonly #keys: KeyRing;
  readonly #frames: Frames;
  /** Dropped once asked, so that what was sent is not kept for the life of the reply. */
  #asking: AnswerOptions | undefined;
  #batches: AsyncIterableIterator<Batch> | undefined;
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

  next(): Promise<Step> {
    if (this.#batches) return this.#batches.next().then(this.#onStep, this.#onBreak);
    const asking = this.#asking;
    this.#asking = undefined;
    return asking ? this.#open(asking) : Promise.resolve(DONE);
  }

  async return(): Promise<Step> {
    this.#asking = undefined;
    const batches = this.#batches;
    this.#batches = undefined;
    await batches?.return?.();
    return DONE;
  }

  async #open({ ask, url, init }: AnswerOptions): Promise<Step> {
    const { keyId, body } = await ask(url, init, true);
    this.#keyId = keyId;
    this.#batches = body.stream(this.#frames);
    return this.next();
  }

  readonly #onStep = (step: Step): Step => (step.done ? this.#end() : step);

  /** The body broke off. */
  readonly #onBreak = (error: unknown): Step => {
    if (this.#signal.aborted) {
      this.#batches = undefined;
      throw error;
    }
    const parts = this.#frames.break(error);
    return parts.length > 0 ? { done: false, value: parts } : this.#end();
  };

  #end(): Step {
    this.#batches = undefined;
    const { error } = this.#frames;
    if (error === undefined) return DONE;
    // Some upstreams report within an answer what others report by status.
    this.#keys.blame(this.#keyId, error);
    throw error;
  }
}
