// The character encoding of an SQL dump, as its beginning says.
import { OperatorError } from '../base/operator-error.ts';

/** The names of MySQL and PostgreSQL, without signs, and those of the Encoding Standard. */
const ENCODINGS: Readonly<Record<string, string>> = {
  utf8: 'utf-8',
  utf8mb3: 'utf-8',
  utf8mb4: 'utf-8',
  ascii: 'utf-8',
  sqlascii: 'utf-8',
  binary: 'utf-8',
  cp1251: 'windows-1251',
  win1251: 'windows-1251',
  cp866: 'ibm866',
  win866: 'ibm866',
  alt: 'ibm866',
  koi8r: 'koi8-r',
  koi8: 'koi8-r',
  koi8u: 'koi8-u',
  iso88595: 'iso-8859-5',
  // What MySQL calls so.
  latin1: 'windows-1252',
  cp1252: 'windows-1252',
  win1252: 'windows-1252',
  gbk: 'gbk',
  gb18030: 'gb18030',
  big5: 'big5',
};

const DECLARATION = /^(?:\/\*!\d+ )?SET (?:NAMES|client_encoding\s*(?:=|TO))\s*'?([\w-]+)/im;

/** UTF-8 if the dump does not say. Throws an `OperatorError` for an encoding that is not read. */
export function findDumpEncoding(head: Uint8Array): string {
  const declared = DECLARATION.exec(Buffer.from(head).toString('latin1'))?.[1];
  if (declared === undefined) return 'utf-8';
  const encoding = ENCODINGS[declared.toLowerCase().replaceAll(/[_-]/g, '')];
  if (encoding !== undefined) return encoding;
  throw new OperatorError(
    `its encoding ${declared} is not read: dump again in UTF-8 (mysqldump --default-character-set=utf8mb4, pg_dump --encoding=UTF8)`,
  );
}
