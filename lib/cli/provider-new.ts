// `tollgate provider new`: creates the folder of a new provider plugin that passes the contract suite as is.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import type { Answer } from '../manage/answer.ts';
import { print } from './output.ts';

/** Of the checkout, or of what is built for the package. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const IS_CHECKOUT = import.meta.url.endsWith('.ts');

const TEMPLATES = join(ROOT, 'scripts/provider-template');

const DOCUMENT = join(ROOT, IS_CHECKOUT ? '' : '..', 'docs/providers.md');

const KINDS = ['text', 'embed', 'image', 'video'];

/** The name used in the templates, as in all examples. */
const NAME = /\bacme\b/g;

const TITLE = /\bAcme\b/g;

/** A plugin outside the checkout imports from the package. */
const CONTRACT = '../../../lib/upstream/contract/provider.ts';

interface NewOptions {
  readonly kind: string;
  readonly into: string;
}

export function addNewCommand(parent: Command): void {
  parent
    .command('new')
    .description('Creates a plugin for an invented upstream, with recordings, that passes every check: make it yours.')
    .argument('<name>', 'its name: lower-case letters, digits and hyphens', readPluginName)
    .addOption(new Option('--kind <kind>', 'what it serves').choices(KINDS).default('text'))
    .addOption(
      new Option('--into <folder>', 'the folder of plugin folders').default(
        IS_CHECKOUT ? join(ROOT, 'providers') : '.',
        IS_CHECKOUT ? 'providers of the checkout' : 'this one',
      ),
    )
    .addHelpText('after', '\nExample:\n  tollgate provider new acme --kind image --into /srv/my-providers')
    .action(function act(this: Command, name: string, options: NewOptions): void {
      print(createPlugin(name, options), { json: this.optsWithGlobals().json === true });
    });
}

function readPluginName(name: string): string {
  if (/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) return name;
  throw new InvalidArgumentError('A name has lower-case letters, digits and hyphens only.');
}

function createPlugin(name: string, { kind, into }: NewOptions): Answer {
  const folder = resolve(into, name);
  if (existsSync(folder)) throw new OperatorError(`${folder} already exists`);
  mkdirSync(resolve(into), { recursive: true });
  cpSync(join(TEMPLATES, kind), folder, { recursive: true });
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (/\.(ts|json)$/.test(file)) rewrite(join(folder, file), { name, contract: contractFor(folder) });
  }
  // The package that it comes into may be of the other kind of modules, as `npm init` makes them.
  if (!isInCheckout(folder)) writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  return { json: { folder }, text: explain(folder) };
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
  return isInCheckout(folder) ? path : 'tollgate/plugin';
}

function isInCheckout(folder: string): boolean {
  return IS_CHECKOUT && !relative(ROOT, folder).startsWith('..');
}

function shorten(path: string): string {
  const here = relative(process.cwd(), path);
  return here.startsWith('..') ? path : here;
}

function explain(folder: string): string {
  const shown = shorten(folder);
  const command = IS_CHECKOUT ? 'npm run -s tollgate -- provider' : 'npx tollgate provider';
  return [
    `${shown} is a plugin of an invented upstream. Make it yours:`,
    '  1. its settings, the URL, the request, and what the reply brings',
    '  2. fixtures/: one recording for each shape of its answers and errors, with the page that shows it as `source`;',
    `     \`${command} record\` makes one from a real upstream`,
    `  3. ${command} check ${shown}`,
    `${shorten(DOCUMENT)} says what the contract asks.`,
  ].join('\n');
}
