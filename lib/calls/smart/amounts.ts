// How long the answer should be.
import type { Sentence } from './instruction.ts';

/** How many words one unit of length stands for, by its concept in the word files. */
const UNITS = new Map([
  ['unit_word', 1],
  ['unit_page', 350],
  ['unit_sign', 1 / 6.5],
  ['unit_paragraph', 90],
  ['unit_section', 150],
  ['unit_chapter', 1200],
  ['unit_sentence', 18],
  ['unit_line', 8],
  ['unit_minute', 130],
]);
const UNIT_DISTANCE = 3;

/** The number of words that a sentence asks for, by the largest length it names; 0 if none. Minutes count if they are spoken. */
export function readAskedWords({ tokens, hits }: Pick<Sentence, 'tokens' | 'hits'>): number {
  let most = 0;
  for (const { concept, at: place } of hits) {
    const unit = UNITS.get(concept);
    if (unit === undefined || (concept === 'unit_minute' && !hits.some((hit) => hit.concept === 'speech'))) continue;
    for (let at = place - 1; at >= 0 && at >= place - UNIT_DISTANCE; at--) {
      const { kind, word } = tokens[at]!;
      const value = kind === 'number' ? Number(word) : readNumeral(hits, at);
      const times = readNumeral(hits, at + 1) === 1000 ? 1000 : 1;
      most = Math.max(most, value * times * unit);
      if (kind === 'number') break;
    }
  }
  return most;
}

/** Of a number that is written as a word. */
function readNumeral(hits: Sentence['hits'], at: number): number {
  return Number(hits.find((hit) => hit.at === at && hit.concept.startsWith('number_'))?.concept.slice(7) ?? 0);
}
