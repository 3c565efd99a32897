// Creates the folder of a new provider plugin that passes the contract suite as is: `npm run provider:new -- <name>`.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const TEMPLATES = join(ROOT, 'scripts/provider-template');
const KINDS = readdirSync(TEMPLATES);

const USAGE = `usage: npm run provider:new -- <name> [options]
  --kind KIND     ${KINDS.join(', ')}; text by default
  --into FOLDER   the folder of plugin folders that it comes into; providers/ by default`;

/** The name used in the templates, as in all examples. */
const NAME = /\bacme\b/g;
const TITLE = /\bAcme\b/g;
/** A plugin outside the checkout imports from the package. */
const CONTRACT = '../../../lib/upstream/contract/provider.ts';

try {
  main();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { kind: { type: 'string', default: 'text' }, into: { type: 'string', default: join(ROOT, 'providers') } },
  });
  const [name = '', ...more] = positionals;
  if (name === '' || more.length > 0 || !KINDS.includes(values.kind)) throw new Error(USAGE);
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name))
    throw new Error(`${name}: a name is small letters, digits and hyphens`);
  const folder = resolve(values.into, name);
  if (existsSync(folder)) throw new Error(`${folder} is there already`);
  mkdirSync(resolve(values.into), { recursive: true });
  cpSync(join(TEMPLATES, values.kind), folder, { recursive: true });
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (/\.(ts|json)$/.test(file)) rewrite(join(folder, file), { name, contract: contractFor(folder) });
  }
  tell(folder);
}

function rewrite(path: string, { name, contract }: { readonly name: string; readonly contract: string }): void {
  const title = name.replace(/(^|-)([a-z])/g, (_match, hyphen: string, letter: string) => {
    return (hyphen && ' ') + letter.toUpperCase();
  });
  const text = readFileSync(path, 'utf8').replaceAll(CONTRACT, contract);
  writeFileSync(path, text.replaceAll(NAME, name).replaceAll(TITLE, title));
}

function contractFor(folder: string): string {
  const path = relative(folder, join(ROOT, 'lib/upstream/contract/provider.ts'));
  return relative(ROOT, folder).startsWith('..') ? 'tollgate/plugin' : path;
}

function tell(folder: string): void {
  const shown = relative(process.cwd(), folder).startsWith('..') ? folder : relative(process.cwd(), folder);
  process.stdout.write(
    [
      `${shown} is a plugin of an invented upstream. Make it yours:`,
      '  1. settings, URL and request in index.ts and request.ts; what the reply brings beside them',
      '  2. fixtures/: one recording for each shape of its answers and errors, with the page that shows it as `source`;',
      '     `npm run record` makes one from a real upstream',
      `  3. npm run provider:check -- ${shown}`,
      'docs/providers.md says what the contract asks.',
      '',
    ].join('\n'),
  );
}
