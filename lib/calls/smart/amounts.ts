// How long the answer should be.
import type { Hit } from './lexicon.ts';
import type { Token } from './tokens.ts';

/** How many words of a text one of a unit means; the concepts are in the word files. */
const UNITS: Readonly<Record<string, number>> = {
  unit_word: 1,
  unit_page: 350,
  unit_sign: 1 / 6.5,
  unit_paragraph: 90,
  unit_section: 150,
  unit_chapter: 1200,
  unit_sentence: 18,
  unit_line: 8,
};
const SPOKEN = { ...UNITS, unit_minute: 130 };
const NUMBER = /^number_(\d+)$/;
const UNIT_DISTANCE = 3;

/** The number of words that a sentence asks for, by the largest length it names; 0 if none. */
export function readAskedWords(tokens: readonly Token[], hits: readonly Hit[]): number {
  if (!hits.some(({ concept }) => concept.startsWith('unit_'))) return 0;
  const units = hits.some(({ concept }) => concept === 'speech') ? SPOKEN : UNITS;
  const written = hits.flatMap(({ concept, at }) => (NUMBER.test(concept) ? [[at, Number(concept.slice(7))]] : []));
  const values = new Map<number, number>(written as [number, number][]);
  for (const [at, { kind, word }] of tokens.entries()) if (kind === 'number') values.set(at, Number(word));
  let most = 0;
  for (const [at, value] of values) {
    const next = hits.filter((hit) => hit.at > at && hit.at <= at + UNIT_DISTANCE);
    const times = next.some((hit) => hit.at === at + 1 && hit.concept === 'number_1000') ? 1000 : 1;
    for (const { concept, at: place } of next) {
      const between = tokens.slice(at + 1, place).some(({ kind }) => kind === 'number');
      if (!between) most = Math.max(most, value * times * ((units as Record<string, number>)[concept] ?? 0));
    }
  }
  return most;
}
