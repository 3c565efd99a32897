// Finds timers that a plugin leaves running.
import { createHook } from 'node:async_hooks';
import { fileURLToPath } from 'node:url';

/** Timers that files of the plugin set, also those that keep no process alive. */
export function watchTimers(folder: string): { left(): readonly string[]; end(): void } {
  const timers = new Map<number, string>();
  const { stackTraceLimit } = Error;
  const hook = createHook({
    init(id, type) {
      if (type !== 'Timeout') return;
      Error.stackTraceLimit = 20;
      const place = findPlace(new Error().stack ?? '', folder);
      Error.stackTraceLimit = stackTraceLimit;
      if (place) timers.set(id, place);
    },
    destroy: (id) => void timers.delete(id),
  });
  hook.enable();
  return { left: () => [...timers.values()], end: () => void hook.disable() };
}

/** Where in the folder it was called, if nothing between is of the host. */
function findPlace(stack: string, folder: string): string | undefined {
  const lines = stack.split('\n').slice(1);
  const first = lines.find((line) => !/\bnode:|^\s+at (new )?\S+ \(<anonymous>\)/.test(line) && !line.includes(OWN));
  if (!first) return undefined;
  const path = first.includes('file:')
    ? fileURLToPath(/file:[^)]*?(?=:\d+:\d+\)?$)/.exec(first)?.[0] ?? 'file:///')
    : first;
  return path.includes(folder) ? first.trim() : undefined;
}

const OWN = import.meta.url;
