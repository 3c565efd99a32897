// Numbers in a request: how long the answer should be, sums, formulas.
import type { Sentence } from './instruction.ts';
import type { Token } from './tokens.ts';

/** Stems of units, and how many words of text each means. */
const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(words?|слов)/, 1],
  [/^(pages?|страниц|листов|листа)/, 350],
  [/^(chars|characters|symbols|знак|символ)/, 1 / 6.5],
  [/^(paragraph|абзац)/, 90],
  [/^(section|раздел)/, 150],
  [/^(chapter|глав[аыу]?$)/, 1200],
  [/^(sentence|предложени)/, 18],
  [/^(lines?$|строк|строф|stanza|куплет|verse)/, 8],
];
const SPOKEN: readonly [RegExp, number] = [/^(min(ute)?s?$|минут|мин$)/, 130];
const SPEECH =
  /^(speech|talk|keynote|lecture|podcast|episode|screenplay|речь|реч[иь]|доклад|выступлени|лекци|подкаст|сценари|ролик|видео|video)/;
const NUMBERS: Readonly<Record<string, number>> = {
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  ten: 10,
  hundred: 100,
  thousand: 1000,
  один: 1,
  одну: 1,
  одно: 1,
  одной: 1,
  одним: 1,
  два: 2,
  две: 2,
  двух: 2,
  три: 3,
  трех: 3,
  четыре: 4,
  пять: 5,
  пяти: 5,
  десять: 10,
  сто: 100,
  тысячу: 1000,
};
const THOUSANDS = /^(k|к|тыс|тысячи?|тысячу|thousand)$/;

function numberAt(tokens: readonly Token[], at: number): number {
  const { kind, word } = tokens[at]!;
  const value = kind === 'number' ? Number(word) : (NUMBERS[word] ?? 0);
  return THOUSANDS.test(tokens[at + 1]?.word ?? '') ? value * 1000 : value;
}

/** The number of words that the sentences ask for, by the largest length they name; 0 if none. */
export function readAskedWords(sentences: readonly Sentence[]): number {
  let most = 0;
  for (const { tokens } of sentences) {
    const units = tokens.some(({ word }) => SPEECH.test(word)) ? [...UNITS, SPOKEN] : UNITS;
    for (let at = 0; at < tokens.length; at++) {
      const value = tokens[at]!.kind === 'mark' ? 0 : numberAt(tokens, at);
      if (value === 0) continue;
      for (const { kind, word } of tokens.slice(at + 1, at + 4)) {
        if (kind === 'number') break;
        const unit = units.find(([stem]) => stem.test(word));
        if (unit !== undefined) most = Math.max(most, value * unit[1]);
      }
    }
  }
  return most;
}

interface Figures {
  readonly numbers: number;
  /** Arithmetic signs. */
  readonly operations: number;
  /** Single letters next to a sign, LaTeX, and mathematical signs. */
  readonly formulas: number;
}

const OPERATIONS = new Set('+ - * / × ÷ % = ^ − ·'.split(' '));
const SIGNS = /^[∫√∑∏≤≥≠≈∈∞→⇒∂∇π⊂∪∩∀∃^\\]$/;
const BESIDE = /^[-+*/×÷=^−·()<>$|_]$/;

export function extractNumbers(sentences: readonly Sentence[]): Figures {
  const figures = { numbers: 0, operations: 0, formulas: 0 };
  for (const { tokens } of sentences) {
    for (const [at, { kind, word }] of tokens.entries()) {
      if (kind === 'number') figures.numbers++;
      else if (kind === 'mark') {
        if (OPERATIONS.has(word)) figures.operations++;
        if (SIGNS.test(word)) figures.formulas++;
      } else if (word.length === 1 && word >= 'a' && word <= 'z') {
        if (BESIDE.test(tokens[at - 1]?.word ?? '') || BESIDE.test(tokens[at + 1]?.word ?? '')) figures.formulas++;
      }
    }
  }
  return figures;
}
