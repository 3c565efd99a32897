// Lints and checks the format of the files that have changed since they last passed: biome's rules look at one file at a
// time. `.cache/lint.json` has the digests of those that passed, by the version and the settings they passed with.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Passed {
  /** Of everything that a verdict depends on besides the file. */
  readonly terms: string;
  readonly digests: Readonly<Record<string, string>>;
}

/** Biome looks for its own files if there are more, which a command line could not hold. */
const NAMED_MAX = 500;
const TERMS = ['biome.json', '.gitignore', 'package.json', 'node_modules/@biomejs/biome/package.json'];
const CACHE = '.cache/lint.json';

process.chdir(fileURLToPath(new URL('../', import.meta.url)));
const terms = TERMS.map(digest).join();
const digests = Object.fromEntries(listFiles().map((path) => [path, digest(path)]));
const passed = readPassed();
const changed = Object.keys(digests).filter((path) => passed[path] !== digests[path]);
process.exitCode = changed.length === 0 ? 0 : check(changed);
if (process.exitCode === 0) {
  mkdirSync('.cache', { recursive: true });
  writeFileSync(CACHE, JSON.stringify({ terms, digests } satisfies Passed));
  console.log(`lint: ${changed.length} of ${Object.keys(digests).length} files have changed, and pass`);
}

/** Those of the repository and those that may become so; biome leaves out what its settings exclude. */
function listFiles(): readonly string[] {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  return list.split('\0').filter((path) => /\.(m?[jt]s|[cm]ts|cjs|jsonc?|css|html)$/.test(path) && existsSync(path));
}

/** The exit code of biome, which reports what is wrong. */
function check(paths: readonly string[]): number {
  const named = paths.length > NAMED_MAX ? ['.'] : ['--no-errors-on-unmatched', '--', ...paths];
  return spawnSync('biome', ['check', '--error-on-warnings', ...named], { stdio: 'inherit' }).status ?? 1;
}

function readPassed(): Passed['digests'] {
  try {
    const last: Passed = JSON.parse(readFileSync(CACHE, 'utf8'));
    return last.terms === terms ? last.digests : {};
  } catch {
    // The first time, or cut short: every file is checked.
    return {};
  }
}

function digest(path: string): string {
  return createHash('sha1').update(readFileSync(path)).digest('base64');
}
