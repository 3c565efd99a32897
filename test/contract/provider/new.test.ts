// `tollgate provider new`: the folder that it makes is a plugin that passes the contract suite.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { collectChecks } from '../../../lib/upstream/check/check.ts';
import { loadPlugins } from '../../../lib/upstream/host/loader.ts';
import { longer } from '../../../testkit/long.ts';
import { runCommand } from '../../cli/command.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const KINDS = ['text', 'embed', 'image', 'video'];
const LINES_MAX = 150;

describe('a new provider', function () {
  this.timeout(60_000);
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-new-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const run = (...args: readonly string[]) => runCommand(['provider', 'new', ...args], process.env);
  async function make(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stderr]).to.deep.equal([0, '']);
    return stdout;
  }
  async function refused(...args: readonly string[]): Promise<string> {
    const { code, stderr } = await run(...args);
    expect(code, stderr).to.be.oneOf([1, 2]);
    return stderr;
  }
  const filesOf = (name: string) =>
    readdirSync(join(folder, name), { recursive: true, encoding: 'utf8' }).filter((file) => /\.(ts|json)$/.test(file));

  for (const kind of KINDS) {
    it(`of ${kind} passes every check, is small, and has its own name only`, async () => {
      const stdout = await make('pixel-mill', '--kind', kind, '--into', folder);
      expect(stdout).to.contain(`provider check ${join(folder, 'pixel-mill')}`);
      const files = filesOf('pixel-mill');
      const sources = files.filter((file) => file.endsWith('.ts'));
      const texts = new Map(files.map((file) => [file, readFileSync(join(folder, 'pixel-mill', file), 'utf8')]));
      expect(sources.length).to.be.within(1, 4);
      const lines = sources.reduce((sum, file) => sum + (texts.get(file) ?? '').split('\n').length - 1, 0);
      expect(lines).to.be.at.most(LINES_MAX);
      for (const [file, text] of texts) expect(text, file).not.to.match(/acme/i);
      expect(JSON.parse(texts.get('package.json') ?? '')).to.include({ type: 'module' });
      expect(texts.get('index.ts'))
        .to.contain("from 'tollgate/plugin'")
        .and.to.match(/^\/\/ Plugin for Pixel Mill: /);
      expect([...(await loadPlugins({ shipped: folder, path: [] })).keys()]).to.deep.equal(['pixel-mill']);
      const checks = await collectChecks(join(folder, 'pixel-mill'));
      expect(checks.length).to.be.above(40);
      // A check is the same for each kind: `npm test` makes all of them of one.
      const some = checks.filter((_, at) => longer(kind === 'embed' || at % 5 === 0, true));
      for (const check of some) await check.run();
    });
  }

  it('is of text unless it is said otherwise, and takes its types from the checkout that it is in', async () => {
    const inside = join(ROOT, '.cache', `new-${process.pid}`);
    try {
      await make('mill', '--into', join(inside, 'providers'));
      const index = readFileSync(join(inside, 'providers/mill/index.ts'), 'utf8');
      expect(index)
        .to.contain("from '../../../../lib/upstream/contract/provider.ts'")
        .and.to.contain('text(call, signal)');
    } finally {
      rmSync(inside, { recursive: true, force: true });
    }
  });

  it('of text is the example of the guide', () => {
    const guide = readFileSync(join(ROOT, 'docs/providers.md'), 'utf8');
    const show = (language: string) => new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(guide)?.[1];
    const template = (file: string) => readFileSync(join(ROOT, 'scripts/provider-template/text', file), 'utf8');
    const types = "'../../../lib/upstream/contract/provider.ts'";
    expect(show('ts')).to.equal(template('index.ts').replace(types, "'tollgate/plugin'"));
    expect(show('json')).to.equal(template('fixtures/answers.json'));
  });

  it('never replaces a folder that is there', async () => {
    await make('mill', '--into', folder);
    const before = readFileSync(join(folder, 'mill/index.ts'), 'utf8');
    expect(await refused('mill', '--kind', 'video', '--into', folder)).to.contain('already exists');
    expect(readFileSync(join(folder, 'mill/index.ts'), 'utf8')).to.equal(before);
  });

  it('needs one name that can be one, and a kind that there is', async () => {
    for (const name of ['Mill', '../mill', 'my mill', '-mill', 'mill-', '7up', 'a/b']) {
      expect(await refused('--into', folder, '--', name), name).to.contain('lower-case letters');
    }
    for (const [args, says] of [
      [[], "missing required argument 'name'"],
      [['one', 'two'], 'too many arguments'],
      [['mill', '--kind', 'sound'], 'Allowed choices are text, embed, image, video'],
      [['mill', '--kin', 'text'], "unknown option '--kin'"],
    ] as const) {
      expect(await refused(...args, '--into', folder)).to.contain(says);
    }
    expect(readdirSync(folder)).to.deep.equal([]);
    expect(existsSync(join(ROOT, 'providers/mill'))).to.equal(false);
  });
});
