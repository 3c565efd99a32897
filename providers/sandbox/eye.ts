// Looks at images in a separate thread, one call at a time, so that many calls take no more memory than one.
import { Worker } from 'node:worker_threads';
import type { Host, ImageInput, Size } from '../../lib/upstream/contract/provider.ts';
import { untilAborted } from './markers.ts';

/** An image, and the size to fit it into. */
export interface Look {
  readonly bytes: Uint8Array;
  readonly within: Size;
}

/** What an image looks like. */
export interface Sight extends Size {
  /** The size it was scaled to. */
  readonly seen: Size;
  /** Three bytes per pixel, of `seen`. */
  readonly rgb: Uint8Array;
}

export type Eye = (images: readonly ImageInput[], within: Size, signal: AbortSignal) => Promise<readonly Sight[]>;

/** `tsc` rewrites imports, but not this. */
const THREAD = new URL(import.meta.url.endsWith('.ts') ? './eye-thread.ts' : './eye-thread.js', import.meta.url);

/** Decoding takes several times four bytes per pixel. */
const PIXELS_MAX = 50_000_000;

export function createEye(host: Host): Eye {
  let last: Promise<unknown> = Promise.resolve();

  return (images, within, signal) => {
    if (images.some(({ size }) => size && size.width * size.height > PIXELS_MAX)) {
      const limit = `more than ${PIXELS_MAX / 1e6} million pixels`;
      return Promise.reject(host.fault.make('request', limit, { status: 400, about: 'image' }));
    }
    const looks = images.map(({ bytes }) => ({ bytes, within }));
    const turn = last.then(() => inThread(looks, signal));
    last = turn.catch(() => {});
    // An aborted call does not wait for the calls before it.
    return Promise.race([turn, untilAborted(signal)]).catch((error) => {
      signal.throwIfAborted();
      throw host.fault.make('request', `an image does not decode: ${error}`, { status: 400, about: 'image' });
    });
  };
}

async function inThread(looks: readonly Look[], signal: AbortSignal): Promise<readonly Sight[]> {
  signal.throwIfAborted();
  const worker = new Worker(THREAD, { name: 'sandbox-eye', workerData: looks });
  const stop = () => void worker.terminate();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await new Promise((resolve, reject) => {
      worker.on('message', resolve).on('error', reject);
      worker.on('exit', () => reject(new Error('the thread ended')));
    });
  } finally {
    signal.removeEventListener('abort', stop);
    await worker.terminate();
  }
}
