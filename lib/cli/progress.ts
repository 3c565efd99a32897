// A progress bar on stderr, if it is a terminal.
import type { OnProgress } from '../store/store.ts';

interface Bar {
  readonly show: OnProgress | undefined;
  /** Removes the bar. */
  end(): void;
}

const BAR_WIDTH = 40;

export function createBar(stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>): Bar {
  if (!stream.isTTY) return { show: undefined, end: () => undefined };
  let lastLine = '';
  return {
    show({ done, total, unit }) {
      const fraction = total === 0 ? 1 : Math.min(1, done / total);
      const filled = Math.round(fraction * BAR_WIDTH);
      const line = `[${'#'.repeat(filled).padEnd(BAR_WIDTH, '.')}] ${done} of ${total} ${unit}`;
      if (line !== lastLine) stream.write(`\r${line}`);
      lastLine = line;
    },
    end: () => void stream.write('\r\x1b[K'),
  };
}

/** Shows the progress of `work`, and removes the bar after success or failure. */
export async function withBar<T>(work: (onProgress: OnProgress | undefined) => Promise<T>): Promise<T> {
  const bar = createBar(process.stderr);
  try {
    return await work(bar.show);
  } finally {
    bar.end();
  }
}
