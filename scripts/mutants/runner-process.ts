// The process of a runner: answers each request once its tests have passed or one has failed.
import { registerHooks } from 'node:module';
import { relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import Mocha from 'mocha';
import { closeShared } from '../../testkit/end.ts';
import { mochaGlobalSetup } from '../../testkit/run.ts';
import type { Step } from './tests.ts';

export interface Request extends Step {
  /** The files to load again besides the tests. */
  readonly stale: readonly string[];
}

export interface Answer {
  readonly passed: boolean;
  /** Of the test that failed, if it was one. */
  readonly file?: string | undefined;
}

/** What waits longer here passes or fails in a process of its own. */
const TEST_MS = 30_000;
const CLOSE_MS = 5_000;

let version = 0;
let stale: ReadonlySet<string> = new Set();

registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context);
    const [url = ''] = found.url.split('?');
    return stale.has(url) ? { ...found, url: `${url}?v=${version}` } : found;
  },
});
// What an earlier mistake left behind must not end the process; Mocha fails the test that runs.
process.on('uncaughtException', () => {});
process.setMaxListeners(0);
process.on('disconnect', () => process.exit());

await mochaGlobalSetup();
process.on('message', async (request: Request) => process.send?.(await run(request)));

async function run({ files, isLong, title, stale: changed }: Request): Promise<Answer> {
  version += 1;
  stale = new Set([...changed, ...files].map(toUrl));
  process.env.TESTS_LONG = isLong ? '1' : '';
  try {
    const mocha = await load(files, title);
    let file: string | undefined;
    const failures = await new Promise((done) => mocha.run(done).once('fail', (failed) => (file = failed.file)));
    return { passed: failures === 0, file: file && relative('', file) };
  } catch {
    return { passed: false };
  } finally {
    await Promise.race([closeShared().catch(() => undefined), sleep(CLOSE_MS)]);
  }
}

async function load(files: readonly string[], title: string | undefined): Promise<Mocha> {
  // Again, for what it sets in modules that are loaded again. Threads would keep the code they began with.
  const { mochaHooks }: typeof import('../../testkit/run.ts') = await import('../../testkit/run.ts');
  const { keepThreads }: typeof import('../../testkit/threads.ts') = await import('../../testkit/threads.ts');
  keepThreads(false);
  const mocha = new Mocha({
    bail: true,
    timeout: TEST_MS,
    reporter: Mocha.reporters.Base,
    rootHooks: mochaHooks,
    ...(title !== undefined && { grep: new RegExp(`^${title}`) }),
  });
  for (const file of files) {
    mocha.suite.emit('pre-require', globalThis, resolve(file), mocha);
    const loaded: unknown = await import(toUrl(file));
    mocha.suite.emit('require', loaded, resolve(file), mocha);
    mocha.suite.emit('post-require', globalThis, resolve(file), mocha);
  }
  return mocha;
}

function toUrl(path: string): string {
  return pathToFileURL(resolve(path)).href;
}
