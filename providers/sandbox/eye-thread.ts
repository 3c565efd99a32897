// The thread that decodes one call's images: a large one takes long, and a broken one crashes the decoder.
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { PhotonImage, resize, SamplingFilter } from '@silvia-odwyer/photon-node';
import type { Look, Sight } from './eye.ts';

// On Linux this affects only the thread: if cores are scarce, callers come first.
if (process.platform === 'linux') setPriority(10);

parentPort?.postMessage((workerData as readonly Look[]).map(see));

function see({ bytes, within }: Look): Sight {
  const image = PhotonImage.new_from_byteslice(bytes);
  const width = image.get_width();
  const height = image.get_height();
  const scale = Math.min(within.width / width, within.height / height);
  const seen = {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  };
  const rgba = resize(image, seen.width, seen.height, SamplingFilter.Nearest).get_raw_pixels();
  image.free();
  return { width, height, seen, rgb: onWhite(rgba) };
}

function onWhite(rgba: Uint8Array): Uint8Array<ArrayBuffer> {
  const rgb = new Uint8Array((rgba.length / 4) * 3);
  for (let from = 0, to = 0; from < rgba.length; from += 4, to += 3) {
    const alpha = (rgba[from + 3] as number) / 255;
    for (let band = 0; band < 3; band += 1) rgb[to + band] = (rgba[from + band] as number) * alpha + 255 * (1 - alpha);
  }
  return rgb;
}
