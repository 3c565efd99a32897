// What the package says of itself.
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

/** From a checkout and from the published package alike: the nearest one above this file. */
export function readVersion(): string {
  const path = findPackageJSON('..', import.meta.url);
  if (!path) throw new Error('there is no package.json above the program');
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}
