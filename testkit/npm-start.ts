// How `npm start` runs the service, read from the manifest: what is measured is run like what is shipped.
import { readFileSync } from 'node:fs';

/** Its words, without what only a shell in a checkout needs: variables, and a settings file. */
export function startCommand(): readonly string[] {
  const words = scriptWords();
  return words.slice(words.indexOf('node'));
}

/** The options it passes to Node. */
export function startFlags(): readonly string[] {
  return startCommand().filter((word) => word.startsWith('--'));
}

/** The variables it sets. */
export function startVariables(): Readonly<Record<string, string>> {
  const words = scriptWords();
  const pairs = words.slice(0, words.indexOf('node')).filter((word) => word.includes('='));
  return Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string]));
}

function scriptWords(): readonly string[] {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const script: string = manifest.scripts.start;
  return script.replace(/ \$\([^)]*\)/, '').split(' ');
}
