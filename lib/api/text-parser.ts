// From the body of a text call to its request. A long body is parsed by a thread of its own: 48 MiB of JSON keep a
// thread busy for most of a second, and this one serves everybody.
import { Worker } from 'node:worker_threads';
import { type FaultCode, fault } from '../faults.ts';
import { parseJson } from '../http/json.ts';
import type { TextRequest } from '../text/request.ts';
import { chatDialect } from './dialects/chat/dialect.ts';
import type { Dialect } from './dialects/dialect.ts';
import { messageDialect } from './dialects/message/dialect.ts';
import { joinRequest, type ParseOrder, type ParseReply, type PartReply } from './text-parts.ts';

export interface TextParser {
  /**
   * Reads a request; throws or rejects with 400 faults, or with the signal's reason when it aborts first. The bytes are
   * gone afterwards. Of a long one `look` sees what is known without its texts, and may refuse it before they come.
   */
  parse(bytes: Buffer, options: ParseOptions): TextRequest | Promise<TextRequest>;
  close(): Promise<void>;
}

export interface ParseOptions {
  readonly dialect: Dialect['name'];
  readonly signal: AbortSignal;
  readonly look?: (request: TextRequest) => Promise<void>;
}

/** Up to this length a body takes less time than handing it over. */
const SHORT_BYTES_MAX = 256 * 1024;
/** A thread that has nothing to do for so long ends. */
const IDLE_MS = 5000;
/** After a body above this length it ends at once: garbage of that size may lie about for long. */
const LARGE_BYTES = 8 * 1024 * 1024;
/** The text and its values, in characters of two bytes, and some room. */
const THREAD_HEAP_MB = 320;
/** Values of a body live until its end: more room for young ones would only be filled. */
const THREAD_YOUNG_MB = 8;

/** `tsc` renames imports, not this. */
const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? './text-parser-thread.ts' : './text-parser-thread.js',
  import.meta.url,
);

const DIALECTS = { message: messageDialect, chat: chatDialect };

interface Job {
  readonly bytes: Buffer;
  readonly options: ParseOptions;
  readonly resolve: (request: TextRequest) => void;
  readonly reject: (reason: unknown) => void;
}

export function createTextParser({ idleMs = IDLE_MS }: { readonly idleMs?: number } = {}): TextParser {
  const waiting: Job[] = [];
  let running: Job | undefined;
  let isLarge = false;
  const thread = createThread({
    idleMs,
    onReply: (reply) => {
      if ('request' in reply || 'steps' in reply) {
        read(reply);
        return;
      }
      const reason = 'fault' in reply ? fault(reply.fault.code as FaultCode, reply.fault.detail) : reply.error;
      end((job) => job.reject(reason));
    },
    onDeath: (error) => end((job) => job.reject(fault('internal', {}, error))),
  });
  let joined: ReturnType<typeof joinRequest> | undefined;

  function read(reply: PartReply): void {
    if ('request' in reply) {
      joined = joinRequest(reply.request);
      void look(reply.request);
      return;
    }
    joined?.add(reply.steps);
    const whole = joined?.whole();
    if (reply.more || !whole) thread.post('next');
    else end((job) => job.resolve(whole));
  }

  /** The thread waits meanwhile, as do those behind this one: it is one read of the store. */
  async function look(request: TextRequest): Promise<void> {
    const job = running;
    try {
      await job?.options.look?.(request);
      if (running === job) thread.post('next');
    } catch (error) {
      if (running === job) end(() => job?.reject(error));
    }
  }

  function next(): void {
    if (running) return;
    running = waiting.shift();
    if (!running) {
      thread.rest();
      return;
    }
    const { bytes, options } = running;
    const { dialect } = options;
    isLarge = bytes.length > LARGE_BYTES;
    thread.post({ dialect, bytes }, [bytes.buffer as ArrayBuffer]);
  }

  function end(settle: (job: Job) => void): void {
    const job = running;
    running = joined = undefined;
    if (isLarge) void thread.stop();
    isLarge = false;
    if (job) settle(job);
    next();
  }

  function parseAside(bytes: Buffer, options: ParseOptions): Promise<TextRequest> {
    return new Promise((resolve, reject) => {
      const { signal } = options;
      const job = { bytes, options, resolve, reject };
      const onAbort = () => {
        const at = waiting.indexOf(job);
        if (at !== -1) waiting.splice(at, 1);
        reject(signal.reason);
      };
      if (signal.aborted) {
        onAbort();
        return;
      }
      signal.addEventListener('abort', onAbort, { once: true });
      waiting.push(job);
      next();
    });
  }

  return {
    parse: (bytes, options) =>
      bytes.length > SHORT_BYTES_MAX ? parseAside(bytes, options) : DIALECTS[options.dialect].parse(parseJson(bytes)),
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
  /** There is nothing to do for now. */
  rest(): void;
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
    started.on('message', onReply).on('error', onEnd);
    started.on('exit', () => onEnd(new Error('the parser thread ended')));
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
    rest() {
      idle ??= setTimeout(() => void stop(), idleMs).unref();
    },
    stop,
  };
}
