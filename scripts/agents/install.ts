// Installs the newest version of a program from the registry of npm or PyPI, each in a folder of its own.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Program } from './programs.ts';

export interface InstalledProgram extends Program {
  readonly version: string;
  /** The file that runs the program. */
  readonly file: string;
}

/** Without the registry it is the version that was installed before, or nothing. */
export function installProgram(program: Program): InstalledProgram | undefined {
  const { registry, package: name, version = 'latest', command } = program;
  const folder = resolve('.cache/agents', name.replaceAll('/', '+'));
  mkdirSync(folder, { recursive: true });
  const installed =
    registry === 'npm' ? installFromNpm(folder, { name, version, command }) : installFromPypi(folder, name, command);
  return installed && { ...program, ...installed };
}

interface NpmPackage {
  readonly name: string;
  readonly version: string;
  readonly command: string;
}

type Installed = Pick<InstalledProgram, 'version' | 'file'>;

function installFromNpm(folder: string, { name, version, command }: NpmPackage): Installed | undefined {
  const manifest = join(folder, 'node_modules', name, 'package.json');
  if (!existsSync(join(folder, 'package.json'))) writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  try {
    run(folder, 'npm', ['install', '--no-audit', '--no-fund', '--silent', `${name}@${version}`]);
  } catch {
    if (!existsSync(manifest)) return undefined;
  }
  const installed = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  return { version: installed.version, file: join(folder, 'node_modules/.bin', command) };
}

/** Into a virtual environment of the Python that `PYTHON` names. */
function installFromPypi(folder: string, name: string, command: string): Installed | undefined {
  const python = join(folder, 'bin/python');
  const file = join(folder, 'bin', command);
  try {
    if (!existsSync(python)) run(folder, process.env.PYTHON ?? 'python3', ['-m', 'venv', folder]);
    run(folder, python, ['-m', 'pip', 'install', '--quiet', '--upgrade', name]);
  } catch {
    // The version of an earlier run will do.
  }
  if (!existsSync(file)) return undefined;
  const version = run(folder, python, ['-c', `import importlib.metadata as m; print(m.version('${name}'))`]);
  return { version: version.trim(), file };
}

function run(folder: string, command: string, args: readonly string[]): string {
  return execFileSync(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] }).toString();
}
