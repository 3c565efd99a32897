// The worked plugins of the pages on text, images and videos pass every check with their recordings, and their types are
// those of the contract.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { collectChecks } from '../../../lib/upstream/check/check.ts';
import { longer } from '../../../testkit/long.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CACHE = join(ROOT, '.cache');

describe('the pages on providers', function () {
  this.timeout(60_000);
  let folder: string;
  before(() => {
    mkdirSync(CACHE, { recursive: true });
    // Within the checkout, so that the types of Node are found.
    folder = mkdtempSync(join(CACHE, 'pages-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  /** The code and the recordings of a page, as the folder of a plugin. */
  function writePlugin(page: string, under = '.'): string {
    const text = readFileSync(join(ROOT, 'docs/providers', `${page}.md`), 'utf8');
    const show = (language: string) =>
      new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(text)?.[1] ?? expect.fail(`${page}.md has no ${language}`);
    const code = show('ts');
    const name = /^ {2}name: '([a-z]+)',$/m.exec(code)?.[1] ?? expect.fail('a plugin without a name');
    const plugin = join(folder, under, name);
    mkdirSync(join(plugin, 'fixtures'), { recursive: true });
    writeFileSync(join(plugin, 'index.ts'), code);
    writeFileSync(join(plugin, 'fixtures', 'recordings.json'), show('json'));
    return plugin;
  }

  for (const page of longer(['videos'], ['text', 'images', 'videos'])) {
    it(`show a plugin of ${page} that passes every check`, async () => {
      const failures: string[] = [];
      for (const { group, name, run } of await collectChecks(writePlugin(page))) {
        await run().catch((error: Error) => failures.push(`${group}: ${name}: ${error.message}`));
      }
      expect(failures).to.deep.equal([]);
    });
  }

  for (const [what, file, from, to] of [
    ['is not recorded', 'fixtures/recordings.json', '"path": "/v1/films/f1", "method"', '"method"'],
    ['asks for something else', 'index.ts', "method: 'DELETE'", "method: 'POST'"],
    [
      'asks with no key',
      'index.ts',
      'cancellation: ({ url }) => ({',
      'auth: () => ({}), cancellation: ({ url }) => ({',
    ],
  ] as const) {
    it(`find a cancelling that ${what}`, async () => {
      const plugin = writePlugin('videos', what.replaceAll(' ', '-'));
      const path = join(plugin, file);
      const source = readFileSync(path, 'utf8');
      expect(source).to.include(from);
      writeFileSync(
        path,
        source.replace(from, () => to),
      );
      const checks = await collectChecks(plugin);
      const check = checks.find(({ name }) => name === 'are cancelled as recorded');
      const thrown = await check?.run().catch((error: Error) => error);
      expect(thrown).to.be.instanceOf(Error);
    });
  }

  it('find headers of limits that no recording has', async () => {
    const plugin = writePlugin('text', 'limits');
    const code = join(plugin, 'index.ts');
    const limits = "limitHeaders: [{ remaining: 'x-calls-left', reset: 'x-calls-reset' }],";
    writeFileSync(code, readFileSync(code, 'utf8').replace('create: createProvider,', `$& ${limits}`));
    const recordings = join(plugin, 'fixtures', 'recordings.json');
    const before = readFileSync(recordings, 'utf8');
    const run = async (headers: string) => {
      writeFileSync(recordings, before.replace('"headers": {', `"headers": { ${headers}`));
      const check = (await collectChecks(plugin)).find(({ group }) => group === 'limits');
      return check?.run().then(
        () => 'passed',
        ({ message }: Error) => message,
      );
    };
    expect(await run('')).to.include('no recording');
    expect(await run('"x-calls-left": "3",')).to.include('no recording');
    expect(await run('"X-Calls-Left": "3", "x-calls-reset": "20s",')).to.equal('passed');
  });

  it('show code of the types in the contract', () => {
    const config = {
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        noEmit: true,
        paths: { 'tollgate/plugin': [join(ROOT, 'lib/upstream/contract/provider.ts')] },
      },
      include: [],
      files: ['text', 'images', 'videos'].map((page) => join(writePlugin(page), 'index.ts')),
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    try {
      execFileSync(tsc, ['--checkers', '1', '-p', folder], { encoding: 'utf8' });
    } catch (error) {
      expect.fail(`${(error as { stdout?: string }).stdout}`);
    }
  });
});
