// Parses the body of a call. Long bodies are parsed on a separate thread: 48 MiB of JSON would block all other calls for
// most of a second.
import { Worker } from 'node:worker_threads';
import { MINUTE_MS } from '../base/durations.ts';
import { type FaultCode, fault } from '../base/faults.ts';
import { parseJson } from '../http/json.ts';
import type { ParseOrder, ParseReply, PartReply } from './body-parser-thread.ts';
import { FORMATS, type Format, type FormatName, type ParsedRequest } from './formats.ts';
import type { Joining } from './parts.ts';

export interface BodyParser {
  /**
   * Reads a request; throws or rejects with 400 faults, or with the signal's reason if it aborts first. The bytes are
   * released. For a long body, `inspectHead` gets the request without texts and images first, and may refuse it.
   */
  parse<Name extends FormatName>(
    bytes: Buffer,
    options: ParseOptions<Name>,
  ): ParsedRequest<Name> | Promise<ParsedRequest<Name>>;
  close(): Promise<void>;
}

interface ParseOptions<Name extends FormatName> {
  readonly format: Name;
  readonly signal: AbortSignal;
  inspectHead?(head: ParsedRequest<Name>): Promise<void>;
}

/** Up to this length, parsing a body is faster than passing it to a thread. */
const SHORT_BYTES_MAX = 256 * 1024;
/**
 * An idle thread is stopped after this long. To start one takes 260 ms (`npm run bench -- --parts`), for which an agent with
 * a long history would wait in each call, since most of its calls are further apart than some seconds.
 */
const IDLE_MS = MINUTE_MS;
/** The thread is stopped at once after a longer body: its garbage could stay in memory for long. */
const LARGE_BYTES = 8 * 1024 * 1024;
/** Enough for a body as text and as values, at two bytes per character. */
const THREAD_HEAP_MB = 320;
/** Parsed values live until the end of the body, so a larger young generation would not help. */
const THREAD_YOUNG_MB = 8;

/** `tsc` does not rewrite this path. */
const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? './body-parser-thread.ts' : './body-parser-thread.js',
  import.meta.url,
);

/** A body of any format. */
interface Job {
  readonly bytes: Buffer;
  readonly format: FormatName;
  /** Kept, because the bytes are transferred to the thread. */
  readonly isLarge: boolean;
  readonly inspectHead: ((head: object) => Promise<void>) | undefined;
  readonly resolve: (request: object) => void;
  readonly reject: (reason: unknown) => void;
}

export function createBodyParser({ idleMs = IDLE_MS }: { readonly idleMs?: number } = {}): BodyParser {
  const waiting: Job[] = [];
  let running: Job | undefined;
  const thread = createThread({
    idleMs,
    onReply: (reply) => {
      if ('head' in reply || 'group' in reply) {
        takePart(reply);
        return;
      }
      const reason = 'fault' in reply ? fault(reply.fault.code as FaultCode, reply.fault.detail) : reply.error;
      endJob((job) => job.reject(reason));
    },
    onDeath: (error) => endJob((job) => job.reject(fault('internal', {}, error))),
  });
  let joining: Joining<object> | undefined;

  function takePart(reply: PartReply): void {
    if ('head' in reply) {
      if (running) joining = (FORMATS[running.format] as Format).join(reply.head);
      void inspectHead(reply.head);
      return;
    }
    joining?.add(reply.group);
    const whole = joining?.whole();
    if (reply.more || !whole) thread.post('next');
    else endJob((job) => job.resolve(whole));
  }

  /** The thread and the waiting bodies wait for this: it is a single read of the store. */
  async function inspectHead(head: object): Promise<void> {
    const job = running;
    try {
      await job?.inspectHead?.(head);
      if (running === job) thread.post('next');
    } catch (error) {
      if (running === job) endJob(() => job?.reject(error));
    }
  }

  function startNext(): void {
    if (running) return;
    running = waiting.shift();
    if (!running) {
      thread.startIdleTimer();
      return;
    }
    const { bytes, format } = running;
    thread.post({ format, bytes }, [bytes.buffer as ArrayBuffer]);
  }

  function endJob(settle: (job: Job) => void): void {
    const job = running;
    running = joining = undefined;
    if (job?.isLarge) void thread.stop();
    if (job) settle(job);
    startNext();
  }

  function parseInThread<Name extends FormatName>(
    bytes: Buffer,
    options: ParseOptions<Name>,
  ): Promise<ParsedRequest<Name>> {
    return new Promise((resolve, reject) => {
      const { format, signal, inspectHead } = options;
      const isLarge = bytes.length > LARGE_BYTES;
      const job = { bytes, format, isLarge, inspectHead, resolve, reject } as Job;
      const onAbort = () => {
        const at = waiting.indexOf(job);
        if (at !== -1) waiting.splice(at, 1);
        reject(signal.reason);
      };
      if (signal.aborted) {
        onAbort();
        return;
      }
      signal.addEventListener('abort', onAbort);
      waiting.push(job);
      startNext();
    });
  }

  return {
    parse<Name extends FormatName>(bytes: Buffer, options: ParseOptions<Name>) {
      if (bytes.length > SHORT_BYTES_MAX) return parseInThread(bytes, options);
      return FORMATS[options.format].parse(parseJson(bytes)) as ParsedRequest<Name>;
    },
    close: thread.stop,
  };
}

interface ThreadOptions {
  readonly idleMs: number;
  readonly onReply: (reply: ParseReply) => void;
  readonly onDeath: (error: unknown) => void;
}

interface Thread {
  post(order: ParseOrder, transfer?: readonly ArrayBuffer[]): void;
  /** Stops the thread unless another order follows soon. */
  startIdleTimer(): void;
  stop(): Promise<void>;
}

function createThread({ idleMs, onReply, onDeath }: ThreadOptions): Thread {
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;

  function start(): Worker {
    const started = new Worker(THREAD, {
      name: 'tollgate-parser',
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB, maxYoungGenerationSizeMb: THREAD_YOUNG_MB },
    });
    const onEnd = (error: unknown) => {
      if (worker !== started) return;
      worker = undefined;
      onDeath(error);
    };
    // A thread that is given up may still answer: to ask it for more would never end.
    const onMessage = (reply: ParseReply) => {
      if (worker === started) onReply(reply);
    };
    started.on('message', onMessage).on('error', onEnd);
    started.on('exit', () => onEnd(new Error('the parser thread exited')));
    started.unref();
    return started;
  }

  async function stop(): Promise<void> {
    const ending = worker;
    clearTimeout(idle);
    worker = idle = undefined;
    await ending?.terminate();
  }

  return {
    post(order, transfer = []) {
      clearTimeout(idle);
      idle = undefined;
      worker ??= start();
      worker.postMessage(order, transfer);
    },
    startIdleTimer() {
      idle ??= setTimeout(() => void stop(), idleMs).unref();
    },
    stop,
  };
}
