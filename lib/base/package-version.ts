// What the package says about itself.
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

/** The nearest package.json above this file, in a checkout and in the published package alike. */
export function readVersion(): string {
  const path = findPackageJSON('..', import.meta.url);
  if (!path) throw new Error('no package.json was found above the program');
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}
