import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { ADMIN, DATABASE, ELECTION, GATEWAY, SET_NAME } from '../../deploy/replica-set.ts';
import { readConfig, VARIABLES } from '../../lib/config.ts';
import { readDockerfile } from '../../testkit/dockerfile.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

interface Service {
  readonly image: string;
  readonly pull_policy?: string;
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly read_only?: boolean;
  readonly user?: string;
  readonly volumes?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly networks?: readonly string[];
  readonly stop_grace_period?: string;
  readonly ports?: readonly string[];
  readonly command?: readonly string[];
  readonly mem_limit?: string;
  readonly build?: { readonly args: Readonly<Record<string, string>> };
  readonly env_file?: readonly { readonly path: string }[];
}

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const composeText = read('docker-compose.yml');
const tlsText = read('docker-compose.tls.yml');
const smallText = read('docker-compose.small.yml');
const compose: { services: Record<string, Service>; networks: Record<string, object>; volumes: object } = parse(
  composeText,
  { merge: true },
);
const { services } = compose;
const gateways = ['gateway-1', 'gateway-2'].map((name) => services[name] as Service);
const members = ['mongo-1', 'mongo-2', 'mongo-3'].map((name) => services[name] as Service);
const replicaSet = services['replica-set'] as Service;
const proxy = services.proxy as Service;
const manifest = JSON.parse(read('package.json'));
const runtime = JSON.parse(read('runtime/package.json'));

/** `${NAME}`, `${NAME:-default}` and `${NAME:?error}`. */
function namesIn(text: string, form = ''): readonly string[] {
  const names = [...text.matchAll(/\$\{([A-Z][A-Z0-9_]*)(:[-?])?[^}]*\}/g)];
  return [...new Set(names.filter(([, , found = '']) => found.startsWith(form)).map(([, name = '']) => name))];
}

