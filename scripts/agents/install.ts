// Installs the newest version of a program from the registry of npm or PyPI, each in a folder of its own.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Program } from './program.ts';

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
  const { version: installed } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  const start: Installed['start'] =
    'command' in runs
      ? [join(folder, 'node_modules/.bin', runs.command)]
      : [process.execPath, copyScript(folder, runs.script)];
  return { version: installed, start };
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
  // Commands name their Python by a path that is wrong once the checkout was moved.
  const file = 'command' in runs ? join(folder, 'bin', runs.command) : copyScript(folder, runs.script);
  const version = readPypiVersion(folder, python, name);
  if (version !== undefined && existsSync(file)) return { version, start: [python, file] };
  // Another Python may take it next time.
  rmSync(folder, { recursive: true });
  return undefined;
}

function readPypiVersion(folder: string, python: string, name: string): string | undefined {
  try {
    return run(folder, python, ['-c', `import importlib.metadata as m; print(m.version('${name}'))`]).trim();
  } catch {
    return undefined;
  }
}

/** It has to lie beside the packages that it imports. */
function copyScript(folder: string, name: string): string {
  const script = join(folder, name);
  copyFileSync(fileURLToPath(new URL(`./libraries/${name}`, import.meta.url)), script);
  return script;
}

function run(folder: string, command: string, args: readonly string[]): string {
  return execFileSync(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] }).toString();
}
