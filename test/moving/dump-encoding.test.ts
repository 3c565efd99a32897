// Dumps in other encodings than UTF-8: read as they say, or named in the report.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readDump } from '../../lib/moving/sql-rows.ts';

/** As a server of that encoding dumps it: `Анна` in windows-1251 and KOI8-R. */
const ANNA = { cp1251: [0xc0, 0xed, 0xed, 0xe0], koi8r: [0xe1, 0xce, 0xce, 0xc1] };

describe('the encoding of a dump', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'dump-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  async function readName(head: string, name: readonly number[] | Buffer) {
    const file = join(folder, 'dump.sql');
    const bytes = Buffer.concat([
      Buffer.from(
        `${head}\nCREATE TABLE \`users\` (\`id\` int, \`name\` text) ENGINE=InnoDB;\nINSERT INTO \`users\` VALUES (1,'`,
      ),
      Buffer.from(name),
      Buffer.from("');\n"),
    ]);
    writeFileSync(file, bytes);
    const tables = await readDump(file, new Set(['users']));
    return tables.get('users')?.rows[0]?.get('name');
  }

  it('is what its head says', async () => {
    expect(await readName('/*!40101 SET NAMES cp1251 */;', ANNA.cp1251)).to.equal('Анна');
    expect(await readName("SET client_encoding = 'WIN1251';", ANNA.cp1251)).to.equal('Анна');
    expect(await readName('SET NAMES koi8r;', ANNA.koi8r)).to.equal('Анна');
    for (const head of ['/*!50503 SET NAMES utf8mb4 */;', "SET client_encoding = 'UTF8';", '-- MySQL, no word of it']) {
      expect(await readName(head, Buffer.from('Анна 🙂'))).to.equal('Анна 🙂');
    }
  });

  it('has the name that MySQL or PostgreSQL give it, in any letters', async () => {
    const letters: readonly (readonly [string, readonly number[], readonly string[]])[] = [
      ['Анна', ANNA.cp1251, ['cp1251', 'WIN1251', 'win-1251']],
      ['Анна', [0x80, 0xad, 0xad, 0xa0], ['cp866', 'WIN866', 'ALT']],
      ['Анна', ANNA.koi8r, ['koi8r', 'KOI8', 'KOI8R', 'koi8u']],
      ['ґ', [0xad], ['KOI8U']],
      ['Анна', [0xb0, 0xdd, 0xdd, 0xd0], ['ISO_8859_5']],
      ['é€', [0xe9, 0x80], ['latin1', 'cp1252', 'WIN1252']],
      ['中', [0xd6, 0xd0], ['gbk', 'GB18030']],
      ['中', [0xa4, 0xa4], ['big5']],
      ['ä', [0xc3, 0xa4], ['utf8', 'utf8mb3', 'utf8mb4', 'UTF8', 'UTF-8', 'ascii', 'SQL_ASCII', 'binary']],
    ];
    for (const [text, bytes, names] of letters)
      for (const name of names) expect(await readName(`SET NAMES ${name};`, bytes), name).to.equal(text);
  });

  it('holds for letters that are cut by how the file is read', async () => {
    const head = `SET client_encoding TO 'UTF8';\n-- ${'x'.repeat(1_048_576)}`;
    for (const shift of [0, 1, 2]) {
      const end = "\nCREATE TABLE `users` (`id` int, `name` text) ENGINE=InnoDB;\nINSERT INTO `users` VALUES (1,'"
        .length;
      const cut = head.slice(0, 1_048_576 - end - shift);
      expect(await readName(cut, Buffer.from('🙂Анна')), `${shift}`).to.equal('🙂Анна');
    }
  });

  it('cannot be told of a file that is not there or empty', async () => {
    const read = (file: string) => readDump(file, new Set()).catch((reason: Error) => reason.message);
    const [none, empty] = [join(folder, 'none.sql'), join(folder, 'empty.sql')];
    writeFileSync(empty, '');
    expect([await read(none), await read(empty)]).to.deep.equal([
      `${none}: cannot be read (ENOENT)`,
      `${empty}: it is empty`,
    ]);
  });

  it('is refused if it is none that is read, with what to do', async () => {
    const error = await readName('/*!40101 SET NAMES sjis */;', ANNA.cp1251).catch((reason: Error) => reason.message);
    expect(error).to.match(
      /its encoding sjis is not read: dump again in UTF-8 \(mysqldump --default-character-set=utf8mb4/,
    );
  });

  it('is UTF-8 otherwise, and a text that is not shows where', async () => {
    expect(await readName('-- MySQL', ANNA.cp1251)).to.include('\ufffd');
  });
});
