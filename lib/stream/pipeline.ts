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

export interface PipelineOptions<In> {
  readonly source: AsyncIterable<readonly In[]>;
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

export async function* pipeline<In, Out>(options: PipelineOptions<In>): AsyncGenerator<readonly Out[], void> {
  const { source, transforms, signal, onError } = options;
  let batches = 0;
  let reader: AbortableReader<readonly In[]> | undefined;
  try {
    reader = new AbortableReader(openSource(source), signal);
    for await (const batch of reader) {
      if (!Array.isArray(batch)) throw new TypeError('the source yields something else than arrays');
      const passed = pushThrough(transforms, batch);
      if (passed.length > 0) yield passed as readonly Out[];
      if (isDone(transforms)) break;
      batches += 1;
      if (batches % BATCHES_PER_TICK === 0) await nextTick();
    }
  } catch (error) {
    const passed = pushThrough(transforms, [onError(error)]);
    if (passed.length > 0) yield passed as readonly Out[];
  } finally {
    reader?.close();
  }
  const rest = endAll(transforms);
  if (rest.length > 0) yield rest as readonly Out[];
}

/** Passes a batch through every transform, one after the other. */
export function pushThrough(transforms: readonly Transform<unknown, unknown>[], batch: readonly unknown[]) {
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

const nextTick = () => new Promise((resolve) => setImmediate(resolve));

/**
 * Reads a source, and rejects with the signal's reason as soon as it aborts. A source that does not obey is abandoned,
 * and its late errors are ignored.
 */
class AbortableReader<T> implements AsyncIterableIterator<T> {
  readonly #iterator: AsyncIterator<T>;
  readonly #signal: AbortSignal;
  /** Of the pending read. */
  #reject: ((reason: unknown) => void) | undefined;

  constructor(iterator: AsyncIterator<T>, signal: AbortSignal) {
    this.#iterator = iterator;
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T>> {
    return new Promise((resolve, reject) => {
      this.#signal.throwIfAborted();
      this.#reject = reject;
      this.#iterator.next().then(resolve, reject);
    });
  }

  /** Called when the reader is left early, whether or not a read is pending. */
  async return(): Promise<IteratorResult<T>> {
    this.close();
    abandon(this.#iterator);
    return { done: true, value: undefined };
  }

  readonly #onAbort = (): void => {
    this.#reject?.(this.#signal.reason);
    this.close();
    abandon(this.#iterator);
  };

  /** Nothing more is read. */
  close(): void {
    this.#reject = undefined;
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}

/** A plugin may return anything; a rejected promise instead of a source would end the process. */
export function openSource<T>(source: AsyncIterable<T>): AsyncIterator<T> {
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
