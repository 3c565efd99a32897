// The words and pairs of words of a request, as the weights list them.
import type { Sentence } from './instruction.ts';

const WORDS_READ = 60;
/** Words are also taken by their first letters, because Russian ones change their endings. */
const STEM_LETTERS = 5;
const OPENING_WORDS = 3;
const MARKS = new Set('? ! : + - * / × ÷ % = ^ $'.split(' '));

/** `=write`, `=write a`, `=progr*`, and `=1:progr` for the first word. The payload is not read. */
export function listWordings(asking: readonly Sentence[]): readonly string[] {
  const words = readWords(asking);
  const found = new Set<string>();
  for (const [at, word] of words.entries()) {
    found.add(`=${word}`);
    if (at + 1 < words.length) found.add(`=${word} ${words[at + 1]}`);
    if (word.length > STEM_LETTERS) found.add(`=${word.slice(0, STEM_LETTERS)}*`);
    if (at < OPENING_WORDS) found.add(`=${at + 1}:${word.slice(0, STEM_LETTERS)}`);
  }
  return [...found];
}

/** Numbers are all alike. */
function readWords(sentences: readonly Sentence[]): string[] {
  const words: string[] = [];
  for (const { tokens } of sentences) {
    for (const { kind, word } of tokens) {
      if (kind === 'mark' && !MARKS.has(word)) continue;
      words.push(kind === 'number' ? '#' : word);
      if (words.length === WORDS_READ) return words;
    }
  }
  return words;
}
