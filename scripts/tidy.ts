// Checks sizes of files, functions and vendors' folders, one-way imports without cycles, that functions are verbs,
// vendors' names only where they belong, links between documents, and that no output of tools is in the repository.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Node, parse } from 'acorn';
import { findCircles } from './circles.ts';
import { findBrokenLinks } from './links.ts';

const FILE_LINES_MAX = 400;
const FUNCTION_LINES_MAX = 70;
/** As long as their tables are. */
const TABLES: ReadonlySet<string> = new Set([
  'lib/base/faults.ts',
  'lib/store/mongodb/schema.ts',
  'lib/store/sqlite/schema.ts',
  'test/store/mongodb/validators.test.ts',
]);

/** From the bottom up: a file imports only from its own layer and those below. */
const LAYERS: readonly (readonly string[])[] = [
  ['lib/base/', 'lib/config.ts'],
  ['lib/platform/'],
  ['lib/money/'],
  ['lib/stream/'],
  ['lib/store/'],
  ['lib/upstream/', 'lib/ledger/', 'lib/accounts/', 'lib/users/', 'lib/media/'],
  ['lib/catalog/', 'lib/alerts/'],
  ['lib/calls/', 'lib/payments/', 'lib/moving/'],
  // What operators do, whichever way they ask: by a command or by the management API.
  ['lib/manage/'],
  ['lib/http/'],
  ['lib/api/', 'lib/console/', 'lib/metrics/', 'lib/cli/'],
  ['lib/start/', 'lib/gateway.ts'],
  ['lib/index.ts', 'lib/testing.ts'],
  ['lib/workers/'],
  ['lib/main.ts', 'lib/serve.ts', 'lib/cli/main.ts', 'lib/cli/program.ts', 'lib/cli/serve.ts'],
];

/** Folders that others enter through one file only. */
const DOORS: readonly (readonly [room: string, door: string])[] = [['lib/calls/smart/', 'lib/calls/smart/route.ts']];

/** What a plugin may import from us: types only. */
const CONTRACTS = {
  providers: 'lib/upstream/contract/provider.ts',
  payments: 'lib/upstream/contract/payment.ts',
} as const;

/** What a vendor's folder may hold besides recordings; docs/decisions/wire-formats.md says why one has more. */
const VENDOR_MAX = { files: 5, lines: 300 };
const LARGER = new Map([['sandbox', { files: 10, lines: 775 }]]);

/** What tools leave behind: profiles, snapshots, logs, databases, packages. */
const TOOL_OUTPUT = /\.(cpuprofile|heapprofile|heapsnapshot|log|db(-wal|-shm)?|sqlite|tgz|tsbuildinfo)$/;
const TRACKED_BYTES_MAX = 600_000;

const root = fileURLToPath(new URL('../', import.meta.url));
const providers = readdirSync(join(root, 'providers'));
const VENDORS = new RegExp(`\\b(${listVendorNames().join('|')})\\b`, 'i');
/** A client's name for its own options, in hints. */
const CLIENT_OPTION = /providerOptions: \{ \w+:/g;
/** Names clients, and the names that they give to fields and variables. */
const CLIENT_SETTINGS = 'lib/console/connect/';
const problems: string[] = [];
const imports = new Map<string, readonly string[]>();

for (const path of ['lib', 'providers', 'payments', 'deploy', 'scripts', 'test', 'testkit'].flatMap(filesUnder))
  check(path);
for (const name of providers) checkProvider(name);
checkTrackedFiles();
for (const circle of [...findCircles(imports), ...findCircles(listRoomImports())]) {
  problems.push(`imports run in a circle: ${circle.join(' → ')}`);
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log('tidy: files, functions, imports and names are in order');

function filesUnder(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => join(folder, name))
    .sort();
}

/** A folder name starts with its vendor. Some have no folder: what they sell, or who else sells it. */
function listVendorNames(): readonly string[] {
  const folders = [...providers, ...readdirSync(join(root, 'payments'))].filter((name) => /^[a-z]/.test(name));
  const names = folders.map((name) => name.split(/[-.]/, 1)[0] as string).filter((name) => name !== 'sandbox');
  return [...new Set(names), 'claude', 'deepseek', 'mistral', 'openrouter', 'groq', 'yoomoney'];
}

function checkProvider(name: string): void {
  const most = LARGER.get(name) ?? VENDOR_MAX;
  const files = filesUnder(join('providers', name));
  const lines = files.reduce((sum, path) => sum + countLines(readFileSync(join(root, path), 'utf8')), 0);
  if (files.length <= most.files && lines <= most.lines) return;
  const limit = `at most ${most.files} files and ${most.lines} lines`;
  problems.push(`providers/${name}: ${files.length} files with ${lines} lines, ${limit}`);
}

/** Only what git tracks: a developer may keep profiles beside the sources. */
function checkTrackedFiles(): void {
  // An unpacked archive of the sources tracks nothing.
  if (!existsSync(join(root, '.git'))) return;
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0');
  const texts = new Map<string, string>();
  for (const path of tracked.filter((name) => name !== '')) {
    const stats = statSync(join(root, path), { throwIfNoEntry: false });
    if (!stats) continue;
    if (TOOL_OUTPUT.test(path)) problems.push(`${path}: is the output of a tool; do not commit it`);
    if (stats.size > TRACKED_BYTES_MAX) {
      problems.push(`${path}: ${stats.size} bytes, at most ${TRACKED_BYTES_MAX}`);
    }
    texts.set(path, readFileSync(join(root, path), 'utf8'));
  }
  problems.push(...findBrokenLinks(texts));
}

function countLines(text: string): number {
  return text.split('\n').length - 1;
}

function check(path: string): void {
  const text = readFileSync(join(root, path), 'utf8');
  const lines = countLines(text);
  if (lines > FILE_LINES_MAX && !TABLES.has(path)) problems.push(`${path}: ${lines} lines, at most ${FILE_LINES_MAX}`);
  if (path.startsWith('lib/') && !path.startsWith(CLIENT_SETTINGS)) {
    const vendor = VENDORS.exec(text.replaceAll(CLIENT_OPTION, ''));
    if (vendor)
      problems.push(`${path}: names the vendor ${vendor[0]}; that belongs into providers/, payments/ or catalog/`);
  }
  if (!path.startsWith('test/') && !/^(#!.*\n)?\/\/ /.test(text))
    problems.push(`${path}: does not open with what it is for`);
  if (!path.startsWith('test/')) checkFunctions(path, parseTree(text));
  checkImports(path, text);
}

function parseTree(text: string): Node {
  return parse(stripTypeScriptTypes(text), { ecmaVersion: 'latest', sourceType: 'module', locations: true });
}

function checkFunctions(path: string, node: Node): void {
  const { id } = node as unknown as { id?: { name?: string } | null };
  if (/^(FunctionDeclaration|VariableDeclarator)$/.test(node.type) && /[a-z]Of$/.test(id?.name ?? '')) {
    problems.push(`${path}:${node.loc?.start.line}: name ${id?.name} after what it does, not after its result`);
  }
  if (/Function/.test(node.type) && node.loc) {
    const lines = node.loc.end.line - node.loc.start.line + 1;
    if (lines > FUNCTION_LINES_MAX && !isFactory(node)) {
      problems.push(`${path}:${node.loc.start.line}: a function of ${lines} lines, at most ${FUNCTION_LINES_MAX}`);
    }
  }
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child === 'object' && child !== null && 'type' in child) checkFunctions(path, child as Node);
    }
  }
}

