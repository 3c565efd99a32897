import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { collectChecks } from './check.ts';

const SCRIPT = fileURLToPath(new URL('../../../scripts/provider-check.ts', import.meta.url));
const GUIDE = new URL('../../../docs/providers.md', import.meta.url);

const both = '[{ "name": "x", "source": "x", "reply": {}, "expect": { "finish": "stop", "fault": "rate" } }]';

describe('the contract suite on the example of docs/providers.md', function () {
  this.timeout(30_000);
  let root: string;
  let source: string;
  let recordings: string;

  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'suite-'));
    const guide = await readFile(GUIDE, 'utf8');
    source = block(guide, 'ts');
    recordings = block(guide, 'json');
  });
  after(() => rm(root, { recursive: true }));

  function block(guide: string, language: string): string {
    const found = new RegExp(`\`\`\`${language}\n(.*?)\n\`\`\``, 's').exec(guide)?.[1];
    return found ?? expect.fail(`docs/providers.md has no block of ${language}`);
  }

  let count = 0;

  /** The names of the checks that fail on the plugin, of all or one; each folder is new, as modules load once. */
  async function failures(plugin: string, fixtures: string, only?: string): Promise<readonly string[]> {
    const folder = join(root, `${count++}`, 'acme');
    await mkdir(join(folder, 'fixtures'), { recursive: true });
    await writeFile(join(folder, 'index.ts'), plugin);
    await writeFile(join(folder, 'fixtures', 'answers.json'), fixtures);
    const failed: string[] = [];
    for (const check of await collectChecks(folder)) {
      const name = `${check.group}: ${check.name}`;
      if (only === undefined || name === only) await check.run().catch(() => failed.push(name));
    }
    return failed;
  }

  it('passes', async () => {
    expect(await failures(source, recordings)).to.deep.equal([]);
  });

  const mutants: readonly Mutant[] = [
    {
      what: 'takes the end of the stream for the end of the answer',
      from: 'yield parts;\n    }\n  }\n}',
      to: "yield parts;\n    }\n  }\n  yield [{ type: 'block-end', index: 0 }, { type: 'finish', reason: 'stop' }];\n}",
      failing: 'recording: an answer that just stops: reads as expected',
    },
    {
      what: 'invents a finish after the text',
      from: "if (typeof chunk.text === 'string') ",
      to: `if (typeof chunk.text === 'string' && chunk.text.endsWith('😀')) {
        const finish = { type: 'finish', reason: 'stop', raw: 'complete' };
        return [{ type: 'block-delta', index: 0, text: chunk.text }, { type: 'block-end', index: 0 }, finish];
      }
      if (typeof chunk.text === 'string')`,
      failing: 'recording: an ordinary answer: has no end when it is ended early',
    },
    {
      what: 'loses the text that comes together with an error',
      from: '} finally {',
      to: '} catch (error) {\n      throw error;\n    }\n    {',
      failing: 'recording: overloaded in the middle of an answer: reads as expected',
    },
    {
      what: 'breaks the grammar',
      from: "{ type: 'block-end', index: 0 }, ",
      to: '',
      failing: 'recording: an ordinary answer: reads as expected',
    },
    {
      what: 'drops the usage',
      from: "if (chunk.usage) parts.push({ type: 'usage', ...chunk.usage });",
      to: '',
      failing: 'recording: an ordinary answer: reads as expected',
    },
    {
      what: 'sends another request',
      from: 'max_tokens: call.maxTokens',
      to: 'max_tokens: 1',
      failing: 'recording: an ordinary answer: reads as expected',
    },
    {
      what: 'keeps a call in a variable of all calls',
      from: "  yield [{ type: 'start' }",
      to: `  begun = false;
        await new Promise((resolve) => setTimeout(resolve, 5));
        if (begun) return;
        begun = true;
        yield [{ type: 'start' }`,
      failing: 'calls: that run at the same time are kept apart',
    },
    {
      what: 'gives every refusal one kind',
      from: 'host.fault.kindOfStatus(status), detail',
      to: "'server', detail",
      failing: 'refusals: status 401 is auth',
    },
    {
      what: 'goes on after an abort within a refusal',
      from: '  const detail = ',
      to: '  if (status === 500) await new Promise((resolve) => setTimeout(resolve, 300));\n  const detail = ',
      failing: 'abort: within the body of a refusal closes the connection',
    },
    {
      what: 'keeps the signal from the request',
      from: '    signal,\n  });',
      to: '    signal: new AbortController().signal,\n  });',
      failing: 'abort: before the headers closes the connection',
    },
    {
      what: 'does not mark its key',
      from: '.meta({ secret: true })',
      to: '',
      failing: 'settings: mark apiKey as a secret',
    },
    {
      what: 'takes any settings',
      from: '      proxy: url,\n    });',
      to: '      proxy: url,\n    }).unknown();',
      failing: 'settings: refuse an unknown key',
    },
    {
      what: 'takes any key',
      from: 'apiKey: joi.string()',
      to: 'apiKey: joi.any()',
      failing: 'settings: refuse a wrong apiKey',
    },
  ];
  for (const { what, from, to, failing } of mutants) {
    it(`catches a plugin that ${what}`, async () => {
      expect(source).to.include(from);
      const declared = failing.includes('kept apart') ? 'let begun = false;\n' : '';
      const failed = await failures(declared + source.replace(from, to), recordings, failing);
      expect(failed).to.deep.equal([failing]);
    });
  }

  async function run(...args: readonly string[]): Promise<{ code: number | null; output: string }> {
    const child = spawn(process.execPath, [SCRIPT, ...args]);
    const [out, err] = await Promise.all([child.stdout.toArray(), child.stderr.toArray()]);
    const code = child.exitCode ?? (await once(child, 'exit'))[0];
    return { code, output: [...out, ...err].join('') };
  }

  it('prints its checks from the command line', async () => {
    const { code, output } = await run(fileURLToPath(new URL('../../../providers/sandbox', import.meta.url)));
    expect(output).to.match(/^\nsettings\n {2}✓ make a provider.*\n\d+ checks, all passed\n$/s);
    expect(code).to.equal(0);
  });

  it('exits with 1 when a check fails, and says why', async () => {
    const folder = join(root, 'failing', 'acme');
    await mkdir(join(folder, 'fixtures'), { recursive: true });
    await writeFile(join(folder, 'index.ts'), source.replace("'stop' : 'other'", "'other' : 'stop'"));
    await writeFile(join(folder, 'fixtures', 'answers.json'), recordings);
    const { code, output } = await run(folder);
    expect(output).to.include('  ✗ reads as expected\n      another finish than expected');
    expect(output).to.match(/\d+ checks, \d failed\n$/);
    expect(code).to.equal(1);
  });

  it('exits with 1 when there is no plugin', async () => {
    expect(await run(join(root, 'nowhere'))).to.deep.include({ code: 1 });
    expect((await run()).output).to.include('usage:');
  });

  const wrong: readonly (readonly [what: string, fixtures: string, words: string])[] = [
    ['no recording', '[]', 'has no recording'],
    ['a recording with a field that does not exist', '[{ "names": "x" }]', '"names" is not allowed'],
    ['a recording that expects both a finish and a fault', both, '[finish, fault]'],
  ];
  for (const [what, fixtures, words] of wrong) {
    it(`does not start on ${what}`, async () => {
      const error: unknown = await failures(source, fixtures).catch((thrown: unknown) => thrown);
      expect(error).to.be.an('error').with.property('message').that.includes(words).and.includes('fixtures');
    });
  }
});

interface Mutant {
  readonly what: string;
  readonly from: string;
  readonly to: string;
  /** A check that has to fail. */
  readonly failing: string;
}
