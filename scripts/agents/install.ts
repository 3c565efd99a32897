// Installs the newest version of a program from the registry of npm or PyPI, each in a folder of its own.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Program, Runs } from './program.ts';

export interface InstalledProgram extends Program {
  readonly version: string;
  /** What runs the program: a file, and the arguments before its own. */
  readonly start: readonly [file: string, ...args: string[]];
}

/** Without the registry it is the version that was installed before, or nothing. */
export function installProgram(program: Program): InstalledProgram | undefined {
  const folder = resolve('.cache/agents', program.package.replaceAll('/', '+'));
  mkdirSync(folder, { recursive: true });
  const installed = program.registry === 'npm' ? installFromNpm(folder, program) : installFromPypi(folder, program);
  return installed && { ...program, ...installed };
}

type Installed = Pick<InstalledProgram, 'version' | 'start'>;

function installFromNpm(
  folder: string,
  { package: name, version = 'latest', extras = [], runs }: Program,
): Installed | undefined {
  const manifest = join(folder, 'node_modules', name, 'package.json');
  if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  try {
    run(folder, 'npm', [
      'install',
      '--no-audit',
      '--no-fund',
      '--silent',
      `${name}@${version}`,
      ...extras.map((extra) => `${extra}@latest`),
    ]);
  } catch {
    if (!existsSync(manifest)) return undefined;
  }
  const installed = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  return {
    version: installed.version,
    start: findStart(folder, runs, { bin: 'node_modules/.bin', interpreter: process.execPath }),
  };
}

/** Into a virtual environment of the Python that `PYTHON` names. */
function installFromPypi(folder: string, { package: name, extras = [], runs }: Program): Installed | undefined {
  const python = join(folder, 'bin/python');
  try {
    if (!existsSync(python)) run(folder, process.env.PYTHON ?? 'python3', ['-m', 'venv', folder]);
    run(folder, python, ['-m', 'pip', 'install', '--quiet', '--upgrade', name, ...extras]);
  } catch {
    // The version of an earlier run will do.
  }
  const start = findStart(folder, runs, { bin: 'bin', interpreter: python });
  const version = readPypiVersion(folder, python, name);
  return version !== undefined && existsSync(start[0]) ? { version, start } : undefined;
}

function readPypiVersion(folder: string, python: string, name: string): string | undefined {
  try {
    return run(folder, python, ['-c', `import importlib.metadata as m; print(m.version('${name}'))`]).trim();
  } catch {
    return undefined;
  }
}

interface Tools {
  readonly bin: string;
  readonly interpreter: string;
}

/** A script lies beside the packages that it imports. */
function findStart(folder: string, runs: Runs, { bin, interpreter }: Tools): Installed['start'] {
  if ('command' in runs) return [join(folder, bin, runs.command)];
  const script = join(folder, runs.script);
  copyFileSync(fileURLToPath(new URL(`./libraries/${runs.script}`, import.meta.url)), script);
  return [interpreter, script];
}

function run(folder: string, command: string, args: readonly string[]): string {
  return execFileSync(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] }).toString();
}
