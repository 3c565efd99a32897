// The tests that may notice a change in a file, nearest first.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';

const CATALOG_PAGES: readonly string[] = ['test/flows/catalog-pages.test.ts', 'test/flows/page-models.test.ts'];

/** A step runs in one process of mocha. */
const STEP_FILES = 8;
/** Says which cases run. */
export const LONG_CASES = 'testkit/long.ts';
/** What tests with long cases import. */
const LONG_IMPORTS = new Set([LONG_CASES, 'test/contract/store/contract.ts']);
/** A word that one test in twenty has. */
const ALIKE = Math.log(20);
/** Between a near test and all that only import a file. */
const NAMESAKE = 0.5;
/**
 * What looks at a room as a whole, far from its files by imports: stores apply the rules of money, a tour sees all pages,
 * and what is answered is recorded.
 */
const WHOLE: Readonly<Record<string, readonly string[]>> = {
  'lib/api/': ['test/contract/wire/wire.test.ts'],
  'lib/calls/': ['test/contract/wire/wire.test.ts'],
  'lib/stream/': ['test/contract/wire/wire.test.ts'],
  'lib/upstream/formats/': ['test/contract/wire/wire.test.ts'],
  'lib/manage/': ['test/api/management/document.test.ts', 'test/api/management/recorded.test.ts'],
  'lib/money/': ['test/store/sqlite.test.ts'],
  'lib/store/mongodb/': ['test/store/mongodb-further.test.ts'],
  'lib/console/catalog/': CATALOG_PAGES,
  'lib/console/pages/admin-catalog': CATALOG_PAGES,
  'lib/console/pages/admin-model': CATALOG_PAGES,
  'lib/console/pages/admin-upstream': CATALOG_PAGES,
  'lib/console/': ['test/console/ownership.test.ts', 'test/console/refused-form.test.ts', 'test/console/roles.test.ts'],
};

/** Loads the plugins by the names of their folders. */
const RECORDINGS = 'test/contract/provider/provider.test.ts';

const imports = new Map(
  ['lib', 'test', 'testkit', 'payments', 'providers'].flatMap(filesUnder).map((path) => [path, listImports(path)]),
);
const tests = [...imports.keys()].filter((path) => path.endsWith('.test.ts'));
const words = new Map(tests.map((test) => [test, new Set(listWords(readFileSync(test, 'utf8')))]));

export interface Step {
  readonly files: readonly string[];
  /** With what `npm test` leaves to `test:long`. */
  readonly isLong?: true;
  /** Only tests whose full title begins so. */
  readonly title?: string;
}

/**
 * First the files that mirror the path or its folders and the recordings of a provider, then those of a folder below the
 * room, then those that name what the changed line names, then all others by how few imports lie between. At last the
 * mirrors with all their cases: some of a store's contract run in `test:long` only.
 */
export function testsFor(path: string, most: number, line = ''): readonly Step[] {
  const mirrors = tests.filter((test) => mirror(path, test));
  const distances = distancesTo(path);
  const rank = rankFor(path, distances);
  const folder = dirname(path).replace(/^lib/, 'test');
  const isDeep = folder.split('/').length > 2;
  const others = tests
    .filter((test) => !mirrors.includes(test) && !test.startsWith('test/browser/'))
    .sort((a, b) => rank(a) - rank(b));
  const near = others.filter((test) => rank(test) <= 0);
  const far = others.filter((test) => rank(test) > 0);
  // They may start a whole gateway, which lies between by imports.
  const beside = far.filter((test) => isDeep && dirname(test) === folder && distances.has(test));
  const rest = far.filter((test) => !beside.includes(test));
  const alike = listAlike(
    rest.filter((test) => distances.has(test)),
    line,
  );
  const wide = rest.filter((test) => !alike.includes(test)).slice(0, Math.max(0, most - near.length - alike.length));
  const long: Step = { files: mirrors.filter(hasLongCases), isLong: true };
  const chosen = [mirrors, near, beside, alike, wide];
  const rooms = Object.keys(WHOLE).filter((room) => path.startsWith(room));
  const whole = rooms.flatMap((room) => WHOLE[room] ?? []).filter((test) => !chosen.flat().includes(test));
  const steps = [near, beside, alike, whole, wide].flatMap(inSteps);
  return [{ files: mirrors }, ...listRecordings(path), ...steps, long].filter(({ files }) => files.length > 0);
}

/** All recordings of one provider take some seconds. */
function listRecordings(path: string): readonly Step[] {
  const [, provider] = /^providers\/([^/]+)\//.exec(path) ?? [];
  if (provider === undefined) return [];
  return [{ files: [RECORDINGS], isLong: true, title: `contract of providers ${provider} ` }];
}

