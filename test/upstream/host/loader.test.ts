import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { OperatorError } from '../../../lib/base/operator-error.ts';
import { loadPlugin, loadPlugins } from '../../../lib/upstream/host/loader.ts';
import { itLong } from '../../../testkit/long.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const source = (name: string, more = '') =>
  `export default { contract: 1, name: '${name}', settings: (joi) => joi.object({}), create: () => ({}), ${more} };`;

describe('loader of plugins', () => {
  let shipped: string;
  let further: string;
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'plugins-'));
    shipped = join(root, 'shipped');
    further = join(root, 'further');
    for (const folder of [shipped, further]) await mkdir(folder);
  });
  afterEach(() => rm(root, { recursive: true }));

  async function put(parent: string, name: string, text: string, file = 'index.ts'): Promise<void> {
    await mkdir(join(parent, name), { recursive: true });
    await writeFile(join(parent, name, file), text);
  }

  const load = () => loadPlugins({ shipped, path: [further] });

  async function refusal(): Promise<string> {
    const error: unknown = await load().catch((thrown: unknown) => thrown);
    expect(error, String(error)).to.be.instanceOf(OperatorError);
    const { message } = error as OperatorError;
    expect(message).not.to.include('\n');
    return message;
  }

  it('finds plugins in TypeScript and JavaScript, in the shipped and in further folders', async () => {
    await put(shipped, 'one', `import type { X } from './x.ts';\nconst typed: string = 'one';\n${source('one')}`);
    await put(further, 'two', source('two'), 'index.js');
    const plugins = await load();
    expect([...plugins.keys()]).to.deep.equal(['one', 'two']);
    expect(plugins.get('two')?.name).to.equal('two');
  });

  it('prefers the compiled file, follows links, and passes over files and hidden folders', async () => {
    await put(shipped, 'one', 'this is not TypeScript');
    await put(shipped, 'one', source('one'), 'index.js');
    await put(shipped, '.cache', 'nothing');
    await put(shipped, 'node_modules', 'nothing');
    await writeFile(join(shipped, 'README.md'), 'words');
    await put(root, 'linked', source('linked'), 'index.js');
    await symlink(join(root, 'linked'), join(further, 'linked'));
    expect([...(await load()).keys()]).to.deep.equal(['one', 'linked']);
  });

  const broken: readonly (readonly [what: string, text: string, reason: string | RegExp])[] = [
    ['does not parse', 'export default {', /does not load: .+/],
    ['throws on import', "throw new Error('first line\\nsecond line');", 'does not load: first line'],
    ['has no default export', 'export const plugin = {};', 'its index has no default export'],
    ['exports a function', 'export default () => {};', 'its default export is a function, not a plugin object'],
    ['exports null', 'export default null;', 'its default export is null, not a plugin object'],
    [
      'has another contract',
      source('broken', 'contract: 3'),
      'it has contract version 3, but this gateway needs 1 or 2',
    ],
    ['has a text for its contract', source('broken', "contract: '2'"), 'it has contract version "2", but'],
    ['has another name', source('other'), 'its name is "other", which is not that of the folder'],
    ['has a path for a name', source('../../shipped/broken'), 'is not that of the folder'],
    ['has no name', source('broken', 'name: undefined'), 'is not that of the folder'],
    ['has no settings', source('broken', 'settings: {}'), 'it has no settings function'],
    ['has no create', source('broken', 'create: null'), 'it has no create function'],
    [
      'has words of no kind',
      source('broken', "faultWords: { money: 'x' }"),
      'its faultWords have money, which is not a kind',
    ],
    [
      'has words that are none',
      source('broken', 'faultWords: { quota: 7 }'),
      'its faultWords have quota, which is not a kind',
    ],
    ['has texts of no kind', source('broken', 'faultTexts: { money: /x/ }'), 'its faultTexts have money, which is'],
    ['has texts that are words', source('broken', "faultTexts: { quota: 'x' }"), 'not a kind of fault with a RegExp'],
    ['has statuses of no kind', source('broken', "faultStatuses: { 498: 'money' }"), 'faultStatuses have 498: money'],
    ['has a success for a fault', source('broken', "faultStatuses: { 200: 'auth' }"), 'which is no status from 400'],
    ['has a text for its texts', source('broken', 'faultTexts: 7'), 'its faultTexts are not an object'],
    [
      'has limits without headers of theirs',
      source('broken', "limitHeaders: [{ remaining: 'X-Left' }]"),
      'limitHeaders',
    ],
    ['has a word for its words', source('broken', "faultWords: 'x'"), 'its faultWords are not an object'],
  ];
  for (const [what, text, reason] of broken) {
    it(`refuses a plugin that ${what}, naming its folder`, async () => {
      await put(shipped, 'broken', text);
      const message = await refusal();
      expect(message).to.include(`The plugin in ${join(shipped, 'broken')} is broken: `);
      if (typeof reason === 'string') expect(message).to.include(reason);
      else expect(message).to.match(reason);
    });
  }

  it('refuses a plugin that never finishes loading', async () => {
    await put(shipped, 'broken', `await new Promise(() => {});\n${source('broken')}`);
    const folder = join(shipped, 'broken');
    const error: unknown = await loadPlugin(folder, [1], 50).catch((thrown: unknown) => thrown);
    expect(String(error)).to.include(`The plugin in ${folder} is broken: `);
    expect(String(error)).to.include('index.ts does not load: a top-level await has no end after 0.05 s');
  });

  it('refuses a folder without an index', async () => {
    await mkdir(join(further, 'empty'));
    expect(await refusal())
      .to.include(join(further, 'empty'))
      .and.include('neither index.js nor index.ts');
  });

  it('refuses the folder of a plugin in the place of the one above it', async () => {
    await writeFile(join(further, 'index.ts'), source('further'));
    expect(await refusal()).to.equal(
      `The folder ${further} (PROVIDERS_PATH) is a plugin itself: name the folder above it`,
    );
  });

  it('refuses two plugins of one name, naming both folders', async () => {
    await put(shipped, 'one', source('one'));
    await put(further, 'one', source('one'));
    expect(await refusal()).to.equal(`Two plugins are named one: ${join(shipped, 'one')} and ${join(further, 'one')}`);
  });

  it('refuses a folder that does not exist', async () => {
    await rm(further, { recursive: true });
    expect(await refusal()).to.include(further);
  });

  it('loads one folder, and says if there is none', async () => {
    await put(shipped, 'old', source('old'));
    await put(shipped, 'new', source('new').replace('contract: 1', 'contract: 2'));
    for (const name of ['old', 'new']) expect(await loadPlugin(join(shipped, name))).to.include({ contract: 2, name });
    expect(await loadPlugin(join(shipped, 'old'), [1]), 'no provider').to.include({ contract: 1 });
    const missing: unknown = await loadPlugin(join(shipped, 'none')).catch((error: unknown) => error);
    expect(missing).to.be.instanceOf(OperatorError).and.to.have.property('message').that.includes('There is no folder');
  });

  it('loads every plugin of the checkout', async () => {
    const plugins = await loadPlugins({ shipped: join(ROOT, 'providers'), path: [] });
    expect(plugins.has('sandbox')).to.equal(true);
    for (const [name, plugin] of plugins) expect(plugin.name).to.equal(name);
  });

  itLong('loads the compiled plugins of an installed package', async () => {
    const dist = join(root, 'node_modules', 'tollgate', 'dist');
    const files = ['lib/upstream/host/loader.ts', 'providers/sandbox/index.ts'];
    const config = {
      extends: join(ROOT, 'tsconfig.build.json'),
      include: [],
      files: files.map((file) => join(ROOT, file)),
    };
    const own = {
      compilerOptions: { outDir: dist, rootDir: ROOT, types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
    };
    await writeFile(join(root, 'tsconfig.json'), JSON.stringify({ ...config, ...own }));
    await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), ['-p', join(root, 'tsconfig.json')]);
    await writeFile(join(dist, '..', 'package.json'), '{ "type": "module" }');
    // What is no module goes along by the script `prepack`.
    await copyFile(join(ROOT, 'providers/sandbox/film.mp4'), join(dist, 'providers/sandbox/film.mp4'));
    await symlink(join(ROOT, 'node_modules/joi'), join(root, 'node_modules/joi'));
    const loader: typeof import('../../../lib/upstream/host/loader.ts') = await import(
      join(dist, 'lib/upstream/host/loader.js')
    );
    const plugins = await loader.loadPlugins({ shipped: join(dist, 'providers'), path: [] });
    expect([...plugins.keys()]).to.deep.equal(['sandbox']);
  });
});
