// A separate process that writes a media file: to be killed, or to meet a full disk.
import { openSqliteStore } from '../../../lib/store/sqlite/store.ts';
import { StoreError } from '../../../lib/store/store.ts';
import { newMedia } from '../../contract/store/media.ts';

const [, , task, path = '', id = ''] = process.argv;
const store = await openSqliteStore(path);
const media = newMedia({ id, expiresAt: Date.now() + 3_600_000 });

/** `hold`: some bytes, and then nothing for ever. `fill`: more than the disk takes. */
async function* source(): AsyncGenerator<Uint8Array> {
  for (let piece = 0; piece < 16; piece += 1) {
    yield Buffer.alloc(256 * 1024, 1);
    if (task !== 'hold' || piece < 2) continue;
    process.send?.('writing');
    await new Promise(() => setInterval(() => undefined, 60_000));
  }
}

try {
  await store.media.write(media, source());
  process.send?.('written');
} catch (error) {
  process.send?.(error instanceof StoreError ? { applied: error.applied, message: error.message } : String(error));
}
await store.close();
process.disconnect?.();
