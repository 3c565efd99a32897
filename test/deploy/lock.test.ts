import { readFileSync } from 'node:fs';
import { expect } from 'chai';

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const { packages }: { packages: Readonly<Record<string, Locked>> } = JSON.parse(read('package-lock.json'));
const runtime: Locked = JSON.parse(read('runtime/package.json'));
const installed = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link);

describe('package-lock.json', () => {
  it('has a hash for every package, also for the tools of other platforms', () => {
    expect(installed.length).to.be.above(100);
    for (const [path, { integrity }] of installed) expect(integrity, path).to.match(/^sha512-[\w+/]{86}==$/);
  });

  it('allows entries without a hash only for this checkout and its runtime', () => {
    const open = Object.entries(packages).filter(([, { integrity }]) => !integrity);
    expect(open.map(([path]) => path)).to.have.members(['', 'runtime', 'node_modules/runtime']);
    expect(packages['node_modules/runtime']).to.deep.equal({ resolved: 'runtime', link: true });
  });

  it('holds the binary of Node for each platform by its hash', () => {
    const binaries = Object.entries(runtime.optionalDependencies ?? {});
    expect(binaries).to.have.length(5);
    for (const [name, version] of binaries) {
      expect(version, name).to.equal(runtime.version);
      expect(packages[`node_modules/${name}`], name).to.include({ version, dev: true, optional: true });
      expect(packages[`node_modules/${name}`]?.integrity, name).to.match(/^sha512-/);
    }
    expect(process.version).to.equal(`v${runtime.version}`);
    expect(read('Dockerfile')).to.include(`ARG NODE_IMAGE=node:${runtime.version}-slim`);
    expect(read('docker-compose.yml')).to.include(`NODE_IMAGE:-node:${runtime.version}-slim}`);
  });

  it('runs no script that downloads unlocked files', () => {
    expect(installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path)).to.deep.equal([]);
  });

  it('is whole: npm ci refuses a lock in which a package of any platform is missing', () => {
    const wanted = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).map((name) => ({ path, name })),
    );
    expect(wanted).to.not.be.empty;
    for (const { path, name } of wanted) {
      const known = packages[`node_modules/${name}`] ?? packages[`${path}/node_modules/${name}`];
      expect(known, `${name} of ${path}`).to.not.equal(undefined);
    }
  });
});
