// A progress bar on stderr, if it is a terminal.
import type { OnProgress } from '../store/store.ts';

export interface Bar {
  readonly show: OnProgress | undefined;
  /** Removes the bar. */
  end(): void;
}

const BAR_WIDTH = 40;

export function createBar(stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>): Bar {
  if (!stream.isTTY) return { show: undefined, end: () => undefined };
  let shown = '';
  return {
    show({ done, total, unit }) {
      const share = total === 0 ? 1 : Math.min(1, done / total);
      const filled = Math.round(share * BAR_WIDTH);
      const line = `[${'#'.repeat(filled).padEnd(BAR_WIDTH, '.')}] ${done} of ${total} ${unit}`;
      if (line !== shown) stream.write(`\r${line}`);
      shown = line;
    },
    end: () => void stream.write('\r\x1b[K'),
  };
}

/** Shows the progress of `work` until it ends, however it ends. */
export async function withBar<T>(work: (onProgress: OnProgress | undefined) => Promise<T>): Promise<T> {
  const bar = createBar(process.stderr);
  try {
    return await work(bar.show);
  } finally {
    bar.end();
  }
}