/** Names of `.env.example`, also those that stand in a comment; `filled` ones need a value. */
function examples(): { readonly all: readonly string[]; readonly needed: readonly string[] } {
  const lines = read('.env.example').split('\n');
  const matches = lines.map((line) => /^(#?)([A-Z][A-Z0-9_]*)=(.*)$/.exec(line)).filter((match) => match !== null);
  return {
    all: matches.map(([, , name = '']) => name),
    needed: matches.filter(([, comment, , value]) => comment === '' && value === '').map(([, , name = '']) => name),
  };
}

function catalogNames(): readonly string[] {
  const files = readdirSync(new URL('../../catalog/', import.meta.url)).filter((name) => name.endsWith('.json'));
  return [...new Set(files.flatMap((name) => namesIn(read(`catalog/${name}`))))];
}

/** As Compose does it, with values for what has none; a default may contain variables. */
function fill(value: string | number): string {
  const inner = /\$\{([A-Z0-9_]+)(?::-([^${}]*)|:\?[^}]*)?\}/g;
  const filled = String(value).replace(inner, (_, name, byDefault) => byDefault ?? `a-${name}`);
  return filled === value ? filled : fill(filled);
}

function seconds(period: string | undefined): number {
  return Number(/^(\d+)s$/.exec(period ?? '')?.[1]);
}

/** Of a limit in gigabytes, as Compose reads it. */
function mebibytes(limit: string | undefined): number {
  return Number(/^(\d+)g$/.exec(fill(limit ?? ''))?.[1]) * 1024;
}

/** The lines of a block of commands in a document that begins with this line. */
function findBlock(document: string, first: string): string {
  const [, rest = ''] = read(document).split(`\n${first}`);
  return `${first}${rest.slice(0, rest.indexOf('\n```'))}`;
}

describe('deployment files', () => {
  it('name every variable in .env.example, and none that is not read', () => {
    const { all, needed } = examples();
    const files = [composeText, tlsText, smallText];
    // Compose itself reads COMPOSE_FILE.
    const used = [...files.flatMap((text) => namesIn(text)), ...catalogNames(), 'COMPOSE_FILE'];
    expect(
      used.filter((name) => !all.includes(name)),
      'missing in .env.example',
    ).to.deep.equal([]);
    expect(
      all.filter((name) => !used.includes(name) && !VARIABLES.includes(name)),
      'unknown',
    ).to.deep.equal([]);
    // What compose refuses to go without stands there to be filled in, and what vendors' keys are encrypted with.
    expect([...needed].sort()).to.deep.equal([...namesIn(composeText, ':?'), 'SECRETS_KEY'].sort());
  });

  it('give the gateways an environment that they accept, and none of the secrets of the databases', () => {
    for (const { environment = {}, env_file } of gateways) {
      const secrets = ['MONGODB_KEY', 'MONGODB_ADMIN_PASSWORD', 'MONGODB_GATEWAY_PASSWORD'];
      expect(secrets.map((name) => environment[name])).to.deep.equal(['', '', '']);
      const names = Object.keys(environment).filter((name) => !secrets.includes(name));
      expect(names.filter((name) => !VARIABLES.includes(name))).to.deep.equal([]);
      const config = readConfig(Object.fromEntries(names.map((name) => [name, fill(environment[name] ?? '')])));
      expect(config.host).to.equal('0.0.0.0');
      expect(config.sandbox).to.equal('off');
      expect(env_file).to.deep.equal([{ path: '.env', required: false }]);
    }
    expect(gateways[0]).to.deep.equal(gateways[1]);
    // Built once: an image that each service builds for itself makes the next `up` recreate both gateways.
    expect(Object.keys(services).filter((name) => services[name]?.build)).to.deep.equal(['replica-set']);
  });

  it('agree on the replica set, its database and its users', () => {
    const url = new URL(fill(gateways[0]?.environment?.DATABASE_URL ?? '').replace(/,[^/]*/, ''));
    const hosts = /@([^/]+)\//.exec(String(gateways[0]?.environment?.DATABASE_URL))?.[1];
    expect([url.username, url.password]).to.deep.equal([GATEWAY, 'a-MONGODB_GATEWAY_PASSWORD']);
    expect(url.pathname).to.equal(`/${DATABASE}`);
    expect(url.searchParams.get('replicaSet')).to.equal(SET_NAME);
    expect(url.searchParams.get('authSource')).to.equal('admin');
    expect(hosts).to.equal(replicaSet.environment?.MONGODB_MEMBERS);
    expect(hosts?.split(',').map((host) => host.split(':')[0])).to.deep.equal(['mongo-1', 'mongo-2', 'mongo-3']);
    expect(parse(read('deploy/mongod.conf')).replication.replSetName).to.equal(SET_NAME);
    expect(ADMIN).to.equal('admin');
    expect(ELECTION).to.deep.equal({ electionTimeoutMillis: 2000, heartbeatTimeoutSecs: 2 });
  });

  it('run everything with the fewest rights, and expose only the proxy', () => {
    for (const [name, service] of Object.entries(services)) {
      expect(service, name).to.deep.include({ read_only: true, cap_drop: ['ALL'] });
      if (name !== 'proxy') expect(service.ports, name).to.equal(undefined);
    }
    for (const { networks, user } of members) {
      expect(networks).to.deep.equal(['store']);
      expect(user).to.equal('999:999');
    }
    expect(proxy.networks).to.deep.equal(['front']);
    expect(compose.networks.store).to.deep.equal({ internal: true });
    expect(fill(proxy.ports?.[0] ?? '')).to.equal('127.0.0.1:8080:8080');
  });

  it('pin every image', () => {
    for (const { image } of Object.values(services)) expect(fill(image)).to.match(/:\d+\.\d+\.\d+(-[a-z]+)?$/);
    for (const { image, pull_policy } of [...gateways, replicaSet]) {
      expect(pull_policy).to.equal('never');
      expect(image).to.equal(`tollgate:\${TOLLGATE_TAG:-${manifest.version}}`);
    }
    expect(read('.env.example')).to.match(new RegExp(`^TOLLGATE_TAG=${manifest.version}$`, 'm'));
    for (const image of readDockerfile().images) expect(image).to.equal(`node:${runtime.version}-slim`);
    expect(fill(replicaSet.build?.args.NODE_IMAGE ?? '')).to.equal(`node:${runtime.version}-slim`);
    const locked = [...read('.env.example').matchAll(/^#([A-Z]+_IMAGE)=(\S+)@sha256:/gm)].map(([, name, image]) => [
      name,
      image,
    ]);
    expect(Object.fromEntries(locked)).to.deep.equal({
      NODE_IMAGE: readDockerfile().images[0],
      MONGO_IMAGE: fill(members[0]?.image ?? ''),
      CADDY_IMAGE: fill(proxy.image),
    });
  });

  it('are built for a release by one file, with its version', () => {
    const bake = read('docker-bake.hcl');
    const defaults = Object.fromEntries(
      [...bake.matchAll(/^variable "(\w+)" \{\n {2}default = "(.*)"$/gm)].map(([, name, value]) => [name, value]),
    );
    expect(defaults).to.include({ VERSION: manifest.version, NODE_IMAGE: readDockerfile().images[0] });
    for (const name of bake.match(/^ {2}args {7}= \{ (\w+) = \1 \}$/m)?.slice(1) ?? ['none']) {
      expect(read('Dockerfile')).to.include(`ARG ${name}=`);
    }
    const named = [...read('docs/operations/deploy.md').matchAll(/tollgate[:-](\d+\.\d+\.\d+)/g)].map(
      ([, version]) => version,
    );
    expect(named.length).to.be.above(0);
    expect(new Set(named)).to.deep.equal(new Set([manifest.version]));
  });

  it('give every member and gateway as much memory as it needs, and a cache that fits', () => {
    for (const { mem_limit, command = [] } of members) {
      const cacheGb = Number(fill(command[command.indexOf('--wiredTigerCacheSizeGB') + 1] ?? ''));
      expect(cacheGb).to.be.at.least(0.25);
      expect(cacheGb * 1024).to.be.at.most(mebibytes(mem_limit) / 2);
    }
    const [, siegeMax] = /RSS_MAX_MB = .*bare: (\d+)/.exec(read('scripts/siege/main.ts')) ?? [];
    for (const { mem_limit } of gateways) expect(mebibytes(mem_limit)).to.be.at.least(1.5 * Number(siegeMax));
    const shown = Object.fromEntries(
      [...read('.env.example').matchAll(/^#(MONGODB_MEMORY|GATEWAY_MEMORY)=(.*)$/gm)].map(([, name, value]) => [
        name,
        value,
      ]),
    );
    expect(shown).to.deep.equal({
      MONGODB_MEMORY: fill(members[0]?.mem_limit ?? ''),
      GATEWAY_MEMORY: fill(gateways[0]?.mem_limit ?? ''),
    });
  });

  it('run one gateway on SQLite like one of two on MongoDB', () => {
    const { services: alone, volumes } = parse(smallText, { merge: true });
    const { gateway } = alone;
    const [pair = {} as Service] = gateways;
    const { DATABASE_URL, DATA_DIR, ...others } = gateway.environment;
    expect([DATABASE_URL, DATA_DIR]).to.deep.equal(['sqlite:/data/tollgate.db', '/data']);
    expect(pair.environment).to.include(others);
    for (const name of ['image', 'read_only', 'mem_limit', 'env_file', 'tmpfs', 'stop_grace_period'] as const) {
      expect(gateway[name], name).to.deep.equal(pair[name]);
    }
    expect(gateway.volumes).to.have.members([...(pair.volumes ?? []), 'data:/data']);
    expect(alone.proxy).to.deep.include({ ports: proxy.ports, volumes: proxy.volumes, image: proxy.image });
    expect(Object.keys(volumes).sort()).to.deep.equal(['backup', 'data', 'proxy']);
  });

  it('run in Kubernetes as with Compose', () => {
    const documents = parseAllDocuments(read('deploy/kubernetes/tollgate.yaml')).map((document) => document.toJS());
    const find = (kind: string) => documents.find((found) => found.kind === kind);
    const { data } = find('ConfigMap');
    expect(Object.keys(data).filter((name) => !VARIABLES.includes(name))).to.deep.equal([]);
    const config = readConfig(data);
    expect([config.host, config.sandbox, config.dataDir]).to.deep.equal(['0.0.0.0', 'off', '/tmp']);
    const { spec } = find('Deployment').spec.template;
    const [container] = spec.containers;
    expect(container.image).to.match(new RegExp(`/tollgate:${manifest.version}$`));
    expect(container.ports.map((port: { containerPort: number }) => port.containerPort)).to.deep.equal([
      config.port,
      config.metricsPort,
    ]);
    expect(container.resources.limits.memory).to.equal('1Gi');
    expect(container.securityContext).to.deep.include({
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(spec.terminationGracePeriodSeconds).to.be.at.least(config.drainMs / 1000 + 20);
    const [host] = find('Ingress').spec.tls[0].hosts;
    expect(config.publicUrl).to.equal(`https://${host}`);
  });

  it('mount files that exist', () => {
    const mounts = Object.values(services).flatMap(({ volumes = [] }) => volumes);
    const sources = mounts.map((mount) => mount.split(':')[0] ?? '');
    const files = sources.filter((source) => source.startsWith('.'));
    expect(files.filter((file) => !existsSync(`${ROOT}${file}`))).to.deep.equal([]);
    const volumes = sources.filter((source) => !source.startsWith('.'));
    expect([...new Set(volumes)].sort()).to.deep.equal(Object.keys(compose.volumes).sort());
  });

  it('leave calls time to end', () => {
    const { drainMs } = readConfig({});
    for (const gateway of gateways) {
      const delayMs = Number(fill(gateway.environment?.SHUTDOWN_DELAY_MS ?? '0'));
      // The proxy asks twice before it believes it.
      const [, everyS] = /health_interval (\d+)s/.exec(read('deploy/Caddyfile')) ?? [];
      expect(delayMs).to.be.above(2000 * Number(everyS));
      expect(seconds(gateway.stop_grace_period)).to.be.at.least((delayMs + drainMs) / 1000 + 17);
    }
    const [, grace] = /grace_period (\d+s)/.exec(read('deploy/Caddyfile')) ?? [];
    expect(seconds(proxy.stop_grace_period)).to.be.above(seconds(grace));
    expect(seconds(grace)).to.be.at.least(drainMs / 1000);
  });

  it('let a start migrate the store for ten minutes before they call it ill', () => {
    const [, period] = /^HEALTHCHECK .*--start-period=(\S+) /m.exec(read('Dockerfile')) ?? [];
    expect(seconds(period)).to.equal(600);
    for (const gateway of gateways) expect(gateway).to.not.have.property('healthcheck');
    const documents = parseAllDocuments(read('deploy/kubernetes/tollgate.yaml')).map((document) => document.toJS());
    const { progressDeadlineSeconds, template } = documents.find(({ kind }) => kind === 'Deployment').spec;
    const { periodSeconds, failureThreshold } = template.spec.containers[0].startupProbe;
    expect(periodSeconds * failureThreshold).to.equal(600);
    expect(progressDeadlineSeconds).to.be.above(600);
  });

  it('give the proxy the variables that its file asks for', () => {
    const asked = [...read('deploy/Caddyfile').matchAll(/\{\$([A-Z0-9_]+)(:[^}]*)?\}/g)];
    const needed = asked.filter(([, , byDefault]) => byDefault === undefined).map(([, name]) => name);
    expect(needed).to.have.members(['PROXY_DOMAIN', 'GATEWAY_1']);
    const optional = Object.keys(parse(tlsText).services.proxy.environment);
    const given = [...Object.keys(proxy.environment ?? {}), ...optional];
    expect(given.sort()).to.deep.equal([...needed, 'GATEWAY_2'].sort());
  });

  it('are edited by commands that GNU and macOS understand', () => {
    const documents = ['README.md', 'CONTRIBUTING.md', '.env.example', 'docker-compose.yml'];
    const docs = readdirSync(`${ROOT}docs`, { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`);
    const edits = [...documents, ...docs.filter((name) => name.endsWith('.md'))].flatMap(
      (name) => read(name).match(/\bsed -i\S*/g) ?? [],
    );
    // BSD takes the next word for the suffix of the copy, GNU does not: only one joined to the option is the same to both.
    expect(new Set(edits)).to.deep.equal(new Set(['sed -i.bak']));
  });

  it('get their secrets and their tag by the commands of the documentation', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-files-'));
    try {
      cpSync(join(ROOT, '.env.example'), join(folder, '.env.example'));
      const secrets = findBlock('docs/operations/deploy.md', 'cp .env.example .env && chmod 600 .env\nfor').replace(
        /^docker .*$/gm,
        '',
      );
      const tag = findBlock('docs/operations/deploy.md', 'tollgate_tag()').split('\n')[0];
      const commented = read('.env.example').match(/^# {3}( *)(for|sed) .*$|^# {3}( *)sed .*$/gm) ?? [];
      expect(commented.map((line) => line.slice(4).trim()).join(' ')).to.equal(
        secrets
          .split('\n')
          .slice(1, 3)
          .map((line) => line.trim())
          .join(' '),
      );
      execFileSync('sh', ['-euc', `${secrets}\n${tag}\ntollgate_tag v1.2.3-4-gabcdef`], { cwd: folder });
      expect(readdirSync(folder).sort()).to.deep.equal(['.env', '.env.example']);
      const env = readFileSync(join(folder, '.env'), 'utf8');
      const needed = ['SECRETS_KEY', ...namesIn(composeText, ':?')];
      for (const name of needed) expect(env).to.match(new RegExp(`^${name}=[0-9a-f]{64}$`, 'm'));
      expect(new Set(env.match(/=[0-9a-f]{64}$/gm)).size).to.equal(needed.length);
      expect(env).to.match(/^TOLLGATE_TAG=v1\.2\.3-4-gabcdef$/m);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('are accepted by Docker Compose', function () {
    try {
      execFileSync('docker', ['compose', 'version'], { stdio: 'ignore' });
    } catch {
      console.log('    docker compose is not here: its own check of the files is left out');
      return this.skip();
    }
    const env = {
      PATH: process.env.PATH,
      MONGODB_KEY: 'a',
      MONGODB_ADMIN_PASSWORD: 'b',
      MONGODB_GATEWAY_PASSWORD: 'c',
    };
    const check = (extra: object, ...files: string[]) =>
      execFileSync(
        'docker',
        ['compose', '--env-file', '/dev/null', ...files.flatMap((name) => ['-f', name]), 'config'],
        {
          cwd: ROOT,
          stdio: 'pipe',
          env: { ...env, ...extra },
        },
      );
    check({}, 'docker-compose.yml');
    check({ PROXY_DOMAIN: 'ai.example.com' }, 'docker-compose.yml', 'docker-compose.tls.yml');
    check({ MONGODB_KEY: '' }, 'docker-compose.small.yml');
    check({ PROXY_DOMAIN: 'ai.example.com' }, 'docker-compose.small.yml', 'docker-compose.tls.yml');
    expect(() => check({ MONGODB_KEY: '' }, 'docker-compose.yml')).to.throw(/MONGODB_KEY/);
  });
});
