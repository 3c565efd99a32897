// Writes files that are read while they are written.
import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { OperatorError } from './operator-error.ts';

/**
 * Replaces a file, or makes a new one with the `mode`: it is complete or as before at any moment. Its name in between is that
 * of no catalog file. Throws an `OperatorError`.
 */
export async function writeWholeFile(path: string, text: string, mode = 0o644): Promise<void> {
  const target = existsSync(path) ? realpathSync(path) : path;
  const unfinished = `${target}.${randomBytes(4).toString('hex')}.unfinished`;
  try {
    const handle = await open(unfinished, 'wx', existsSync(target) ? (await stat(target)).mode : mode);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(unfinished, target);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    throw new OperatorError(`${path}: cannot be written (${(error as NodeJS.ErrnoException).code})`);
  }
}
