// The parts of one item of a responses answer, found by the numbers that servers give them, or not.
import { WrittenText } from './written-text.ts';

/** What a part is of: a message, the input of a custom call, or reasoning, which may have a summary too. */
export type PartKind = 'output' | 'input' | 'text' | 'summary';

/** How many parts a text of an unknown number is compared with. */
const BEGUN_MAX = 16;

export class Parts {
  readonly #byName = new Map<string, WrittenText>();
  /** Those that the server said begin. */
  #begun: Map<PartKind, WrittenText[]> | undefined;

  get hasAny(): boolean {
    return this.#byName.size > 0;
  }

  begin(kind: PartKind, index: unknown): void {
    const part = this.#byName.get(namePart(kind, index)) ?? this.#add(kind, index);
    this.#begun ??= new Map();
    const begun = this.#begun.get(kind);
    if (!begun) this.#begun.set(kind, [part]);
    else if (begun.at(-1) !== part) begun.push(part);
  }

  /** Where a server has begun parts, a number that none of them has means the last one. */
  find(kind: PartKind, index: unknown): WrittenText {
    return this.#byName.get(namePart(kind, index)) ?? this.#begun?.get(kind)?.at(-1) ?? this.#add(kind, index);
  }

  /** The same for a whole text: such a number means the part whose text it continues, one of the last. */
  findOfText(kind: PartKind, index: unknown, whole: string): WrittenText {
    const numbered = this.#byName.get(namePart(kind, index));
    if (numbered) return numbered;
    const begun = this.#begun?.get(kind)?.slice(-BEGUN_MAX);
    return begun?.find((part) => part.isBeginningOf(whole)) ?? this.#add(kind, index);
  }

  #add(kind: PartKind, index: unknown): WrittenText {
    const part = new WrittenText();
    this.#byName.set(namePart(kind, index), part);
    return part;
  }
}

/** A server that numbers no parts has one of each kind. */
function namePart(kind: PartKind, index: unknown): string {
  return `${kind} ${index ?? 0}`;
}
