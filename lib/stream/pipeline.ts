// Joins a source of batches and a list of transforms into one async iterable of batches. A batch is everything that one
// read of the upstream brought: waiting once per batch costs nothing beside waiting once per part.

/** One step on the way of an answer: synchronous, on all parts of a batch. */
export interface Transform<In, Out = In> {
  /** What can be passed on of this batch, and of what was held back before. */
  push(batch: readonly In[]): readonly Out[];
  /** Nothing follows: what is still held back. */
  end?(): readonly Out[];
  /** True once nothing that follows is wanted; the source is then closed. */
  readonly done?: boolean;
}

interface PipelineOptions<In> {
  /** Called when the pipeline is first read. */
  readonly source: () => AsyncIterable<readonly In[]>;
  /** In order: each takes what the one before it returns. */
  readonly transforms: readonly Transform<unknown, unknown>[];
  /** Ends a pending read at once, whatever the source does. */
  readonly signal: AbortSignal;
  /** The part that stands for a failure of the source or of a transform: the last one that is pushed. */
  readonly onError: (error: unknown) => In;
}

/** After this many batches timers and sockets get a tick: a source that always has more would starve them. */
const BATCHES_PER_TICK = 256;

const NOTHING: readonly never[] = [];

/** Read it once, one `next` at a time; leaving early closes the source. */
export function pipeline<In, Out>(options: PipelineOptions<In>): AsyncIterableIterator<readonly Out[]> {
  return new Pipeline<In, Out>(options);
}

/** The pending read. */
interface Waiter<T> {
  readonly resolve: (result: IteratorResult<T>) => void;
  readonly reject: (reason: unknown) => void;
}

/** Not a generator: nested ones made a stream of single words a quarter dearer (`npm run bench -- --only paced`). */
class Pipeline<In, Out> implements AsyncIterableIterator<readonly Out[]> {
  readonly #transforms: PipelineOptions<In>['transforms'];
  readonly #signal: AbortSignal;
  readonly #toPart: PipelineOptions<In>['onError'];
  /** Dropped once it was called. */
  #source: PipelineOptions<In>['source'] | undefined;
  #iterator: AsyncIterator<readonly In[]> | undefined;
  #waiter: Waiter<readonly Out[]> | undefined;
  #state: 'new' | 'open' | 'aborted' | 'over' = 'new';
  #batches = 0;

  constructor({ source, transforms, signal, onError }: PipelineOptions<In>) {
    this.#source = source;
    this.#transforms = transforms;
    this.#signal = signal;
    this.#toPart = onError;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<readonly Out[]>> {
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
      if (this.#state === 'new') this.#open();
      if (this.#state === 'open') this.#read();
      else if (this.#state === 'aborted') this.#fail(this.#signal.reason);
      else this.#settle(NOTHING);
    });
  }

  /** Called when the pipeline is left early, whether or not a read is pending. */
  async return(): Promise<IteratorResult<readonly Out[]>> {
    this.#leave();
    this.#state = 'over';
    this.#settle(NOTHING);
    return { done: true, value: undefined };
  }

  #open(): void {
    const signal = this.#signal;
    const source = this.#source as PipelineOptions<In>['source'];
    this.#source = undefined;
    this.#state = 'open';
    signal.addEventListener('abort', this.#onAbort);
    if (signal.aborted) {
      this.#state = 'aborted';
      return;
    }
    try {
      this.#iterator = openSource(source());
    } catch (error) {
      this.#fail(error);
    }
  }

  #read(): void {
    try {
      this.#iterator?.next().then(this.#onResult, this.#onError);
    } catch (error) {
      this.#fail(error);
    }
  }

  readonly #onResult = (result: IteratorResult<readonly In[]>): void => {
    if (this.#state !== 'open') return;
    try {
      if (result.done) this.#end(NOTHING);
      else this.#pass(result.value);
    } catch (error) {
      this.#fail(error);
    }
  };

  readonly #onError = (error: unknown): void => {
    if (this.#state === 'open') this.#fail(error);
  };

  readonly #onAbort = (): void => {
    if (this.#state !== 'open') return;
    this.#state = 'aborted';
    if (this.#waiter) this.#fail(this.#signal.reason);
    else this.#leave();
  };

  #pass(batch: readonly In[]): void {
    const transforms = this.#transforms;
    if (!Array.isArray(batch)) throw new TypeError('the source yields something else than arrays');
    const passed = pushThrough(transforms, batch);
    this.#batches += 1;
    if (isDone(transforms)) this.#end(passed);
    else if (passed.length > 0) this.#settle(passed);
    else if (this.#batches % BATCHES_PER_TICK === 0) setImmediate(() => this.#read());
    else this.#read();
  }

  #fail(error: unknown): void {
    try {
      this.#end(pushThrough(this.#transforms, [this.#toPart(error)]));
    } catch (reason) {
      this.#leave();
      this.#state = 'over';
      this.#takeWaiter()?.reject(reason);
    }
  }

  #end(passed: readonly unknown[]): void {
    this.#leave();
    const rest = endAll(this.#transforms);
    this.#state = 'over';
    this.#settle(rest.length === 0 ? passed : [...passed, ...rest]);
  }

  /** Nothing more is read from the source. */
  #leave(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
    if (this.#iterator) abandon(this.#iterator);
    this.#source = undefined;
    this.#iterator = undefined;
  }

  /** Nothing to pass on is the end. */
  #settle(passed: readonly unknown[]): void {
    const waiter = this.#takeWaiter();
    if (!waiter) return;
    if (passed.length === 0) waiter.resolve({ done: true, value: undefined });
    else if (this.#batches % BATCHES_PER_TICK !== 0) waiter.resolve({ done: false, value: passed as readonly Out[] });
    else setImmediate(() => waiter.resolve({ done: false, value: passed as readonly Out[] }));
  }

  #takeWaiter(): Waiter<readonly Out[]> | undefined {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    return waiter;
  }
}

/** Passes a batch through every transform, one after the other. */
function pushThrough(transforms: readonly Transform<unknown, unknown>[], batch: readonly unknown[]) {
  let passed = batch;
  for (const transform of transforms) {
    if (passed.length === 0) return NOTHING;
    passed = transform.push(passed);
  }
  return passed;
}

/** What one transform held back still goes through those after it. */
function endAll(transforms: readonly Transform<unknown, unknown>[]): readonly unknown[] {
  let passed: readonly unknown[] = NOTHING;
  for (const transform of transforms) {
    const pushed = passed.length > 0 ? transform.push(passed) : NOTHING;
    const rest = transform.end?.() ?? NOTHING;
    passed = rest.length === 0 ? pushed : [...pushed, ...rest];
  }
  return passed;
}

function isDone(transforms: readonly Transform<unknown, unknown>[]): boolean {
  for (const transform of transforms) if (transform.done) return true;
  return false;
}

/** A plugin may return anything; a rejected promise instead of a source would end the process. */
function openSource<T>(source: AsyncIterable<T>): AsyncIterator<T> {
  if (typeof source?.[Symbol.asyncIterator] === 'function') return source[Symbol.asyncIterator]();
  ignoreRejection(source);
  throw new TypeError('the source is not an async iterable');
}

function abandon(iterator: AsyncIterator<unknown>): void {
  try {
    ignoreRejection(iterator.return?.());
  } catch {
    // A source that throws on return has nothing left to say.
  }
}

function ignoreRejection(result: unknown): void {
  Promise.resolve(result).catch(() => undefined);
}
