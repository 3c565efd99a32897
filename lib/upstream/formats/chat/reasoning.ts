// The model's reasoning in a chat-completions reply: plain text under several names, or details that have to go back.
import type { AnswerWriter, JsonObject } from '../../contract/provider.ts';
import { isFields } from '../../host/fields.ts';
import { CHAT_FORMAT } from '../names.ts';

/** Texts of a detail that arrive in fragments. */
const FRAGMENTS = ['text', 'summary', 'data'];

type Detail = Record<string, unknown>;

/** Reads the `reasoning_details` of one reply. */
export class ReasoningDetails {
  #details: Detail[] = [];
  /** The last of each type, by index. */
  readonly #last = new Map<unknown, Map<unknown, Detail>>();

  get isEmpty(): boolean {
    return this.#details.length === 0;
  }

  /** Returns the text of these details. */
  take(details: readonly unknown[]): string {
    let said = '';
    for (const detail of details) {
      if (!isFields(detail)) continue;
      this.#add(detail);
      const text = detail.text ?? detail.summary;
      if (typeof text === 'string') said += text;
    }
    return said;
  }

  /** Fragments of a detail have its index and type. */
  #add(detail: JsonObject): void {
    const { index, type } = detail;
    const last = this.#last.get(index)?.get(type);
    if (!last || isAnotherId(last, detail)) {
      const added = { ...detail };
      this.#details.push(added);
      this.#last.set(index, (this.#last.get(index) ?? new Map()).set(type, added));
      return;
    }
    for (const [name, value] of Object.entries(detail)) {
      const before = last[name];
      const isFragment = FRAGMENTS.includes(name) && typeof before === 'string' && typeof value === 'string';
      if (isFragment) last[name] = before + value;
      else if (value !== null && value !== undefined) last[name] = value;
    }
  }

  /** Writes what has to go back with the reasoning so far. */
  flush(out: AnswerWriter): void {
    if (this.isEmpty) return;
    out.state({ format: CHAT_FORMAT, value: JSON.stringify(this.#details) });
    this.#details = [];
    this.#last.clear();
  }
}

function isAnotherId({ id }: JsonObject, other: JsonObject): boolean {
  return typeof id === 'string' && typeof other.id === 'string' && id !== other.id;
}
