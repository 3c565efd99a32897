// CSV tables: escaped formulas, number formats of two languages, and downloads that end early.
import { expect } from 'chai';
import { type Cell, createCsv } from '../../lib/console/csv.ts';
import type { Language } from '../../lib/console/language.ts';

const HEAD = ['name', 'count', 'rub'];

async function* walk(rows: readonly (readonly Cell[])[]) {
  yield* rows;
}

async function readCsv(language: Language, rows: AsyncIterable<readonly Cell[]>): Promise<string> {
  const { content } = createCsv(language, 'table.csv', { head: HEAD, rows });
  let text = '';
  for await (const part of content as NodeJS.ReadableStream) text += part;
  return text;
}

describe('a table as CSV', () => {
  const rows = [
    ['plain', 3, { rub: 1_500_000n }],
    ['a "b", c; d', -2, { rub: -12_345_678n }],
  ] as const;

  it('has a type and a file name', () => {
    const { type, name } = createCsv('en', 'table.csv', { head: HEAD, rows: walk([]) });
    expect([type, name]).to.deep.equal(['text/csv; charset=utf-8', 'table.csv']);
  });

  it('has numbers with a point, and commas between cells', async () => {
    expect(await readCsv('en', walk(rows))).to.equal(
      ['name,count,rub', 'plain,3,1.50', '"a ""b"", c; d",-2,-12.345678', ''].join('\r\n'),
    );
  });

  it('has a byte order mark, decimal commas and semicolons in Russian', async () => {
    expect(await readCsv('ru', walk(rows))).to.equal(
      ['\ufeffname;count;rub', 'plain;3;1,50', '"a ""b"", c; d";-2;-12,345678', ''].join('\r\n'),
    );
  });

  for (const sign of ['=', '+', '-', '@', '\t', '\r']) {
    it(`escapes a text that begins with ${JSON.stringify(sign)}`, async () => {
      const text = await readCsv(
        'en',
        walk([
          [`${sign}1+1`, 0, 0],
          [`1${sign}1`, 0, 0],
        ]),
      );
      const [, first = '', second = ''] = text.replaceAll('"', '').split('\r\n');
      expect(first).to.equal(`'${sign}1+1,0,0`);
      expect(second).to.equal(`1${sign}1,0,0`);
    });
  }

  it('gives everything else its turn while it is written, however fast its rows come', async () => {
    let turns = 0;
    let isWritten = false;
    const turn = () => {
      turns += 1;
      if (!isWritten) setImmediate(turn);
    };
    async function* many() {
      for (let count = 0; count < 20_000; count += 1) yield ['plain', count, { rub: 1n }] as const;
    }
    setImmediate(turn);
    await readCsv('en', many());
    isWritten = true;
    expect(turns).to.be.above(2);
  });

  it('aborts when reading its rows fails', async () => {
    async function* broken() {
      yield ['plain', 3, 0];
      throw new Error('the store is gone');
    }
    const failure = await readCsv('en', broken()).catch((error: Error) => error);
    expect(failure).to.be.instanceOf(Error).with.property('message', 'the store is gone');
  });

  it('stops reading rows when the download is canceled', async () => {
    const ended = Promise.withResolvers<void>();
    async function* endless() {
      try {
        for (;;) yield ['plain', 3, 0];
      } finally {
        ended.resolve();
      }
    }
    const { content } = createCsv('en', 'table.csv', { head: HEAD, rows: endless() });
    for await (const _ of content as NodeJS.ReadableStream) break;
    await ended.promise;
  });
});
