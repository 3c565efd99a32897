// The shape of a message: its length, material and numbers, and how much it asks for.
import { readAskedWords } from './amounts.ts';
import type { Instruction } from './instruction.ts';

interface MessageShape {
  /** The leading task or question, or `bare`. */
  readonly lead: string;
  /** Work on a given text. */
  readonly mechanical: boolean;
  readonly words: number;
}

const OPTIONS = /(^|\s|\()(a|а|1)[.)]\s?\S[^\n]{0,80}(^|\s|\()(b|б|2)[.)]/im;
const OPERATION = /\d\s?[-+*/×÷%^=−·]\s?\d/;
const FORMULA = /[\\^∫√∑∏≤≥≠≈∈∞⇒∂∇⊂∪∩∀∃]|\b[a-z]\s?[=+^]|\$[^$\s][^$\n]*\$/;
const GAP_END = /(:|->|=>|=|→|_{2,})\s*$/;
const GAP = /_{2,}/;
const HEAD_READ = 1500;
const TAIL_READ = 60;

/** The evidence in the shape of a message. */
export function readShape(
  text: string,
  length: number,
  { asking, context, payload, prose }: Instruction,
  { lead, mechanical, words }: MessageShape,
): string[] {
  const all = [...asking, ...context];
  const given = payload > 0 || prose.fenced > 0 || asking.some(({ tokens }) => tokens.some(({ quoted }) => quoted));
  const code = prose.codeLines > 0;
  const wanted = mechanical ? 0 : readAskedWords(all);
  const beginning = text.slice(0, HEAD_READ);
  const found: Record<string, boolean> = {
    'payload.given': given && !mechanical,
    [`payload.${lead}`]: given,
    'lines.code': code && !mechanical,
    [`lines.${lead}`]: code,
    'data.lines': prose.dataLines > 0,
    'options.given': OPTIONS.test(beginning),
    'gap.given': GAP_END.test(text.slice(-TAIL_READ)) || GAP.test(beginning),
    'operations.some': OPERATION.test(beginning),
    'formulas.some': FORMULA.test(beginning),
  };
  const names = Object.keys(found).filter((name) => found[name]);
  for (const most of [2, 4, 7, 12, 20]) if (words <= most) names.push(`words.${most}`);
  for (const least of [40, 80]) if (words > least) names.push(`words.over${least}`);
  for (const least of LENGTHS) if (length >= least) names.push(`length.${least}`);
  for (const least of MATERIALS) if (payload >= least) names.push(`material.${least}`);
  for (const least of [250, 450, 800]) if (wanted >= least) names.push(`asked.${least}`);
  return names;
}

/** Characters of the message. */
const LENGTHS = [600, 1200, 2400, 4800, 9600];
/** Words and signs of the payload. */
const MATERIALS = [100, 200];
