// The words, pairs of words and opening words of a request, as the weights list them.
import type { Instruction, Sentence } from './instruction.ts';

const WORDS_READ = 60;
/** Words are also taken by their first letters, because Russian ones change their endings. */
const STEM_LETTERS = 5;
const OPENING_WORDS = 3;
const MARKS = new Set('? ! : + - * / × ÷ % = ^ $'.split(' '));

/**
 * `=write`, `=write a`, `=progr*`, and `^write a post` for a request that begins so. Without a request, the situation
 * is the request; the payload is not read.
 */
export function listWordings({ asking, context }: Instruction): readonly string[] {
  const words = readWords(asking.some(({ tokens }) => tokens.length > 0) ? asking : context);
  const found = new Set<string>();
  for (const [at, word] of words.entries()) {
    found.add(`=${word}`);
    if (at + 1 < words.length) found.add(`=${word} ${words[at + 1]}`);
    if (word.length > STEM_LETTERS) found.add(`=${word.slice(0, STEM_LETTERS)}*`);
  }
  for (let size = 1; size <= Math.min(OPENING_WORDS, words.length); size++) {
    found.add(`^${words.slice(0, size).join(' ')}`);
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
