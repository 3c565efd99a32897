// Folders of an invented provider, each written by a test and removed after its file.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Writes these files into a new folder `acme`, those that are no text as JSON; resolves to its path. */
export type WriteAcme = (files: Readonly<Record<string, unknown>>) => Promise<string>;

/** Within `describe`. */
export function useAcmeFolders(): WriteAcme {
  let root: string;
  let count = 0;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'acme-'));
  });
  after(() => rm(root, { recursive: true }));
  return async (files) => {
    const folder = join(root, `${count++}`, 'acme');
    for (const [name, content] of Object.entries(files)) {
      const path = join(folder, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
    }
    return folder;
  };
}
