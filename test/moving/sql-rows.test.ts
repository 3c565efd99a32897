// SQL dumps of three databases: values as they were, cut anywhere; everything else is skipped, and damage is named.
import { expect } from 'chai';
import { createDumpReader } from '../../lib/moving/sql-rows.ts';

const WANTED = new Set(['users', 'options']);

function read(dump: string, size = dump.length) {
  const reader = createDumpReader(WANTED);
  for (let at = 0; at < dump.length; at += size) reader.write(dump.slice(at, at + size));
  return reader.finish();
}

function rows(dump: string, table = 'users', size?: number) {
  return read(dump, size)
    .get(table)
    ?.rows.map((row) => [...row.values()]);
}

const SQLITE = `PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE \`users\` (\`id\` integer,\`name\` text DEFAULT "a,(b",\`key\` char(48),PRIMARY KEY (\`id\`),CONSTRAINT \`u\` UNIQUE (\`name\`));
INSERT INTO users VALUES(1,'it''s; a "name"',NULL);
INSERT INTO users VALUES(-2,replace(replace('one\\ntwo\\r','\\n',char(10)),'\\r',char(13)),unistr('a\\u000ab\\\\'));
INSERT INTO users VALUES(3,X'c3a4',1.5);
INSERT INTO logs VALUES(1,'INSERT INTO users VALUES(9,');
INSERT INTO logs VALUES(2,'b');
CREATE TABLE IF NOT EXISTS "options" ("key" text, value text);
INSERT INTO "options" ("value","key") VALUES('v','k');
CREATE INDEX i ON users (name);
COMMIT;
`;

const MYSQL = `-- MySQL dump 10.13
/*!40101 SET NAMES utf8mb4 */;
# a remark with a quote: it's
DROP TABLE IF EXISTS \`users\`;
CREATE TABLE \`users\` (
  \`id\` bigint NOT NULL AUTO_INCREMENT,
  \`name\` longtext COMMENT 'the; name',
  \`key\` char(48),
  PRIMARY KEY (\`id\`),
  UNIQUE KEY \`i\` (\`key\`),
  KEY \`n\` (\`name\`(20))
) ENGINE=InnoDB;
/*!40000 ALTER TABLE \`users\` DISABLE KEYS */;
INSERT INTO \`users\` VALUES (1,'it\\'s; a "name"',NULL),(-2,'one\\ntwo\\r','a\\nb\\\\'),
(3,_binary 'ä',1.5);
INSERT IGNORE INTO \`logs\` VALUES (1,'; INSERT INTO users VALUES (9,\\''),(2,'b');
REPLACE INTO \`db\`.\`options\` (\`value\`,\`key\`) VALUES ('v','k') ON DUPLICATE KEY UPDATE \`key\`='x';
-- Dump completed on 2026-11-27
`;

const POSTGRESQL = `--
-- PostgreSQL database dump
--
\\restrict abc'def
SET standard_conforming_strings = on;
CREATE FUNCTION public.f() RETURNS void AS $body$ INSERT INTO users VALUES (9; ' $body$ LANGUAGE sql;
CREATE TABLE public.users (
    id bigint NOT NULL,
    name text DEFAULT 'x;y'::text,
    key character(48),
    CONSTRAINT users_check CHECK ((id <> 0))
);
CREATE TABLE public.logs (id bigint);
CREATE TABLE public.options (key text NOT NULL, value text);
COPY public.users (id, name, key) FROM stdin;
1\tit's; a "name"\t\\N
-2\tone\\ntwo\\r\ta\\nb\\\\
3\tä\t1.5
\\.
COPY public.logs (id, content) FROM stdin;
1\tCOPY public.users (id) FROM stdin;
2\tb
\\.
INSERT INTO public.options VALUES ('k', 'v');
\\unrestrict abc'def
-- PostgreSQL database dump complete
`;

const ROWS = [
  ['1', 'it\'s; a "name"', null],
  ['-2', 'one\ntwo\r', 'a\nb\\'],
  ['3', 'ä', '1.5'],
];

