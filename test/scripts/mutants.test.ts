import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { drawLots } from '../../scripts/mutants/draw.ts';
import { readList } from '../../scripts/mutants/list.ts';
import { listMutations } from '../../scripts/mutants/operators.ts';
import { createRunner } from '../../scripts/mutants/runner.ts';
import { testsFor } from '../../scripts/mutants/tests.ts';
import { findBroken } from '../../scripts/mutants/types.ts';
import { itLong } from '../../testkit/long.ts';

function listChanges(code: string): readonly string[] {
  return listMutations(code).map(({ start, end, replacement }) => code.slice(0, start) + replacement + code.slice(end));
}

describe('mutants', () => {
  for (const [code, ...changes] of [
    ['a = b < c;', ';', 'a = b <= c;', 'a = b >= c;'],
    ['a(b - (c as number));', ';', 'a(b + (c as number));'],
    ['const a = -1;'],
    ['if (a) throw b;', 'if (false) throw b;', 'if (true) throw b;'],
    ['const a = b && c;', 'const a = ((b) || (c));'],
    ['const a = b ?? c;', 'const a = (b);', 'const a = (c);'],
    ['const a = b ? c : d;', 'const a = b ? (d) : (c);'],
    ['const a = await b;', 'const a = b;'],
    ['const a = [1, false];', 'const a = [2, false];', 'const a = [1, true];'],
    ['const a = { b, c: d };', 'const a = {  c: d };', 'const a = { b,  };'],
    ["const a = 'SELECT b WHERE c < ? AND d';", 'c <= ?', 'OR d'],
    ['const a = { $lt: b };', '$lte: b'],
  ] as const) {
    it(`change ${code} in every way they know`, () => {
      const found = listChanges(code);
      expect(found).to.have.length(changes.length);
      for (const [index, change] of changes.entries()) expect(found[index]).to.include(change);
    });
  }

  it('leave invisible changes out', () => {
    for (const code of ['log.warn({ a: 1 }, b + c);', 'assert(a > 0);', 'type A = 1 | 2;', 'const a = 3600;']) {
      expect(listChanges(code), code).to.deep.equal([]);
    }
    expect(listChanges('const a = Date.now() > b;')).to.deep.equal(['const a = Date.now() <= b;']);
  });

  it('come from a list, each applied alone', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-list-'));
    const read = (before: string) => {
      const file = join(folder, 'list.json');
      writeFileSync(file, JSON.stringify([{ path: 'lib/base/pluralize.ts', before, after: 'nothing' }]));
      return readList(file);
    };
    try {
      const text = readFileSync('lib/base/pluralize.ts', 'utf8');
      const line = 'count === 1 ||';
      const [[mutant] = []] = read(line);
      expect(mutant).to.include({ line: 5, before: line, text: text.replace(line, 'nothing') });
      expect(() => read('no such text')).to.throw('does not have this text once: no such text');
      expect(() => read('e')).to.throw('does not have this text once: e');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  itLong('are drawn from every core folder by default', () => {
    expect(drawLots(1, 12)).to.have.length(12);
  });

  it('are drawn from any part of the sources; a part without any is refused', () => {
    for (const part of ['payments/yookassa', 'providers/fal', 'lib/console/playground']) {
      for (const lot of drawLots(7, 3, part)) expect(lot.next().value?.path).to.match(new RegExp(`^${part}/`));
    }
    expect(() => drawLots(7, 3, 'lib/nothing')).to.throw('there is no source below lib/nothing');
  });

  it('are the same for a seed, in whatever order they are taken', () => {
    const first = (lots: ReturnType<typeof drawLots>) => lots.map((lot) => lot.next().value?.after);
    const drawn = first(drawLots(7, 10, 'lib/money'));
    expect(first(drawLots(7, 10, 'lib/money').toReversed()).toReversed()).to.deep.equal(drawn);
    expect(first(drawLots(8, 10, 'lib/money'))).to.not.deep.equal(drawn);
  });

  it('run the tests of their file first, then those of its folder, then others', () => {
    const steps = testsFor('lib/money/fold.ts', 40).map(({ files }) => files);
    const [mirrors, near] = steps;
    expect(mirrors).to.include.members(['test/money/fold.test.ts', 'test/money/fold-jobs.test.ts']);
    expect(near).to.include('test/money/decide.test.ts');
    expect(steps.flat()).to.have.length.within(41, 50);
  });

  it("select tests that spawn the worker's entry point", () => {
    const steps = testsFor('lib/store/sqlite/worker.ts', 12);
    expect(steps.flatMap(({ files }) => files)).to.include('test/store/open.test.ts');
  });

  it('select tests with no word but those of the file, a store for the rules of money, and a tour for pages', () => {
    const select = (path: string) => testsFor(path, 24).flatMap(({ files }) => files);
    expect(select('lib/ledger/service-holds.ts')).to.include('test/api/management/holds.test.ts');
    expect(select('lib/money/budget.ts')).to.include('test/store/sqlite.test.ts');
    expect(select('lib/console/chart.ts')).to.include('test/console/ownership.test.ts');
  });

  it('select tests that name what the changed line names, before others as near', () => {
    const select = (line: string) => testsFor('lib/console/response-style.ts', 4, line).flatMap(({ files }) => files);
    expect(select("'x-content-type-options': 'nosniff',")).to.include('test/console/sign-in.test.ts');
    expect(select('return status;')).to.have.length(4).and.not.include('test/console/sign-in.test.ts');
  });

  it('select the tests of a folder that reach a file of it only through a gateway', () => {
    const files = testsFor('lib/api/management/stored-replies.ts', 4).flatMap((step) => step.files);
    expect(files).to.include.members(['test/api/management/api.test.ts', 'test/api/management/operators.test.ts']);
  });

  it('run the recordings of the provider of a file, and of no other', () => {
    const [recordings, ...more] = testsFor('providers/yandex/embeddings.ts', 4).filter(({ title }) => title);
    expect(more).to.deep.equal([]);
    expect(recordings?.title).to.equal('contract of providers yandex ');
    expect(recordings?.files).to.deep.equal(['test/contract/provider/provider.test.ts']);
    expect(testsFor('lib/money/fold.ts', 4).some(({ title }) => title)).to.equal(false);
  });

  it('run the mirrors with all their cases at last, where some are left to the slow tests', () => {
    const steps = testsFor('lib/store/sqlite/worker.ts', 12);
    expect(steps.at(-1)).to.deep.equal({ files: ['test/store/sqlite.test.ts'], isLong: true });
    expect(testsFor('lib/money/budget.ts', 12).some(({ isLong }) => isLong)).to.equal(false);
  });

  it('are broken if they do not compile, even where another file uses them', async () => {
    await withFiles(
      {
        'tsconfig.json':
          '{ "include": ["*.ts"], "compilerOptions": { "allowImportingTsExtensions": true, "types": [] } }',
        'rate.ts': 'export const rate = 2;',
        'bill.ts': "import { rate } from './rate.ts';\nexport const bill: number = rate;",
        'name.ts': "export const name: string = 'a';",
        'size.ts': 'export const size: number = 1;',
      },
      async (folder) => {
        const mutants = [
          { path: 'rate.ts', text: "export const rate = '2';" },
          { path: 'name.ts', text: 'export const name: string = 1;' },
          { path: 'size.ts', text: 'export const size: number = 2;' },
          { path: 'size.ts', text: 'export const size: number = true;' },
        ].map((mutant) => ({ line: 1, kind: 'listed', before: '', after: '', ...mutant }));
        const broken = findBroken(folder, mutants);
        expect(mutants.map((mutant) => broken.includes(mutant))).to.deep.equal([true, true, false, true]);
        expect(readFileSync(join(folder, 'size.ts'), 'utf8')).to.equal('export const size: number = 1;');
      },
    );
  });

  it('are noticed by tests that stay loaded, also if they end or hang the process', async () => {
    await withFiles(
      {
        'sum.ts': 'export const sum = (a: number, b: number) => a + b;',
        'bill.ts': "export { sum as bill } from './sum.ts';",
        'bill.test.ts':
          "import { bill } from './bill.ts';\nit('adds', () => { if (bill(1, 2) !== 3) throw new Error(); });",
      },
      async (folder) => {
        const runner = createRunner(folder, 30_000);
        const run = async (text: string) => {
          writeFileSync(join(folder, 'sum.ts'), text);
          return runner.run({ files: ['bill.test.ts'], stale: ['sum.ts', 'bill.ts'] });
        };
        const right = 'export const sum = (a: number, b: number) => a + b;';
        try {
          expect(await run(right)).to.deep.equal({ result: 'passed', file: undefined });
          expect(await run(right.replace(' + ', ' - '))).to.deep.equal({ result: 'failed', file: 'bill.test.ts' });
          expect(await run(right.replace('a + b', 'process.exit(0)'))).to.deep.equal({ result: 'failed' });
          expect(await run(right)).to.include({ result: 'passed' });
        } finally {
          runner.end();
        }
        const hasty = createRunner(folder, 1);
        expect(await hasty.run({ files: ['bill.test.ts'], stale: [] })).to.deep.equal({ result: 'timeout' });
      },
    );
  });
});

/** In a folder that has the scripts and packages of the checkout. */
async function withFiles(files: Readonly<Record<string, string>>, use: (folder: string) => Promise<void>) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tollgate-mutants-')));
  try {
    for (const shared of ['node_modules', 'scripts']) symlinkSync(resolve(shared), join(folder, shared));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
