// Detects passwords that attackers try first: listed ones, and common words decorated with digits, signs, look-alikes of
// letters or another keyboard layout.
import { readFileSync } from 'node:fs';

const LIST_URL = new URL('./data/common-passwords.txt', import.meta.url);

/** Read with the first new password. Kept as bytes: a set would take ten times the memory. */
let list: Buffer | undefined;

function isListed(text: string): boolean {
  list ??= readFileSync(LIST_URL);
  return text !== '' && !text.includes('\n') && list.includes(`\n${text}\n`);
}

/** Expects the password in lower case. `others` are texts that attackers know, such as the email address. */
export function isCommonPassword(password: string, others: readonly string[]): boolean {
  if (new Set(password).size < 4) return true;
  if (runsAlongKeyboardRow(password)) return true;
  const known = new Set(others.flatMap(listKnownWords));
  return listSpellings(password).some((text) => known.has(text) || isListed(text) || isDecoratedWord(text, known));
}

/** An address as a whole and its parts: `ann@example.com` gives `ann`, `example.com` and `example`. */
function listKnownWords(other: string): readonly string[] {
  const text = other.toLowerCase();
  const [name = '', domain = ''] = text.split('@', 2);
  return [SERVICE, text, name, domain, domain.split('.', 1)[0] ?? ''].filter((word) => word !== '');
}

const SERVICE = 'tollgate';

const LATIN = "qwertyuiop[]asdfghjkl;'zxcvbnm,.`";
const CYRILLIC = 'йцукенгшщзхъфывапролджэячсмитьбюё';

/** The password, and the same keys typed in the other layout: `gfhjkm` is `пароль`. */
function listSpellings(password: string): readonly string[] {
  const [from, to] = /\p{Script=Cyrillic}/u.test(password) ? [CYRILLIC, LATIN] : [LATIN, CYRILLIC];
  return [password, password.replace(/./gsu, (sign) => to[from.indexOf(sign)] ?? sign)];
}

/** A common word with digits and signs around it: `password123!`, `p@ssw0rd_2024`, `парольпароль1`. */
function isDecoratedWord(text: string, known: ReadonlySet<string>): boolean {
  const [, head = '', word = '', tail = ''] = /^(\P{L}*)(.*?)(\P{L}*)$/su.exec(text) ?? [];
  if (!isGuessableAffix(tail)) return false;
  const cores = isGuessableAffix(head) ? [word, head + word] : [head + word];
  return cores.flatMap(listPlainForms).some((core) => known.has(core) || isListed(core) || runsAlongKeyboardRow(core));
}

const LOOKALIKES: Readonly<Record<string, string>> = {
  '@': 'a',
  '4': 'a',
  '8': 'b',
  '3': 'e',
  '1': 'i',
  '!': 'i',
  '0': 'o',
  $: 's',
  '5': 's',
  '7': 't',
};

/** The word as it is, without separators, with letters for their look-alikes, and without repetition. */
function listPlainForms(word: string): readonly string[] {
  const joined = word.replace(/[\s._-]+/g, '');
  const plain = joined.replace(/[^\p{L}]/gu, (sign) => LOOKALIKES[sign] ?? sign);
  return [word, joined, plain, plain.replace(/^(.{2,}?)\1+$/su, '$1')];
}

const AFFIX_MAX = 4;
const SIGNS_MAX = 3;
const DATE = /^(?:[0-3]\d[01]\d(?:19|20)\d\d|(?:19|20)\d\d[01]\d[0-3]\d)$/;

/** A few signs, a run of digits or a date: what people add to a word that is too short. */
function isGuessableAffix(affix: string): boolean {
  if (affix.length <= AFFIX_MAX) return true;
  const digits = affix.replace(/\D/g, '');
  if (affix.length - digits.length > SIGNS_MAX) return false;
  return (
    digits.length <= AFFIX_MAX ||
    new Set(digits).size < 3 ||
    runsAlongKeyboardRow(digits) ||
    DATE.test(digits) ||
    isListed(digits)
  );
}

const ROWS = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890',
  '1234567890',
  'qwertyuiopasdfghjklzxcvbnm',
  'йцукенгшщзхъ',
].flatMap((row) => [row, [...row].reverse().join('')]);

/** Whether the text consists of neighbouring keys of one row, wrapping around at its end. */
function runsAlongKeyboardRow(text: string): boolean {
  return text !== '' && ROWS.some((row) => row.repeat(Math.ceil(text.length / row.length) + 1).includes(text));
}
