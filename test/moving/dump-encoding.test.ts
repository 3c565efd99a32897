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