/** A step of those that share most with a line: a word counts more the fewer tests have it. */
function listAlike(files: readonly string[], line: string): readonly string[] {
  const weights = [...new Set(listWords(line))].map((word) => {
    const count = tests.filter((test) => words.get(test)?.has(word)).length;
    return { word, weight: count === 0 ? 0 : Math.log(tests.length / count) };
  });
  const weigh = (test: string) =>
    weights.reduce((sum, { word, weight }) => sum + (words.get(test)?.has(word) ? weight : 0), 0);
  return files
    .map((test) => ({ test, weight: weigh(test) }))
    .filter(({ weight }) => weight >= ALIKE)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, STEP_FILES)
    .map(({ test }) => test);
}

function listWords(text: string): readonly string[] {
  return text.match(/\w{4,}/g) ?? [];
}

function hasLongCases(test: string): boolean {
  return (imports.get(test) ?? []).some((path) => LONG_IMPORTS.has(path));
}

/** Tests of the same folder or the one above, and those that share words of the path, are nearer than their imports. */
function rankFor(path: string, distances: ReadonlyMap<string, number>): (test: string) => number {
  const folder = dirname(path).replace(/^lib/, 'test');
  const name = toSingular(basename(path, '.ts'));
  const folders = splitWords(dirname(path).split('/').slice(2).join('/'));
  const own = splitWords(name);
  const weigh = (word: string) => (own.includes(word) ? 3 : Number(folders.includes(word)));
  return (test) => {
    const base = basename(test, '.test.ts');
    const nearer = [
      test.startsWith(`${folder}/`) && 2,
      dirname(test) === dirname(folder) && 2,
      test.includes(name) && 3,
      test.startsWith('test/flows/') && 1,
    ];
    const rank = (distances.get(test) ?? 100) - nearer.reduce<number>((sum, less) => sum + (less || 0), 0);
    if (rank <= 0) return rank;
    const shared = splitWords(base).reduce((sum, word) => sum + weigh(word), 0);
    return isNamesake(path, base) ? NAMESAKE : Math.max(1, rank - shared);
  };
}

/**
 * A flow that is named after the file or its folder below the room comes before all that only import it, and so does one
 * with no word but those of the file.
 */
function isNamesake(path: string, base: string): boolean {
  const names = path.slice(0, -'.ts'.length).split('/').slice(2);
  const own = splitWords(names.at(-1) ?? '');
  return (
    names.slice(-2).some((name) => base === name || base.startsWith(`${name}-`)) ||
    splitWords(base).every((word) => own.includes(word))
  );
}

function splitWords(text: string): readonly string[] {
  return text.split(/[^a-z0-9]+/).map(toSingular);
}

function toSingular(word: string): string {
  return word.replace(/ies$/, 'y').replace(/s$/, '');
}

function filesUnder(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));
}

/** What a thread or a child process begins with counts like an import. */
function listImports(path: string): readonly string[] {
  const found = readFileSync(path, 'utf8').matchAll(/'(\.{1,2}\/[^']+\.ts)'/g);
  return [...found].map(([, specifier = '']) => normalize(join(dirname(path), specifier)));
}

/** `test/a/b.test.ts` and `test/a/b-more.test.ts` mirror `lib/a/b.ts` and everything in `lib/a/b/`. */
function mirror(path: string, test: string): boolean {
  const code = path.slice('lib/'.length, -'.ts'.length);
  const stem = test.slice('test/'.length, -'.test.ts'.length);
  return code === stem || stem.startsWith(`${code}-`) || code.startsWith(`${stem}/`);
}

/** The file itself and all that import it, directly or not. */
export function listDependents(path: string): readonly string[] {
  return [...distancesTo(path).keys()];
}

/** How many imports lead from a file to the path; infinite if none do. */
export function measureDistance(path: string, from: string): number {
  return distancesTo(path).get(from) ?? Number.POSITIVE_INFINITY;
}

function distancesTo(path: string): ReadonlyMap<string, number> {
  const distances = new Map([[path, 0]]);
  let reached = new Set([path]);
  for (let distance = 1; reached.size > 0; distance++) {
    const next = [...imports].filter(([from, to]) => !distances.has(from) && to.some((target) => reached.has(target)));
    reached = new Set(next.map(([from]) => from));
    for (const from of reached) distances.set(from, distance);
  }
  return distances;
}

function inSteps(files: readonly string[]): readonly Step[] {
  return Array.from({ length: Math.ceil(files.length / STEP_FILES) }, (_, i) => ({
    files: files.slice(i * STEP_FILES, (i + 1) * STEP_FILES),
  }));
}
