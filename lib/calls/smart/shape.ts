// The shape of a message: its length, material and numbers, and how much it asks for.
import { extractNumbers, readAskedWords } from './amounts.ts';
import type { Instruction, Sentence } from './instruction.ts';

interface MessageShape {
  /** The leading task or question, or `bare`. */
  readonly lead: string;
  /** Work on a given text. */
  readonly mechanical: boolean;
  readonly question: boolean;
  readonly words: number;
}

const OPTIONS = /(^|\s|\()(a|а|1)[.)]\s?\S[^\n]{0,80}(^|\s|\()(b|б|2)[.)]/im;
const INLINE = /(?<!`)`[^`\n]+`(?!`)/;
const GAP_END = /(:|->|=>|=|→|_{2,})\s*$/;
const GAP = /_{2,}/;
const HEAD_READ = 1500;
const TAIL_READ = 60;

/** The evidence in the shape of a message; `evidence` is that of its words. */
export function readShape(
  text: string,
  length: number,
  { asking, context, payload, prose }: Instruction,
  { lead, mechanical, question, words }: MessageShape,
  evidence: ReadonlySet<string>,
): string[] {
  const all = [...asking, ...context];
  const given = payload > 0 || prose.fenced > 0 || asking.some(({ tokens }) => tokens.some(({ quoted }) => quoted));
  const code = prose.codeLines > 0;
  const { numbers, operations, formulas } = extractNumbers(all);
  const counts = operations + (evidence.has('operation.ask') || evidence.has('operation.bare') ? 1 : 0);
  const sums = evidence.has('quantity.asked') || evidence.has('solve.head') || evidence.has('who.asked');
  const wanted = mechanical ? 0 : readAskedWords(all);
  const beginning = text.slice(0, HEAD_READ);
  const found: Record<string, boolean> = {
    'payload.given': given && !mechanical,
    [`payload.${lead}`]: given,
    'lines.any': code,
    'lines.code': code && !mechanical,
    [`lines.${lead}`]: code,
    'lines.asked': code && !mechanical && lead !== 'bare',
    'lines.named': code && NAMED.some((name) => evidence.has(name)),
    'lines.first': prose.codeFirst && !mechanical,
    'code.inline': INLINE.test(beginning),
    'data.lines': prose.dataLines > 0,
    'options.given': OPTIONS.test(beginning),
    'gap.given': GAP_END.test(text.slice(-TAIL_READ)) || GAP.test(beginning),
    'operations.some': counts > 0 && numbers > 1,
    'operations.only': counts > 0 && numbers > 0 && formulas === 0 && words - numbers <= SUM_WORDS,
    'story.numbers': numbers >= 2 && words > STORY_WORDS && sums,
    'story.clues': (evidence.has('clue.told') || evidence.has('clue.ask')) && words > STORY_WORDS && question,
    'asked.few': wanted > 0 && wanted <= FEW_WORDS,
    'bullets.many': !mechanical && all.filter(({ bullet }) => bullet).length >= MANY_BULLETS,
  };
  const names = Object.keys(found).filter((name) => found[name]);
  for (const most of [2, 4, 7, 12, 20]) if (words <= most) names.push(`words.${most}`);
  for (const least of [40, 80]) if (words > least) names.push(`words.over${least}`);
  for (const least of [1500, 6000]) if (length > least) names.push(`length.${least}`);
  for (const least of [250, 450, 800]) if (wanted >= least) names.push(`asked.${least}`);
  for (const least of [1, 3, 6]) if (numbers >= least) names.push(`numbers.${least}`);
  for (const least of [1, 3]) if (formulas >= least) names.push(`formulas.${least}`);
  const commas = mechanical ? 0 : countCommas(asking);
  for (const least of [3, 6]) if (commas >= least) names.push(`commas.${least}`);
  return names;
}

const NAMED = ['language.ask', 'tech.ask', 'code.ask'];
const SUM_WORDS = 6;
const STORY_WORDS = 18;
const FEW_WORDS = 60;
const MANY_BULLETS = 4;

/** Counts the commas, which separate the parts that an answer must cover. */
function countCommas(sentences: readonly Sentence[]): number {
  return sentences.reduce(
    (sum, { tokens }) => sum + tokens.filter(({ word, quoted }) => word === ',' && !quoted).length,
    0,
  );
}
