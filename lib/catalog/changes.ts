// Detects edits of a catalog folder by polling: file system notifications miss folders swapped by a symlink, files
// linked from elsewhere, and network shares.
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

interface Changes {
  /** Takes the current state as the known one. */
  markAsKnown(): Promise<void>;
  /** Resolves to true once per edit, when two polls in a row see the same state: editors write files in several steps. */
  hasSettledChange(): Promise<boolean>;
}

export function createChanges(folder: string): Changes {
  let known: string | undefined;
  let seen: string | undefined;

  return {
    async markAsKnown() {
      known = await fingerprintFolder(folder);
    },
    async hasSettledChange() {
      const now = await fingerprintFolder(folder);
      const isStill = now === seen;
      seen = now;
      if (!isStill || now === known) return false;
      known = now;
      return true;
    },
  };
}

/** A text that changes with every edit; an unreadable folder counts as empty. */
async function fingerprintFolder(folder: string): Promise<string> {
  try {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
    return (await Promise.all(names.map((name) => describe(join(folder, name))))).join('\n');
  } catch {
    return '';
  }
}

async function describe(path: string): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
  return [path, dev, ino, size, mtimeNs, ctimeNs].join(' ');
}
