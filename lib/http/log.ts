// The log: buffered JSON lines by pino, with every secret scrubbed from the finished text, wherever it appears.
import { openSync } from 'node:fs';
import { type Logger, pino, stdTimeFunctions } from 'pino';

export interface Log extends Logger {
  /** Values to scrub from all later lines. */
  addSecrets(secrets: readonly string[]): void;
  /** Like `info` at a fifth of its cost, which would be 1 % of a call: for the line of every request. */
  line(fields: object, message: string): void;
  /**
   * Resolves when all lines are written, or after a second: to false if a write waits in a thread for the reader of the
   * pipe, so that the process cannot end by itself. Await it before ending the process.
   */
  written(): Promise<boolean>;
}

export interface LogOptions {
  /** The lowest level that is written: `logLevel` of the configuration. */
  readonly level: string;
  /** What keys begin with, to scrub them: `keyPrefix` of the configuration. */
  readonly keyPrefix: string;
  /** A file descriptor or a path; 1 is stdout. */
  readonly destination?: number | string;
  /**
   * Other processes write to the same destination: a write larger than a pipe takes at once may be interleaved with
   * theirs.
   */
  readonly isShared?: boolean;
}

const SCRUBBED = '[secret]';
/** Tokens of one-time links and names of stored files, also URL-encoded. */
const LINKS = /((?<!_)token(?:=|%(?:25)*3D)|media(?:\/|%(?:25)*2F)[0-9A-Za-z]{6})[\w-]{16,}/gi;
const HAS_LINK = /token[=%]|media[/%]/;
/** Shorter values are not treated as secrets: scrubbing them would garble the log. */
const SECRET_LENGTH_MIN = 8;
/** Flushed when full, and every `FLUSH_MS`. */
const BUFFER_BYTES = 65_536;
/** What Linux writes to a pipe atomically (`PIPE_BUF`). */
const WHOLE_BYTES = 4096;
const FLUSH_MS = 250;
/** How long the last lines may take. */
const WRITTEN_MS = 1000;
/** How long an ending process waits for a reader of the pipe that takes nothing. */
const STUCK_MS = 500;
/** Lines beyond this are dropped while the destination cannot be written. */
const WAITING_BYTES_MAX = 4 * 1024 * 1024;

