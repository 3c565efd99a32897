// Passwords that anybody would try: listed ones, and common words dressed up with digits, signs, look-alikes of letters
// or another keyboard layout.
import { readFileSync } from 'node:fs';

const LIST = new URL('./data/common-passwords.txt', import.meta.url);

/** Read with the first new password; as bytes, because as a set it would take ten times the memory. */
let list: Buffer | undefined;

function isListed(text: string): boolean {
  list ??= readFileSync(LIST);
  return text !== '' && !text.includes('\n') && list.includes(`\n${text}\n`);
}

/** Whether a password in lower case is easy to guess. `others` are texts that anybody knows, such as the address. */
export function isCommon(password: string, others: readonly string[]): boolean {
  if (new Set(password).size < 4) return true;
  if (runsAlongRow(password)) return true;
  const known = new Set(others.flatMap(knownWordsOf));
  return spellingsOf(password).some((text) => known.has(text) || isListed(text) || isDressedUp(text, known));
}

/** An address whole, its name, and its domain: `ann@example.com` knows `ann` and `example`. */
function knownWordsOf(other: string): readonly string[] {
  const text = other.toLowerCase();
  const [name = '', domain = ''] = text.split('@', 2);
  return [SERVICE, text, name, domain, domain.split('.', 1)[0] ?? ''].filter((word) => word !== '');
}

const SERVICE = 'tollgate';

const LATIN = "qwertyuiop[]asdfghjkl;'zxcvbnm,.`";
const CYRILLIC = 'йцукенгшщзхъфывапролджэячсмитьбюё';

/** As it is, and as the same keys give it in the other layout: `gfhjkm` is `пароль`. */
function spellingsOf(password: string): readonly string[] {
  const [from, to] = /\p{Script=Cyrillic}/u.test(password) ? [CYRILLIC, LATIN] : [LATIN, CYRILLIC];
  return [password, password.replace(/./gsu, (sign) => to[from.indexOf(sign)] ?? sign)];
}

/** A common word with digits and signs around it: `password123!`, `p@ssw0rd_2024`, `парольпароль1`. */
function isDressedUp(text: string, known: ReadonlySet<string>): boolean {
  const [, head = '', word = '', tail = ''] = /^(\P{L}*)(.*?)(\P{L}*)$/su.exec(text) ?? [];
  if (!isPoorAffix(tail)) return false;
  const cores = isPoorAffix(head) ? [word, head + word] : [head + word];
  return cores.flatMap(plainFormsOf).some((core) => known.has(core) || isListed(core) || runsAlongRow(core));
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

/** The word, without what separates its parts, with letters for their look-alikes, and once if it is repeated. */
function plainFormsOf(word: string): readonly string[] {
  const joined = word.replace(/[\s._-]+/g, '');
  const plain = joined.replace(/[^\p{L}]/gu, (sign) => LOOKALIKES[sign] ?? sign);
  return [word, joined, plain, plain.replace(/^(.{2,}?)\1+$/su, '$1')];
}

const AFFIX_MAX = 4;
const SIGNS_MAX = 3;
const DATE = /^(?:[0-3]\d[01]\d(?:19|20)\d\d|(?:19|20)\d\d[01]\d[0-3]\d)$/;

/** Few signs, a run of digits, a date: what people add when they are told that a word is too short. */
function isPoorAffix(affix: string): boolean {
  if (affix.length <= AFFIX_MAX) return true;
  const digits = affix.replace(/\D/g, '');
  if (affix.length - digits.length > SIGNS_MAX) return false;
  return (
    digits.length <= AFFIX_MAX ||
    new Set(digits).size < 3 ||
    runsAlongRow(digits) ||
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

/** Only neighbouring keys of a row, wrapping around at its end. */
function runsAlongRow(text: string): boolean {
  return text !== '' && ROWS.some((row) => row.repeat(Math.ceil(text.length / row.length) + 1).includes(text));
}
