// The shape of a message: its length, material and numbers, and how much it asks for.
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
  const names = LENGTHS.filter((least) => length >= least).map((least) => `length.${least}`);
  if (OPERATION.test(beginning)) names.push('operations.some');
  if (FORMULA.test(beginning)) names.push('formulas.some');
  return names;
}

const NUMBERS = [2, 4, 8];
const SENTENCES = [2, 4, 8];

/** The evidence in the sizes of a message's parts; `lead` is the leading task or question, or `bare`. */
export function readShape(
  { asking, hasPayload }: Instruction,
  { kinds }: Prose,
  lead: string,
  words: number,
): string[] {
  const mechanical = isMechanical(lead);
  const names: string[] = [];
  if (hasPayload || kinds.has('fenced') || asking.some(({ tokens }) => tokens.some(({ quoted }) => quoted)))
    names.push('payload.given');
  if (kinds.has('code')) names.push(`lines.${lead}`, ...(mechanical ? [] : ['lines.code']));
  if (kinds.has('data')) names.push('data.lines');
  for (const most of [2, 4, 7, 12, 20]) if (words <= most) names.push(`words.${most}`);
  for (const least of [40, 80]) if (words > least) names.push(`words.over${least}`);
  const numbers = asking.reduce((sum, { tokens }) => sum + tokens.filter(({ kind }) => kind === 'number').length, 0);
  for (const least of NUMBERS) if (numbers >= least) names.push(`numbers.${least}`, `numbers.${least}-${lead}`);
  for (const least of SENTENCES) if (asking.length >= least) names.push(`sentences.${least}`);
  const wanted = mechanical ? 0 : Math.max(0, ...asking.map(({ askedWords }) => askedWords));
  for (const least of [250, 450, 800]) if (wanted >= least) names.push(`asked.${least}`);
  return names;
}
