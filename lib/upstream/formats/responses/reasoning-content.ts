// The content of a reasoning item in a responses answer: its own texts and those of a summary, which become one text, and
// what the vendor wants back of it.
import type { AnswerWriter, JsonObject } from '../../contract/provider.ts';
import { readFields, readObjects } from '../../host/fields.ts';
import { RESPONSES_FORMAT } from '../names.ts';
import { Parts, readPartIndex } from './parts.ts';
import { printText, type WrittenText } from './written-text.ts';

/** What a part is of. */
export type ReasoningKind = 'text' | 'summary';

/** Stands between the parts. */
const PARAGRAPH = '\n\n';

export class ReasoningContent {
  readonly #parts = { text: new Parts(), summary: new Parts() };
  /** The part that was written last. */
  #last: WrittenText | undefined;
  /** The texts of the parts before; most have none. */
  #prints: Set<string> | undefined;
  #hasState = false;

  begin(_item: JsonObject, out: AnswerWriter): void {
    out.alive();
  }

  /** What goes back is the item as it came, apart from its status: open models show what others encrypt. */
  complete(item: JsonObject, out: AnswerWriter): void {
    const content = readObjects(item.content);
    for (const [index, { text }] of readObjects(item.summary).entries()) this.#complete('summary', index, text, out);
    for (const [index, { text }] of content.entries()) this.#complete('text', index, text, out);
    const isWhole = typeof item.encrypted_content === 'string' || content.length > 0;
    if (!isWhole || this.#hasState) return;
    this.#hasState = true;
    const { status: _status, ...kept } = item;
    out.state({ format: RESPONSES_FORMAT, value: JSON.stringify(kept) }, this);
  }

  /** A part without content yet. */
  beginPart(event: JsonObject, kind: ReasoningKind): void {
    this.#parts[kind].begin(readPartIndex(event));
  }

  completePart(event: JsonObject, kind: ReasoningKind, out: AnswerWriter): void {
    this.#complete(kind, readPartIndex(event), readFields(event.part).text, out);
  }

  /** A fragment of a part, or the whole part. */
  takeText(event: JsonObject, kind: ReasoningKind, out: AnswerWriter): void {
    const { delta, text } = event;
    const index = readPartIndex(event);
    if (typeof delta === 'string') this.#write(this.#parts[kind].find(index), delta, out);
    else this.#complete(kind, index, text, out);
  }

  #complete(kind: ReasoningKind, index: unknown, whole: unknown, out: AnswerWriter): void {
    if (typeof whole !== 'string') return;
    const part = this.#parts[kind].findOfText(index, whole);
    // Some servers call a summary at the end what was none before, or the other way round.
    const isKnown = part.length === 0 && this.#isWritten(whole);
    if (!isKnown) this.#write(part, part.findMissing(whole), out);
  }

  #isWritten(text: string): boolean {
    const print = printText(text);
    return this.#last?.print === print || this.#prints?.has(print) === true;
  }

  #write(part: WrittenText, text: string, out: AnswerWriter): void {
    if (text === '') return;
    const last = this.#last;
    const isNext = part.length === 0 && last !== undefined;
    if (last && last !== part) {
      this.#prints ??= new Set();
      this.#prints.add(last.print);
    }
    this.#last = part;
    part.add(text);
    out.reasoning(isNext ? PARAGRAPH + text : text, this);
  }
}
