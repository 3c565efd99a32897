// The model's reasoning in a chat-completions reply: plain text under several names, or details that have to go back.
import type { AnswerWriter, JsonObject } from '../../contract/provider.ts';
import { isFields } from '../../host/fields.ts';

/** The format of details that reasoning goes back with: a JSON list, as they came. */
export const CHAT_STATE = 'chat';

/** Texts of a detail that arrive in fragments. */
const FRAGMENTS = ['text', 'summary', 'data'];

/** Reads the `reasoning_details` of one reply. */
export class ReasoningDetails {
  #details: Record<string, unknown>[] = [];

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
    const last = this.#details.findLast(({ index, type }) => index === detail.index && type === detail.type);
    if (!last || isAnotherId(last, detail)) {
      this.#details.push({ ...detail });
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
    out.state({ format: CHAT_STATE, value: JSON.stringify(this.#details) });
    this.#details = [];
  }
}

function isAnotherId({ id }: JsonObject, other: JsonObject): boolean {
  return typeof id === 'string' && typeof other.id === 'string' && id !== other.id;
}
