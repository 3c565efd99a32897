// Runs the shipped Compose files with Docker: a copy of the checkout, as its documentation says, in a project of its own.
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const run = promisify(execFile);
const OUTPUT_MAX = 64 * 1024 * 1024;

export interface Compose {
  readonly folder: string;
  /** `docker compose` with these words; resolves to what it prints on stdout. */
  compose(...words: readonly string[]): Promise<string>;
  /** A command of the documentation, by a shell in the folder. */
  shell(command: string): Promise<string>;
  /** `tollgate` in a running gateway. */
  tollgate(...words: readonly string[]): Promise<Record<string, unknown>>;
  /** Appends a line to `.env`. */
  set(line: string): void;
  /** The id of each service's container. */
  containers(): Promise<Readonly<Record<string, string>>>;
  /** The lines that a service has printed. */
  logs(service: string): Promise<string>;
  remove(): Promise<void>;
}

/** Why Docker cannot be used here, or the images cannot be had; undefined if all is there. */
export function findDockerProblem(): string | undefined {
  const problem = [['version'], ['compose', 'version']].map(tryDocker).find((found) => found !== undefined);
  if (problem !== undefined) return problem;
  const lacking = listImages().filter((image) => tryDocker(['image', 'inspect', image]) !== undefined);
  return lacking.map((image) => tryDocker(['pull', '--quiet', image])).find((found) => found !== undefined);
}

function tryDocker(words: readonly string[]): string | undefined {
  try {
    execFileSync('docker', words, { stdio: 'pipe', timeout: 600_000 });
    return undefined;
  } catch (error) {
    return `docker ${words.join(' ')}: ${(error as Error).message.trim().split('\n').at(-1)}`;
  }
}

const IMAGES = ['NODE_IMAGE', 'MONGO_IMAGE', 'CADDY_IMAGE'] as const;

/** The images that are not built here: those of the environment, else of the Compose file. */
function listImages(): readonly string[] {
  const text = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');
  const named = (name: string) => new RegExp(`\\$\\{${name}:-([^}]+)\\}`).exec(text)?.[1] ?? '';
  return IMAGES.map((name) => process.env[name] || named(name));
}

interface ComposeOptions {
  /** Compose files beside each other, as in COMPOSE_FILE. */
  readonly files: readonly string[];
  readonly port: number;
  /** The service that runs the command line. */
  readonly gateway: string;
}

/**
 * Images of the registry unless NODE_IMAGE, MONGO_IMAGE or CADDY_IMAGE name others. COMPOSE_ULIMITS=off is for an engine that
 * may not raise the limit of open files.
 */
export function createCompose({ files, port, gateway }: ComposeOptions): Compose {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-compose-'));
  copyCheckout(folder);
  if (process.env.COMPOSE_ULIMITS === 'off') for (const name of files) removeUlimits(join(folder, name));
  const env = join(folder, '.env');
  const project = `tollgate-test-${randomBytes(4).toString('hex')}`;
  writeFileSync(env, withSecrets(readFileSync(join(folder, '.env.example'), 'utf8')));
  const set = (line: string) => appendFileSync(env, `${line}\n`);
  set(`COMPOSE_PROJECT_NAME=${project}`);
  set(`COMPOSE_FILE=${files.join(':')}`);
  set(`PROXY_PORT=${port}`);
  set(`TOLLGATE_TAG=${project}`);
  for (const name of IMAGES) {
    if (process.env[name]) set(`${name}=${process.env[name]}`);
  }
  const options = { cwd: folder, maxBuffer: OUTPUT_MAX, env: pickEnvironment() };
  const compose = async (...words: readonly string[]) => (await run('docker', ['compose', ...words], options)).stdout;
  return {
    folder,
    compose,
    set,
    shell: async (command) => (await run('sh', ['-euc', command], options)).stdout,
    tollgate: async (...words) => JSON.parse(await compose('exec', '-T', gateway, 'tollgate', ...words, '--json')),
    async containers() {
      const lines = (await compose('ps', '--format', '{{.Service}} {{.ID}}')).trim().split('\n');
      return Object.fromEntries(lines.map((line) => line.split(' ') as [string, string]));
    },
    logs: (service) => compose('logs', '--no-log-prefix', '--no-color', service),
    async remove() {
      await compose('down', '--volumes', '--timeout', '1').catch(() => undefined);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What git knows, as a clone would have it. */
function copyCheckout(folder: string): void {
  const names = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0').filter(Boolean);
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    cpSync(join(ROOT, name), join(folder, name));
  }
}

function removeUlimits(file: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^ +ulimits: .*\n/gm, ''));
}

function withSecrets(example: string): string {
  return example.replace(/^([A-Z_]+)=$/gm, (_, name) => `${name}=${randomBytes(32).toString('hex')}`);
}

/** Compose prefers variables of its environment to `.env`. */
function pickEnvironment(): Readonly<Record<string, string>> {
  const names = ['PATH', 'HOME', 'DOCKER_HOST', 'DOCKER_CONFIG'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name] ?? '']] : [])));
}
