// The packed package as an operator has it: installed under a prefix, served by the systemd unit.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { send, until } from '../../testkit/client.ts';
import { productionPackages } from '../../testkit/packages.ts';
import { spawnChild } from '../../testkit/process.ts';
import { readTestingExamples } from '../../testkit/testing-examples.ts';
import { parseUnit } from './unit.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Where the unit and its documentation have the package. */
const PREFIX = '/opt/tollgate';
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

const VITEST = 'vitest@5.1.1';

/** Compiles only if the types of the package say what the guide says. */
const TYPED = `
import { createGateway, createLog, readConfig, type Gateway, OperatorError } from 'tollgate';
import { createTestClock, createTestGateway, type TestGateway, type TestRequest } from 'tollgate/testing';

const config = readConfig({ PORT: '0' });
const log = createLog({ level: config.logLevel, keyPrefix: config.keyPrefix });
const gateway: Gateway = await createGateway(config, log, { onRequestEnd: ({ id, status }) => console.log(id, status + 1) });
const clock = createTestClock(0);
const tollgate: TestGateway = await createTestGateway({ clock, accounts: [{ rub: '1', keys: [{ budget: '1' }] }] });
const [request]: readonly TestRequest[] = await tollgate.requests();
const charged: string | undefined = request?.charge?.charged;
// @ts-expect-error Amounts are strings.
await tollgate.addAccount({ rub: 1 });
// @ts-expect-error There is no such option.
await createTestGateway({ clocks: clock });
export { charged, gateway, OperatorError };
`;

/** `npm pack` in a copy of the checkout, because it compiles, and `npm install --global --prefix` without the network. */
function install(folder: string): string {
  const checkout = join(folder, 'checkout');
  const files = [
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'README.md',
    'LICENSE',
    'CHANGELOG.md',
    '.npmrc',
  ];
  for (const name of [
    ...files,
    'bin',
    'deploy',
    'lib',
    'providers',
    'payments',
    'catalog',
    'docs',
    'scripts/provider-template',
  ]) {
    cpSync(join(ROOT, name), join(checkout, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: checkout, stdio: 'pipe' });
  const { name, version, bin } = JSON.parse(read('package.json'));
  const prefix = join(folder, 'prefix');
  const modules = join(prefix, 'lib/node_modules');
  mkdirSync(join(prefix, 'bin'), { recursive: true });
  mkdirSync(modules, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, `${name}-${version}.tgz`), '-C', modules]);
  execFileSync('mv', [join(modules, 'package'), join(modules, name)]);
  for (const path of productionPackages()) {
    const target = join(modules, name, path);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(ROOT, path), target, { recursive: true, dereference: true });
  }
  for (const [command, file] of Object.entries<string>(bin)) {
    symlinkSync(join('../lib/node_modules', name, file), join(prefix, 'bin', command));
  }
  return prefix;
}

