// The version in package.json.
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

/** Finds the nearest package.json above this file: in a checkout and in the published package. */
export function readVersion(): string {
  const path = findPackageJSON('..', import.meta.url);
  if (!path) throw new Error('no package.json was found above the program');
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}
