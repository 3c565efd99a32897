// How many citations an answer passes on, and how long they may be: each is kept until the answer is whole.
import { countCitationCharacters } from './grammar.ts';
import type { Citation } from './provider-part.ts';

const CITATIONS_MAX = 1000;
const CHARACTERS_MAX = { one: 64 * 1024, all: 1024 * 1024 };

export class CitationLimit {
  #count = 0;
  #characters = 0;

  /** False for a citation that is one too many, or too long; throws for what is no citation. */
  take(citation: Citation): boolean {
    const characters = countCitationCharacters(citation);
    const all = this.#characters + characters;
    if (this.#count === CITATIONS_MAX || characters > CHARACTERS_MAX.one || all > CHARACTERS_MAX.all) return false;
    this.#count += 1;
    this.#characters = all;
    return true;
  }
}