describe('the packed package', () => {
  const unitText = read('deploy/tollgate.service');
  const unit = parseUnit(unitText);
  let folder: string;
  let prefix: string;
  before(function () {
    this.timeout(180_000);
    folder = mkdtempSync(join(tmpdir(), 'tollgate-package-'));
    prefix = install(folder);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('serves calls as the unit starts it, and the command line works beside it on the same settings', async function () {
    this.timeout(120_000);
    const [home, state] = [join(folder, 'etc'), join(folder, 'state')];
    for (const each of [home, state]) mkdirSync(each);
    const settings = [`DATABASE_URL=sqlite:${state}/tollgate.db`, `DATA_DIR=${state}`, 'PORT=0', 'SANDBOX=on'];
    writeFileSync(join(home, '.env'), `${settings.join('\n')}\n`);
    const assignments = (unit.get('Environment') ?? []).flatMap((line) => line.split(' '));
    const environment = Object.fromEntries(assignments.map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
    const env = { PATH: process.env.PATH ?? '', ...environment };
    const start = (unit.get('ExecStart')?.[0] ?? '').replace(PREFIX, prefix);
    const service = spawnChild('sh', ['-c', `cd '${home}' && exec ${start}`], env);
    await until(() => service.stdout().includes('curl -N'), 30_000);
    const [, url = ''] = /^Tollgate is listening on (\S+)/.exec(service.stdout()) ?? [];
    const [key = ''] = /tg-sk-\w+/.exec(service.stdout()) ?? [];
    const reply = await send(`${url}/api/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'smart', messages: [{ role: 'user', content: 'Translate into French: hello' }] }),
    });
    expect(reply.status, reply.text).to.equal(200);
    const run = (...args: string[]) =>
      spawnSync(join(prefix, 'bin/tollgate'), args, { cwd: home, env, encoding: 'utf8', timeout: 60_000 });
    const usage = run('usage', 'demo', '--json');
    expect(JSON.parse(usage.stdout), usage.stderr).to.deep.include({ store: `sqlite:${state}/tollgate.db` });
    expect(JSON.parse(usage.stdout).total).to.deep.include({ calls: 1 });
    service.kill('SIGTERM');
    expect((await service.exit).code).to.equal(0);
  });

  it('makes a plugin in an empty folder, checks it, and records for it', () => {
    const own = join(folder, 'own');
    mkdirSync(own);
    writeFileSync(join(own, 'package.json'), '{ "type": "commonjs" }');
    const run = (input: string, ...args: readonly string[]) =>
      spawnSync(join(prefix, 'bin/tollgate'), ['provider', ...args], { cwd: own, input, encoding: 'utf8' });
    for (const kind of ['text', 'embed', 'image', 'video']) {
      const made = run('', 'new', `my-${kind}`, '--kind', kind, '--into', 'providers');
      expect([made.status, made.stderr]).to.deep.equal([0, '']);
      expect(made.stdout).to.include(`npx tollgate provider check providers/my-${kind}`);
      const checked = run('', 'check', `providers/my-${kind}`);
      expect(checked.stdout, checked.stderr).to.match(/\d+ checks, all passed/);
    }
    const { stderr } = run('{}', 'record', 'http://127.0.0.1:9/');
    expect(stderr).to.equal('tollgate: connect ECONNREFUSED 127.0.0.1:9\n');
  }).timeout(180_000);

  it('runs inside programs and tests, as the guide shows, with types', function () {
    this.timeout(300_000);
    const own = join(folder, 'application');
    const modules = join(own, 'node_modules');
    mkdirSync(modules, { recursive: true });
    symlinkSync(join(prefix, 'lib/node_modules/tollgate'), join(modules, 'tollgate'));
    for (const name of ['mocha', 'nock', '@types']) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
    const examples = readTestingExamples();
    writeFileSync(join(own, 'package.json'), '{ "private": true, "type": "module" }');
    writeFileSync(join(own, 'program.js'), examples.program);
    writeFileSync(join(own, 'mocha.test.js'), examples.mocha);
    writeFileSync(join(own, 'typed.ts'), TYPED);
    const { PATH, HOME } = process.env;
    const run = (command: string, ...args: readonly string[]) => {
      const options = { cwd: own, env: { PATH, HOME }, encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync(command, args, options);
      return { status, output: stdout + stderr };
    };
    const program = run(process.execPath, 'program.js');
    expect(program.status, program.output).to.equal(0);
    const mocha = run(process.execPath, 'node_modules/mocha/bin/mocha.js', '--timeout', '60000', 'mocha.test.js');
    expect(mocha.status, mocha.output).to.equal(0);
    const strict = [
      '--noEmit',
      '--strict',
      '--target',
      'esnext',
      '--module',
      'nodenext',
      '--types',
      'node',
      'typed.ts',
    ];
    const types = run(join(ROOT, 'node_modules/.bin/tsc'), '--skipLibCheck', ...strict);
    expect(types.status, types.output).to.equal(0);
  });

  it('runs inside tests of vitest, if the registry has it to offer', function () {
    this.timeout(600_000);
    const own = join(folder, 'vitest');
    mkdirSync(own);
    writeFileSync(join(own, 'package.json'), '{ "private": true, "type": "module" }');
    const options = { cwd: own, encoding: 'utf8' } as const;
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: '1' };
    const added = spawnSync('npm', ['install', '--no-audit', '--no-fund', VITEST], { ...options, timeout: 240_000 });
    if (added.status !== 0) {
      console.log('    the registry does not answer: the example for vitest is left out');
      return this.skip();
    }
    symlinkSync(join(prefix, 'lib/node_modules/tollgate'), join(own, 'node_modules/tollgate'));
    writeFileSync(join(own, 'application.test.js'), readTestingExamples().vitest);
    const { status, stdout, stderr } = spawnSync('node_modules/.bin/vitest', ['run'], { ...options, env });
    expect(status, stdout + stderr).to.equal(0);
    expect(stdout).to.match(/Tests +2 passed/);
  });

  it('says what keeps it from serving in one line', () => {
    const env = { PATH: process.env.PATH, PORT: 'http' };
    const { status, stdout, stderr } = spawnSync(join(prefix, 'bin/tollgate'), ['serve'], { env, encoding: 'utf8' });
    expect([status, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.match(/^tollgate: Bad environment: PORT must be a number\n$/);
  });

  it('has what the unit and its documentation name', () => {
    const [, section = ''] = /\n## One machine, systemd\n(.*?)\n## /s.exec(read('docs/operations/deploy.md')) ?? [];
    const paths = `${unitText}${section}`.match(/\/opt\/tollgate\/[\w./-]+\w/g) ?? [];
    expect(paths).to.include.members([
      ...[`${PREFIX}/bin/tollgate`, `${PREFIX}/lib/node_modules/tollgate/catalog`],
      `${PREFIX}/lib/node_modules/tollgate/deploy/tollgate.service`,
    ]);
    expect(paths.filter((path) => !existsSync(path.replace(PREFIX, prefix)))).to.deep.equal([]);
    const help = spawnSync(join(prefix, 'bin/tollgate'), ['--help'], { encoding: 'utf8' }).stdout;
    const words = [...`${unitText}${section}`.matchAll(/(?:bin\/tollgate|^ttg) ([a-z]+)/gm)].map(([, word]) => word);
    expect(words).to.include.members(['serve', 'account', 'store']);
    for (const word of words) expect(help).to.match(new RegExp(`^  ${word} `, 'm'));
  });
});
