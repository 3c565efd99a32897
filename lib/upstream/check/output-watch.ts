// Watches what a plugin logs and prints while it is checked: no secret of its settings may be in it.
import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';

/** Says whether the text has a secret. */
type Watcher = (text: string) => boolean;

const watchers = new Set<Watcher>();
const STREAMS = [process.stdout, process.stderr];

export interface OutputWatch {
  /** For what reaches the gateway's log. */
  readonly log: { warn(message: string, fields?: object): void; debug?(message: string, fields: object): void };
  /** Stops watching; throws if a secret was seen. */
  end(): void;
}

/** What was said of each plugin: whatever prints a secret does so in most checks. */
const reported = new WeakMap<object, Set<string>>();

/**
 * `secrets` is asked again for each text, because some are known only once the plugin has its settings. Each place is
 * reported once for a plugin.
 */
export function watchOutput(plugin: object, secrets: () => readonly string[]): OutputWatch {
  let place: string | undefined;
  const searchSecrets = (where: string, text: string) => {
    const spellings = secrets().flatMap(spellSecret);
    const isSecret = spellings.some((spelling) => text.includes(spelling));
    if (isSecret) place ??= where;
    return isSecret;
  };
  const watcher: Watcher = (text) => searchSecrets('printed', text);
  if (watchers.size === 0) tapStreams();
  watchers.add(watcher);
  const watchLog = (message: string, fields?: object) => {
    searchSecrets('logged', `${message} ${JSON.stringify(fields)}`);
  };
  return {
    log: { warn: watchLog, debug: watchLog },
    end() {
      watchers.delete(watcher);
      if (watchers.size === 0) untapStreams();
      if (place === undefined) return;
      const known = reported.get(plugin) ?? new Set();
      reported.set(plugin, known);
      if (known.has(place)) return;
      known.add(place);
      assert.fail(`a secret of the settings is ${place}: reported once, although other checks may see it, too`);
    },
  };
}

/** How a secret looks as it is, in a URL, and encoded. */
export function spellSecret(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [secret, encodeURIComponent(secret), bytes.toString('base64'), bytes.toString('hex')];
}

let untapStreams = () => {};

/** The console writes by the streams' own `write`, too. */
function tapStreams(): void {
  const before = STREAMS.map((stream) => Object.getOwnPropertyDescriptor(stream, 'write'));
  untapStreams = () => {
    for (const [at, stream] of STREAMS.entries()) {
      const own = before[at];
      if (own) Object.defineProperty(stream, 'write', own);
      else Reflect.deleteProperty(stream, 'write');
    }
  };
  for (const stream of STREAMS) {
    const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
    Object.defineProperty(stream, 'write', {
      configurable: true,
      value(chunk: unknown, ...rest: unknown[]) {
        const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString('utf8');
        const isSecret = [...watchers].map((watcher) => watcher(text)).includes(true);
        return write(isSecret ? '[secret]\n' : chunk, ...rest);
      },
    });
  }
}
