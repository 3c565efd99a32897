import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { send, until } from '../../testkit/client.ts';
import { freePorts } from '../../testkit/cluster.ts';
import { readDockerfile } from '../../testkit/dockerfile.ts';
import { itLong } from '../../testkit/long.ts';
import { startCommand, startVariables } from '../../testkit/npm-start.ts';
import { productionPackages } from '../../testkit/packages.ts';
import { spawnChild } from '../../testkit/process.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const dockerfile = readDockerfile();

/** The files of the image, with the packages that `npm ci --omit=dev` installs. */
function build(app: string): void {
  for (const [from, to] of dockerfile.copies) {
    const filter = (source: string) => !source.includes('/fixtures');
    cpSync(join(ROOT, from), join(app, to), { recursive: true, filter });
  }
  for (const path of productionPackages()) {
    mkdirSync(join(app, dirname(path)), { recursive: true });
    cpSync(join(ROOT, path), join(app, path), { recursive: true, dereference: true });
  }
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
}

describe('Dockerfile', () => {
  let folder: string;
  let app: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-image-'));
    app = join(folder, 'app');
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('copies only what .dockerignore sends', () => {
    const roots = dockerfile.copies.map(([from]) => from.split('/')[0] ?? '');
    expect(roots.filter((root) => !dockerfile.sent.includes(root))).to.deep.equal([]);
    for (const name of ['package.json', 'package-lock.json', '.npmrc']) expect(dockerfile.sent).to.include(name);
  });

  it('runs what npm start runs, without root', () => {
    const [heap, ...others] = dockerfile.command.filter((word) => word !== 'node');
    expect(heap).to.equal('--max-old-space-size-percentage=60');
    expect(['node', ...others]).to.deep.equal(startCommand());
    const { NODE_COMPILE_CACHE, ...variables } = startVariables();
    expect(NODE_COMPILE_CACHE).to.be.a('string');
    expect(dockerfile.environment).to.include(variables).and.to.have.property('NODE_COMPILE_CACHE');
    expect(dockerfile.user).to.equal('node');
  });

  itLong(
    'has all that the service, its health check and its command line need, and is never written to',
    async function () {
      this.timeout(120_000);
      build(app);
      const before = filesIn(app);
      const [port = 0] = await freePorts(1);
      const data = join(folder, 'data');
      mkdirSync(data);
      const env = {
        ...dockerfile.environment,
        PATH: process.env.PATH ?? '',
        PORT: String(port),
        DATA_DIR: data,
        DATABASE_URL: `sqlite:${join(data, 'tollgate.db')}`,
        NODE_COMPILE_CACHE: join(folder, 'compile'),
      };
      const run = (args: readonly string[]) =>
        spawnSync(process.execPath, args, { cwd: app, env, encoding: 'utf8', timeout: 30_000 });
      const [, ...healthcheck] = dockerfile.healthcheck;
      expect(run(healthcheck).status, 'the health check before the start').to.equal(1);
      // The image has Node only; the working directory is the application's.
      const [, ...main] = dockerfile.command.map((word) => (word.endsWith('.ts') ? join(app, word) : word));
      const service = spawnChild(process.execPath, main, env);
      await until(() => service.stdout().includes('Tollgate is listening on http://0.0.0.0:'), 20_000);
      expect((await send(`http://127.0.0.1:${port}/readyz`)).status).to.equal(200);
      expect(run(healthcheck).status, 'the health check').to.equal(0);
      const list = run(['lib/cli/main.ts', 'account', 'list', '--json']);
      expect(list.stdout, list.stderr).to.contain('"demo"');
      const set = run(['deploy/replica-set.ts']);
      expect([set.status, set.stderr]).to.deep.equal([
        1,
        'replica set: MONGODB_MEMBERS is not set: see .env.example\n',
      ]);
      service.kill('SIGTERM');
      expect((await service.exit).code).to.equal(0);
      expect(filesIn(app)).to.deep.equal(before);
    },
  );
});
