// Loads a script beside the recordings, which writes what JSON cannot say.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The default export of `fixtures/<name>`; undefined if there is no such file. `what` says what it has to do. */
export async function loadFixtureScript<Script>(
  folder: string,
  name: string,
  what: string,
): Promise<Script | undefined> {
  const path = [`${name}.ts`, `${name}.mjs`, `${name}.js`]
    .map((file) => join(folder, 'fixtures', file))
    .find((each) => existsSync(each));
  if (path === undefined) return undefined;
  const { default: script } = await import(pathToFileURL(path).href);
  if (typeof script !== 'function') throw new Error(`${path}: the default export is no function that ${what}`);
  return script;
}