export function createLog({ level, keyPrefix, destination = 1, isShared = false }: LogOptions): Log {
  // Its first use makes a pipe non-blocking, until a process that inherits it starts or ends: a full one then refuses
  // writes, which a thread would wait for otherwise.
  if (destination === 1) void process.stdout;
  const reader = watchReader();
  const output = pino.destination({
    // Opened here: pino opens lazily, and `flushSync` fails before that.
    dest: typeof destination === 'string' ? openSync(destination, 'a') : destination,
    sync: false,
    minLength: isShared ? WHOLE_BYTES - 1 : BUFFER_BYTES,
    maxWrite: isShared ? WHOLE_BYTES : 2 * BUFFER_BYTES,
    maxLength: WAITING_BYTES_MAX,
    retryEAGAIN: reader.decideRetry,
    // In text mode the length of all waiting lines is measured again with each line: a quarter of a call's allocations.
    contentMode: 'buffer',
  });
  surviveFailures(output, reader);
  let secrets: readonly string[] = [];
  const prefix = keyPrefix.replace(/[^a-z0-9-]/g, '');
  const markers = [`${prefix}sk-`, `${prefix}mk-`] as const;
  const marker = `${prefix}[sm]k-`;
  // A match stops where the next key begins, in case two are adjacent.
  const keys = new RegExp(`${marker}(?:(?!${marker})[0-9A-Za-z]){8,}`, 'g');
  // Keys from another gateway have no prefix, and at least this many characters.
  const moved = /\bsk-[0-9A-Za-z_-]{16,}/g;
  const scrub = (line: string): string => {
    let text = line;
    for (const secret of secrets) if (text.includes(secret)) text = text.replaceAll(secret, SCRUBBED);
    if (HAS_LINK.test(text)) text = text.replace(LINKS, `$1${SCRUBBED}`);
    if (markers.some((each) => text.includes(each))) text = text.replace(keys, SCRUBBED);
    return text.includes('sk-') ? text.replace(moved, SCRUBBED) : text;
  };
  // The types of sonic-boom only allow strings.
  const bytes = output as unknown as { write(line: Buffer): boolean };
  const noteWaiting = flushRegularly(output);
  const stream = {
    write(line: string): boolean {
      const scrubbed = Buffer.from(scrub(line));
      noteWaiting(scrubbed.length);
      return bytes.write(scrubbed);
    },
  };
  const log = pino({ level, base: null, timestamp: stdTimeFunctions.isoTime, formatters }, stream) as unknown as Log;
  outputs.add(output);
  log.written = () =>
    new Promise((resolve) => {
      const timer = setTimeout(() => resolve(reader.isHeardOf()), WRITTEN_MS);
      output.flush(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  log.line = (fields, message) => {
    if (!log.isLevelEnabled('info')) return;
    const time = stdTimeFunctions.isoTime();
    try {
      stream.write(`{"level":"info"${time},${JSON.stringify({ ...fields, msg: message }).slice(1)}\n`);
    } catch {
      // pino handles circular references.
      log.info(fields, message);
    }
  };
  log.addSecrets = (values) => {
    const found = values.filter(({ length }) => length >= SECRET_LENGTH_MIN).flatMap(listSpellings);
    // Longest first: replacing a secret inside a longer one would leave the rest of it.
    secrets = [...new Set([...secrets, ...found])].sort((a, b) => b.length - a.length);
  };
  return log;
}

/** The plain value, and as it looks in JSON, in JSON inside JSON, and in a URL. */
function listSpellings(secret: string): readonly string[] {
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  const once = inJson(secret.toWellFormed());
  return [secret, once, inJson(once), encodeURIComponent(secret.toWellFormed())];
}

/** Flushes while lines are waiting; an empty flush would be a system call, too. Call the result with each line's size. */
function flushRegularly(output: ReturnType<typeof pino.destination>): (bytes: number) => void {
  let waiting = 0;
  output.on('write', (bytes: number) => {
    waiting -= bytes;
  });
  output.on('drop', (line: Buffer) => {
    waiting -= line.length;
  });
  setInterval(() => {
    if (waiting > 0) output.flush();
  }, FLUSH_MS).unref();
  return (bytes) => {
    waiting += bytes;
  };
}

/** Whoever reads the pipe that the log is written to. */
interface Reader {
  /** Whether a write that the full pipe refused is tried again, given its bytes and those waiting behind it. */
  decideRetry(error: Error, writing: number, waiting: number): boolean;
  /** Whether the pipe has taken or refused something of late: a write does not wait in a thread. */
  isHeardOf(): boolean;
  /** From now on a write is tried again only as long as the reader takes something. */
  end(): void;
  taken(): void;
}

function watchReader(): Reader {
  let ending = false;
  let least = Number.POSITIVE_INFINITY;
  let takenAt = 0;
  let refusedAt = 0;
  const taken = () => {
    takenAt = performance.now();
  };
  return {
    decideRetry(_error, writing, waiting) {
      refusedAt = performance.now();
      if (!ending) return true;
      if (writing + waiting < least) taken();
      least = writing + waiting;
      return refusedAt - takenAt < STUCK_MS;
    },
    isHeardOf: () => performance.now() - Math.max(takenAt, refusedAt) < STUCK_MS,
    end() {
      ending = true;
    },
    taken,
  };
}

/**
 * A log that cannot be written, for example because the disk is full, fails no call; every flush retries. Neither that
 * nor a pipe that nobody reads keeps the process from ending, for which pino and this file call `flushSync`.
 */
function surviveFailures(output: ReturnType<typeof pino.destination>, reader: Reader): void {
  let failing = false;
  output.on('error', () => {
    failing = true;
  });
  output.on('write', () => {
    failing = false;
    reader.taken();
  });
  const flushSync = output.flushSync.bind(output);
  output.flushSync = () => {
    // It would retry for ever.
    if (failing) return;
    reader.end();
    try {
      flushSync();
    } catch {
      // Passed on, it would keep the process from ending.
      failing = true;
    }
  };
}

/** Buffered lines are written when the process ends. */
const outputs = new Set<{ flushSync(): void }>();
process.on('exit', () => {
  for (const output of outputs) output.flushSync();
});

const formatters = { level: (label: string) => ({ level: label }) };