/** A closure with state and functions counts as a module, not a function: its functions are measured one by one. */
function isFactory(node: Node): boolean {
  const { body } = node as unknown as { body: { body?: readonly Node[] } };
  const statements = body.body ?? [];
  const inner = statements.filter((statement) => statement.type === 'FunctionDeclaration');
  const own = statements.filter((statement) => statement.type !== 'FunctionDeclaration');
  const ownLines = own.reduce((sum, { loc }) => sum + (loc ? loc.end.line - loc.start.line + 1 : 0), 0);
  return inner.length >= 2 && ownLines <= FUNCTION_LINES_MAX;
}

function checkImports(path: string, text: string): void {
  const targets: string[] = [];
  imports.set(path, targets);
  const found = text.matchAll(/^(?:import|export)\s+(type\s)?[^;]*?from\s+'(\.{1,2}\/[^']+)'/gms);
  for (const [, isType, specifier = ''] of found) {
    const target = normalize(join(dirname(path), specifier));
    targets.push(target);
    const contract = findContract(path);
    if (contract !== undefined) {
      const own = path.split('/').slice(0, 2).join('/');
      if (target.startsWith(`${own}/`) || (target === contract && isType)) continue;
      problems.push(`${path}: imports ${target}; a plugin imports only types of ${contract}`);
    }
    for (const [room, door] of path.startsWith('lib/') ? DOORS : []) {
      const inside = target.startsWith(room) && target !== door;
      if (inside && !path.startsWith(room)) problems.push(`${path}: imports ${target}; the door is ${door}`);
    }
    if (!path.startsWith('lib/')) continue;
    const from = findLayer(path);
    const to = findLayer(target);
    if (from === -1) problems.push(`${path}: belongs to no layer`);
    else if (to > from) problems.push(`${path}: imports ${target} from a layer above`);
  }
}

/** The folders of `lib`, and its loose files, each with those that it imports from. */
function listRoomImports(): ReadonlyMap<string, readonly string[]> {
  const rooms = new Map<string, Set<string>>();
  const findRoom = (path: string) => path.split('/').slice(0, 2).join('/');
  for (const [path, targets] of imports) {
    const others = rooms.get(findRoom(path)) ?? new Set();
    for (const target of targets) others.add(findRoom(target));
    rooms.set(findRoom(path), others);
  }
  const inLib = [...rooms].filter(([room]) => room.startsWith('lib/'));
  return new Map(inLib.map(([room, others]) => [room, [...others].filter((other) => other !== room)]));
}

/** The contract that a plugin's file must follow. */
function findContract(path: string): string | undefined {
  return Object.entries(CONTRACTS).find(([room]) => path.startsWith(`${room}/`))?.[1];
}

function findLayer(path: string): number {
  const exact = LAYERS.findIndex((places) => places.includes(path));
  return exact === -1
    ? LAYERS.findIndex((places) => places.some((place) => place.endsWith('/') && path.startsWith(place)))
    : exact;
}
