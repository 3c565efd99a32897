// The shape of a message: its length, material and numbers, and how much it asks for.
import { readAskedWords } from './amounts.ts';
import { type Instruction, isMechanical } from './instruction.ts';
import type { Prose } from './material.ts';

const OPERATION = /\d\s?[-+*/×÷%^=−·]\s?\d/;
const FORMULA = /[\\^∫√∑∏≤≥≠≈∈∞⇒∂∇⊂∪∩∀∃]|\b[a-z]\s?[=+^]|\$[^$\s][^$\n]*\$/;
const HEAD_READ = 1500;

/** Characters of the message. */
const LENGTHS = [600, 1200, 2400, 4800, 9600];

/** The evidence in the characters of a message; `length` is that of all of it. */
export function readSigns(text: string, length: number): string[] {
  const beginning = text.slice(0, HEAD_READ);
  const names = listReached('length', LENGTHS, length);
  if (OPERATION.test(beginning)) names.push('operations.some');
  if (FORMULA.test(beginning)) names.push('formulas.some');
  return names;
}

/** The evidence in the sizes of a message's parts; `lead` is the leading task or question, or `bare`. */
export function readShape({ asking, hasPayload }: Instruction, kinds: Prose['kinds'], lead: string): string[] {
  const mechanical = isMechanical(lead);
  const names: string[] = [];
  if (hasPayload || kinds.has('fenced') || asking.some(({ tokens }) => tokens.some(({ quoted }) => quoted)))
    names.push('payload.given');
  if (kinds.has('code')) names.push(`lines.${lead}`, ...(mechanical ? [] : ['lines.code']));
  if (kinds.has('data')) names.push('data.lines');
  const words = countTokens(asking, 'word') + countTokens(asking, 'number');
  for (const most of [2, 4, 7, 12, 20]) if (words <= most) names.push(`words.${most}`);
  for (const least of [40, 80]) if (words > least) names.push(`words.over${least}`);
  const numbers = countTokens(asking, 'number');
  for (const least of [2, 4, 8]) if (numbers >= least) names.push(`numbers.${least}`, `numbers.${least}-${lead}`);
  const wanted = mechanical ? 0 : Math.max(0, ...asking.map(readAskedWords));
  names.push(...listReached('sentences', [2, 4, 8], asking.length), ...listReached('asked', [250, 450, 800], wanted));
  return names;
}

/** The evidence that a size reaches limits. */
export function listReached(subject: string, limits: readonly number[], size: number): string[] {
  return limits.filter((least) => size >= least).map((least) => `${subject}.${least}`);
}

function countTokens(sentences: Instruction['asking'], sort: 'word' | 'number'): number {
  return sentences.reduce((sum, { tokens }) => sum + tokens.filter(({ kind }) => kind === sort).length, 0);
}
