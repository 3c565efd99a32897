// How `npm start` runs the service, read from the manifest: what is measured and what is shipped runs the same way.
import { readFileSync } from 'node:fs';

/** Its words, without what only a shell in a checkout needs: variables, and a file of settings. */
export function startCommand(): readonly string[] {
  const words = scriptWords();
  return words.slice(words.indexOf('node'));
}

/** The options that it gives Node. */
export function startFlags(): readonly string[] {
  return startCommand().filter((word) => word.startsWith('--'));
}

/** The variables that it sets. */
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
