// Draws mutants from the core by a seed: as many from a file as its share of the lines, of every kind equally often.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom, type Random } from '../faults/random.ts';
import { listMutations, type Mutation } from './operators.ts';

export interface Mutant {
  readonly path: string;
  readonly line: number;
  readonly kind: string;
  readonly before: string;
  readonly after: string;
  /** The whole file. */
  readonly text: string;
}

/** What a caller's money and answer pass through. */
const CORE = ['money', 'ledger', 'payments', 'store', 'stream', 'http', 'api', 'calls', 'media', 'upstream'];
/** Where paths may be that `only` matches from their beginning. */
const ROOMS = ['lib', 'payments', 'providers'];
/** Types, the description of the API, and the check of a plugin for its author. */
const OUTSIDE = ['lib/store/ports', 'lib/upstream/contract', 'lib/api/openapi', 'lib/upstream/check'];

interface File {
  readonly path: string;
  readonly text: string;
  readonly mutations: readonly Mutation[];
}

/** One lot per mutant wanted: mutants of one file, to be taken in turn until one compiles. */
export function drawLots(seed: number, count: number, only?: string): readonly Generator<Mutant>[] {
  const files = listPaths(only).map((path): File => {
    const text = readFileSync(path, 'utf8');
    return { path, text, mutations: listMutations(text) };
  });
  const random = createRandom(seed);
  const rich = files.filter(({ mutations }) => mutations.length > 0);
  const total = rich.reduce((sum, { text }) => sum + countLines(text), 0);
  const first = random.between(0, 1);
  return Array.from({ length: count }, (_, i) =>
    drawFromFile(fileAt(rich, ((i + first) / count) * total), createRandom(random.between(0, 2 ** 32))),
  );
}

function listPaths(only: string | undefined): readonly string[] {
  const rooms = only === undefined ? CORE.map((name) => join('lib', name)) : ROOMS;
  const all = rooms.flatMap((room) =>
    readdirSync(room, { recursive: true, encoding: 'utf8' }).map((file) => join(room, file)),
  );
  const pattern = only === undefined ? undefined : new RegExp(`^(?:${only})`);
  const isWanted = (path: string) => pattern?.test(path) ?? !OUTSIDE.some((folder) => path.startsWith(`${folder}/`));
  const paths = all.filter((path) => path.endsWith('.ts') && isWanted(path)).sort();
  if (paths.length === 0) throw new Error(`there is no source below ${only}`);
  return paths;
}

/** Comments and types count like code: their files are not the ones with more mistakes. */
function countLines(text: string): number {
  return text.split('\n').length;
}

function fileAt(files: readonly File[], position: number): File {
  let passed = 0;
  const found = files.find(({ text }) => {
    passed += countLines(text);
    return passed > position;
  });
  return (found ?? files.at(-1)) as File;
}

function* drawFromFile({ path, text, mutations: all }: File, random: Random): Generator<Mutant> {
  const mutations = [...all];
  while (mutations.length > 0) {
    const kind = random.pick([...new Set(mutations.map((mutation) => mutation.kind))]);
    const mutation = random.pick(mutations.filter((one) => one.kind === kind));
    mutations.splice(mutations.indexOf(mutation), 1);
    yield createMutant(path, text, mutation);
  }
}

function createMutant(path: string, text: string, { kind, start, end, replacement }: Mutation): Mutant {
  const line = text.slice(0, start).split('\n').length;
  const changed = text.slice(0, start) + replacement + text.slice(end);
  const from = text.lastIndexOf('\n', start) + 1;
  const cutLine = (whole: string, to: number) => {
    const stop = whole.indexOf('\n', to);
    return whole
      .slice(from, stop === -1 ? undefined : stop)
      .replace(/\s+/g, ' ')
      .trim();
  };
  const before = cutLine(text, end);
  const after = cutLine(changed, start + replacement.length);
  return { path, line, kind, before, after, text: changed };
}