describe('SQL dumps', () => {
  for (const [name, dump] of Object.entries({ SQLITE, MYSQL, POSTGRESQL })) {
    it(`of ${name} are read, in pieces of any size`, () => {
      for (const size of [undefined, 1, 2, 3, 7]) {
        expect(rows(dump, 'users', size), `pieces of ${size}`).to.deep.equal(ROWS);
        const options = read(dump, size)
          .get('options')
          ?.rows.map((row) => Object.fromEntries(row));
        expect(options).to.deep.equal([{ key: 'k', value: 'v' }]);
        expect(read(dump, size).get('logs')).to.deep.include({ rows: [], count: 2 });
      }
    });

    it(`of ${name} that are cut off are refused, wherever`, () => {
      const message =
        /^it ends in the middle of a statement|^it is not whole|^a row of users has 2 values instead of 3$/;
      const ends = [
        dump.indexOf('users') + 1,
        dump.indexOf('name"') + 2,
        dump.lastIndexOf("'k'") + 1,
        dump.lastIndexOf('(') - 9,
      ];
      const statement = dump.lastIndexOf(';', dump.lastIndexOf('INSERT')) + 2;
      for (const end of [...ends, statement]) {
        expect(() => read(dump.slice(0, end)), dump.slice(end - 9, end)).to.throw(message);
      }
    });
  }

  it('with a byte order mark are read', () => {
    expect(rows(`\ufeff${SQLITE.slice(SQLITE.indexOf('CREATE'))}`)).to.deep.equal(ROWS);
  });

  it('have the columns that are named, whatever they and their types are called', () => {
    const types = "price decimal(10,2), name varchar(9), kind enum('a','b;'), key text, index int";
    const quoted = '"check" int, `primary` int, "unique" text';
    const rest = 'KEY (name), INDEX `i` (name), PRIMARY KEY (name), CHECK ((price > (0))), EXCLUDE (name), SPATIAL x';
    const values = "(1.50,'n','a','k',2,3,4,'u')";
    for (const create of ['TABLE', 'TEMP TABLE', 'TEMPORARY TABLE IF NOT EXISTS', 'UNLOGGED TABLE']) {
      const dump = `PRAGMA a;\nCREATE ${create} users (${types}, ${quoted}, ${rest});\nINSERT INTO users VALUES ${values};\n`;
      const [row] = read(dump).get('users')?.rows ?? [];
      expect(Object.fromEntries(row ?? []), create).to.deep.equal({
        ...{ price: '1.50', name: 'n', kind: 'a', key: 'k', index: '2' },
        ...{ check: '3', primary: '4', unique: 'u' },
      });
    }
  });

  it('have the columns of an INSERT where nothing else names them, also for those after it', () => {
    const dump = `PRAGMA a;\nINSERT INTO users (b, a) VALUES (1,2),(3,4);\nINSERT INTO users VALUES (5,6);\n`;
    expect(
      read(dump)
        .get('users')
        ?.rows.map((row) => Object.fromEntries(row)),
    ).to.deep.equal([
      { b: '1', a: '2' },
      { b: '3', a: '4' },
      { b: '5', a: '6' },
    ]);
    expect(read(dump).get('users')).to.deep.include({ columns: ['b', 'a'], count: 3 });
  });

  it('of PostgreSQL may insert what it numbers itself, and have statements about tables and tables without columns', () => {
    const dump = [
      'SET search_path = pg_catalog;',
      'CREATE TABLE public.users (id bigint, name text);',
      'CREATE TABLE public.empty ();',
      'CREATE PUBLICATION p FOR TABLE users (id);',
      'CREATE UNIQUE INDEX i ON users (name);',
      "INSERT INTO public.users (id, name) OVERRIDING SYSTEM VALUE VALUES (1, 'a');",
      'INSERT INTO public.users DEFAULT VALUES;',
      'INSERT INTO public.users SELECT (1);',
      'COPY public.users (id, name) FROM stdin;',
      '2\tb',
      '\\.',
      '',
    ].join('\n');
    expect(rows(dump)).to.deep.equal([
      ['1', 'a'],
      ['2', 'b'],
    ]);
    expect(read(dump).get('empty')).to.deep.equal({ columns: [], rows: [], count: 0 });
    // Lines of other systems.
    expect(rows(dump.replaceAll('\n', '\r\n'))).to.deep.equal(rows(dump));
  });

  it('that say nothing of their end are cut off where a statement or its data are not over', () => {
    const insert = 'PRAGMA a;\nCREATE TABLE users (a int);\nINSERT INTO users VALUES (1)';
    const copy = 'SET a = pg_catalog;\nCREATE TABLE users (a int);\nCOPY users (a) FROM stdin;\n1\n';
    for (const dump of [insert, copy, 'PRAGMA a', "PRAGMA a;\nSELECT 'x", 'PRAGMA a;\n/* x', `${copy}2`])
      expect(() => read(dump), dump).to.throw('it ends in the middle of a statement');
    expect(rows(`${insert};`)).to.deep.equal([['1']]);
    expect(rows(`${copy}\\.\n`)).to.deep.equal([['1']]);
  });

  it('with E-strings and truth values are read', () => {
    const dump = 'SET search_path = pg_catalog;\nCREATE TABLE users (a text, b boolean, c boolean);\n';
    expect(rows(`${dump}INSERT INTO users VALUES (E'a\\'b', true, false);\n`)).to.deep.equal([["a'b", '1', '0']]);
    expect(rows(`${dump}INSERT INTO users VALUES ('a\\', true, false);\n`)).to.deep.equal([['a\\', '1', '0']]);
  });

  it('with other spellings of values are read', () => {
    for (const [written, value] of [
      ["x'6869'", 'hi'],
      ["b'101'", '5'],
      ["n'a'", 'a'],
      ["_latin1 'a'", 'a'],
      ['-12', '-12'],
      ['+.5', '+.5'],
      ['FALSE', '0'],
      ["replace('abab','b','$&')", 'a$&a$&'],
      ["replace('ab','','x')", 'ab'],
      ['char(65)', 'A'],
      [String.raw`unistr('\+01f600\\u0041')`, String.raw`😀\u0041`],
      [String.raw`unistr('\u0041')`, 'A'],
    ]) {
      const dump = `PRAGMA a;\nCREATE TABLE users (a text);\nINSERT INTO users VALUES (${written});\n`;
      expect(rows(dump), written).to.deep.equal([[value]]);
    }
  });

  it('with expressions that no dump has are refused', () => {
    for (const value of [
      "'a' || 'b'",
      "'a' 'b'",
      "z'61'",
      "char(65) 'a'",
      'char(65',
      "replace('a' 'b')",
      "f('a')",
      'now',
    ])
      expect(
        () => rows(`PRAGMA a;\nCREATE TABLE users (a text);\nINSERT INTO users VALUES (${value});\n`),
        value,
      ).to.throw(/has a value that cannot be read|it ends in the middle/);
  });

  it('of PostgreSQL have what is escaped in the lines of a COPY', () => {
    const dump = 'SET a = pg_catalog;\nCREATE TABLE users (a text, b text);\nCOPY users (a, b) FROM stdin;\n';
    const line = `${String.raw`\b\f\n\r\t\v\\\x41\x4a\101\60\q`}\t${String.raw`\\N`}`;
    expect(rows(`${dump}${line}\n\\.\n`)).to.deep.equal([['\b\f\n\r\t\v\\AJA0q', '\\N']]);
  });

  it('with a quote in the name of a column are read, in pieces of any size', () => {
    const dump = `PRAGMA a;\nCREATE TABLE "users" ("a""b" text, \`c\`\`\` text);\nINSERT INTO users VALUES('one','two');\n`;
    for (let size = 1; size <= dump.length; size += 1) {
      const [row] = read(dump, size).get('users')?.rows ?? [];
      expect([...(row?.entries() ?? [])], `${size}`).to.deep.equal([
        ['a"b', 'one'],
        ['c`', 'two'],
      ]);
    }
  });

  it('of MySQL have the control characters that are escaped, and any other character as it is', () => {
    const dump = MYSQL.slice(0, MYSQL.indexOf('INSERT'));
    const escaped = String.raw`\0\b\t\n\r\Z\\\'\"\v\e`;
    expect(
      rows(`${dump}INSERT INTO users VALUES (1,'${escaped}',NULL);\n-- Dump completed on 2026-11-27\n`),
    ).to.deep.equal([['1', '\0\b\t\n\r\x1a\\\'"ve', null]]);
  });

  for (const [what, dump, message] of [
    ['nothing', ' \n', 'it is empty'],
    ['another text', 'hello, world', 'is neither an SQLite database nor a dump'],
    [
      'two databases',
      `${MYSQL}${MYSQL.slice(MYSQL.indexOf('CREATE'))}`,
      'it holds two tables users: dump one database only',
    ],
    ['a row that is too short', SQLITE.replace(",X'c3a4'", ''), 'a row of users has 2 values instead of 3'],
    [
      'an expression',
      SQLITE.replace("X'c3a4'", "random('x')"),
      'a row of users has a value that cannot be read: "random ( x )"',
    ],
    ['no columns', 'PRAGMA a;\nINSERT INTO users VALUES (1);\n', 'it names no columns of the table users'],
  ] as const) {
    it(`with ${what} are refused`, () => {
      expect(() => read(dump)).to.throw(message);
    });
  }
});
