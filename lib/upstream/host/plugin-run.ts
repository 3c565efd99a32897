// One run of a plugin's code, in an async context of its own: what it sends is noted there, and what it leaves unhandled,
// a rejection that nobody awaits, an exception in a timer or an emitter, fails the run instead of ending the process.
import { AsyncLocalStorage } from 'node:async_hooks';
import { pathToFileURL } from 'node:url';
import type { AnswerMemory } from '../../stream/answer-memory.ts';
import type { Key } from './key-ring.ts';

/** Whose code runs. */
export interface PluginName {
  /** `Upstream`, `Payment provider`; `Plugin` where only the plugin is known. */
  readonly title: string;
  /** In the catalog. */
  readonly name: string;
}

const UPSTREAM = 'Upstream';

export function nameUpstream(name: string): PluginName {
  return { title: UPSTREAM, name };
}

export function isUpstream({ title }: PluginName): boolean {
  return title === UPSTREAM;
}

/** The names of the header in which vendors tell the id of a request. */
const REQUEST_ID_HEADERS = ['x-request-id', 'request-id', 'x-generation-id', 'x-trace-id'];

const REQUEST_ID_CHARS_MAX = 100;

/** A request of a run that was refused with one key, and then sent with another. */
interface RefusedRequest {
  readonly keyPlace: number | null;
  readonly requestId: string | null;
  /** On the clock of `performance.now()`. */
  readonly startedAt: number;
  readonly endedAt: number;
}

/** One call of a plugin's code, and how it is told that it has failed. */
export class PluginRun implements PluginName {
  readonly title: string;
  readonly name: string;
  /** The id of the upstream's key that its last request was sent with. */
  keyId: string | undefined;
  /** The position of that key in the settings, from 1. */
  keyPlace: number | null = null;
  /** The vendor's id of its last request, as headers name it; polls do not count. */
  requestId: string | null = null;
  /** When its last request was sent, on the clock of `performance.now()`; undefined if none was. */
  sentAt: number | undefined;
  refused: RefusedRequest[] | undefined;
  /** What came of each POST that may have arrived all the same, by its URL. */
  lostSubmits: Map<string, Error> | undefined;
  /** How many polls of `host.poll` are asking just now. */
  polls = 0;
  /** Counts what the answer to the call takes; undefined if nothing is measured. */
  memory: AnswerMemory | undefined;
  #fail: ((error: Error) => void) | undefined;

  constructor({ title, name }: PluginName, fail?: (error: Error) => void) {
    this.title = title;
    this.name = name;
    this.#fail = fail;
  }

  noteRequest(key: Key | undefined): void {
    this.keyId = key?.id;
    this.keyPlace = key?.place ?? null;
    this.sentAt = performance.now();
  }

  /** The reply to that request has begun. */
  noteReply(headers: Readonly<Record<string, string | string[] | undefined>>): void {
    const id = REQUEST_ID_HEADERS.map((name) => headers[name]).find((value) => typeof value === 'string');
    if (id !== undefined) this.requestId = id.slice(0, REQUEST_ID_CHARS_MAX);
  }

  /** That request was refused, and is sent again with another key. */
  noteRefusal(): void {
    const { keyPlace, requestId, sentAt = 0 } = this;
    this.refused ??= [];
    this.refused.push({ keyPlace, requestId, startedAt: sentAt, endedAt: performance.now() });
    this.requestId = null;
  }

  /** Does nothing once it is over. */
  fail(reason: unknown): void {
    this.#fail?.(new Error('the plugin has left an error unhandled', { cause: reason }));
  }

  /** The call is over. Connections that it has opened keep its context, which must not keep the call. */
  end(): void {
    this.#fail = undefined;
    this.memory = undefined;
  }
}

const running = new AsyncLocalStorage<PluginRun>();

/** Runs a plugin's code: what it leaves unhandled, then or later, is its own. */
export function runPlugin<T>(run: PluginRun, work: () => T): T {
  return running.run(run, work);
}

/** Undefined outside of a call. */
export function readPluginRun(): PluginRun | undefined {
  return running.getStore();
}

/** Asks within `host.poll`: requests of this run may be repeated meanwhile. */
export async function askAsPoll<T>(ask: () => Promise<T>): Promise<T> {
  const run = running.getStore();
  if (!run) return ask();
  run.polls += 1;
  try {
    return await ask();
  } finally {
    run.polls -= 1;
  }
}

export function isPolling({ polls }: PluginRun): boolean {
  return polls > 0;
}

/** By folder, as stacks name it. */
const folders = new Map<string, PluginName>();

export function notePluginFolder(folder: string, name: string): void {
  folders.set(`${pathToFileURL(folder).href}/`, { title: 'Plugin', name });
}

/**
 * The plugin that left this error unhandled; undefined if none did. Call it in the handler of the error. What a plugin
 * started while it was loaded is recognised by its stack.
 */
export function findFailingPlugin(error: unknown): PluginRun | undefined {
  const run = running.getStore();
  if (run) return run;
  const stack = error instanceof Error ? String(error.stack) : '';
  for (const [folder, name] of folders) if (stack.includes(folder)) return new PluginRun(name);
  return undefined;
}

/**
 * Awaits a plugin's method; rejects as well when that leaves an error unhandled. The signal it gets is another one: a
 * listener of it runs as the plugin's, too. `onRun` is called with the run, which tells what it has sent.
 */
export function callPlugin<T>(
  name: PluginName,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  onRun?: (run: PluginRun) => void,
): Promise<T> {
  const inner = new AbortController();
  const { promise: failed, reject } = Promise.withResolvers<never>();
  const abort = (reason: unknown) => runPlugin(run, () => inner.abort(reason));
  const run = new PluginRun(name, (error) => {
    reject(error);
    abort(error);
  });
  onRun?.(run);
  const onAbort = () => abort(outer.reason);
  if (outer.aborted) onAbort();
  else outer.addEventListener('abort', onAbort, { once: true });
  const result = runPlugin(run, async () => work(inner.signal));
  return Promise.race([result, failed]).finally(() => {
    run.end();
    outer.removeEventListener('abort', onAbort);
  });
}

type Method = (...args: unknown[]) => unknown;

/** By the plugin's object: one that stays open over a reload of the catalog keeps its guard. */
const guards = new WeakMap<object, object>();

/** A plugin's object with each of its methods called so; those without a signal, which comes last, just run as its own. */
export function guardMethods<Made extends object>(made: Made, name: PluginName): Made {
  const known = (guards.get(made) as Made | undefined) ?? guardAnew(made, name);
  guards.set(made, known);
  return known;
}

function guardAnew<Made extends object>(made: Made, name: PluginName): Made {
  const guarded = new WeakMap<Method, Method>();
  const guard = (method: Method): Method => {
    const call: Method = (...args) => {
      const signal = args.at(-1);
      if (!(signal instanceof AbortSignal)) return runPlugin(new PluginRun(name), () => method.apply(made, args));
      return callPlugin(name, signal, async (inner) => method.apply(made, [...args.slice(0, -1), inner]));
    };
    guarded.set(method, call);
    return call;
  };
  // Not a proxy of the object itself, which may be frozen.
  return new Proxy({} as Made, {
    has: (_, key) => key in made,
    get(_, key) {
      const value: unknown = Reflect.get(made, key);
      return typeof value === 'function' ? (guarded.get(value as Method) ?? guard(value as Method)) : value;
    },
  });
}
