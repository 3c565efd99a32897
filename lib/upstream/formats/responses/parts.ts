// The parts of an item's text in a responses answer, found by the numbers that servers give them, or not.
import type { JsonObject } from '../../contract/provider.ts';
import { WrittenText } from './written-text.ts';

/** How many parts a text of an unknown number is compared with. */
const BEGUN_MAX = 16;

export class Parts {
  readonly #byIndex = new Map<string, WrittenText>();
  /** Those that the server said begin. */
  #begun: WrittenText[] | undefined;

  begin(index: unknown): void {
    const part = this.#byIndex.get(nameIndex(index)) ?? this.#add(index);
    this.#begun ??= [];
    if (this.#begun.at(-1) !== part) this.#begun.push(part);
  }

  /** Where a server has begun parts, a number that none of them has means the last one. */
  find(index: unknown): WrittenText {
    return this.#byIndex.get(nameIndex(index)) ?? this.#begun?.at(-1) ?? this.#add(index);
  }

  /** The same for a whole text: such a number means the part whose text it continues, one of the last. */
  findOfText(index: unknown, whole: string): WrittenText {
    const numbered = this.#byIndex.get(nameIndex(index));
    if (numbered) return numbered;
    const begun = this.#begun?.slice(-BEGUN_MAX);
    return begun?.find((part) => part.isBeginningOf(whole)) ?? this.#add(index);
  }

  #add(index: unknown): WrittenText {
    const part = new WrittenText();
    this.#byIndex.set(nameIndex(index), part);
    return part;
  }
}

/** A server that numbers no parts has one. */
function nameIndex(index: unknown): string {
  return `${index ?? 0}`;
}

/** The number of the part that an event is about: a summary numbers its parts apart. */
export function readPartIndex({ content_index: index, summary_index: ofSummary }: JsonObject): unknown {
  return index ?? ofSummary;
}
