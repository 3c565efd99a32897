// Reads the log of a gateway that goes on writing it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Its lines so far. What comes after the last end of a line is still being written. */
// biome-ignore lint/suspicious/noExplicitAny: tests know what they look for.
export function readLogLines({ folder }: { readonly folder: string }): any[] {
  const lines = readFileSync(join(folder, 'log'), 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}
