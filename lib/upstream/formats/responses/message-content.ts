// The content of a message in a responses answer: parts with a text or a refusal each, and annotations.
import type { AnswerWriter, JsonObject } from '../../contract/provider.ts';
import { readFields, readObjects } from '../../host/fields.ts';
import { readResponsesAnnotation } from '../citations.ts';
import { Parts, readPartIndex } from './parts.ts';
import type { WrittenText } from './written-text.ts';

/** What events call a text of a message. */
export type TextName = 'output_text' | 'refusal';

export interface AnswerTexts {
  characters: number;
  hasRefusal: boolean;
}

/** What the vendor calls a message within its turn; words of other shapes are none. */
export function readPhase({ phase }: JsonObject): string | undefined {
  return typeof phase === 'string' && /^[a-z_]{1,32}$/.test(phase) ? phase : undefined;
}

export class MessageContent {
  readonly #texts: AnswerTexts;
  /** Most have none. */
  #phase: string | undefined;
  /** The writer knows them by these objects. */
  readonly #parts = new Parts();

  constructor(texts: AnswerTexts) {
    this.#texts = texts;
  }

  begin(item: JsonObject): void {
    this.#phase = readPhase(item);
  }

  complete(item: JsonObject, out: AnswerWriter): void {
    this.#phase ??= readPhase(item);
    for (const [index, part] of readObjects(item.content).entries()) this.#completePart(index, part, out);
  }

  /** A part without content yet. */
  beginPart(event: JsonObject): void {
    this.#parts.begin(readPartIndex(event));
  }

  completePart(event: JsonObject, out: AnswerWriter): void {
    this.#completePart(readPartIndex(event), readFields(event.part), out);
  }

  #completePart(index: unknown, { type, text, refusal, annotations }: JsonObject, out: AnswerWriter): void {
    if (type === 'refusal') {
      this.#completeText(index, refusal, 'refusal', out);
      return;
    }
    this.#completeText(index, text, 'output_text', out);
    if (!Array.isArray(annotations)) return;
    const part = this.#parts.find(index);
    for (const [place, annotation] of annotations.entries()) this.#annotate(part, place, annotation, out);
  }

  takeText(event: JsonObject, name: TextName, out: AnswerWriter): void {
    const { delta } = event;
    if (typeof delta === 'string') this.#write(this.#parts.find(readPartIndex(event)), delta, name, out);
  }

  completeText(event: JsonObject, name: TextName, out: AnswerWriter): void {
    this.#completeText(readPartIndex(event), name === 'refusal' ? event.refusal : event.text, name, out);
  }

  #completeText(index: unknown, whole: unknown, name: TextName, out: AnswerWriter): void {
    if (typeof whole !== 'string') return;
    const part = this.#parts.findOfText(index, whole);
    this.#write(part, part.findMissing(whole), name, out);
  }

  #write(part: WrittenText, text: string, name: TextName, out: AnswerWriter): void {
    if (part.length === 0) part.start = this.#texts.characters;
    part.add(text);
    this.#texts.characters += text.length;
    if (name === 'refusal') {
      this.#texts.hasRefusal ||= text !== '';
      out.refusal(text, part);
    } else out.text(text, part, { phase: this.#phase });
  }

  annotate(event: JsonObject, out: AnswerWriter): void {
    const { annotation_index: place, annotation } = event;
    this.#annotate(this.#parts.find(readPartIndex(event)), place, annotation, out);
  }

  /** `place`: its number among the annotations of the part, below `annotated` if it was written before. */
  #annotate(part: WrittenText, place: unknown, annotation: unknown, out: AnswerWriter): void {
    if (typeof place === 'number' && place < part.annotated) return;
    part.annotated += 1;
    const citation = readResponsesAnnotation(annotation, part.length === 0 ? this.#texts.characters : part.start);
    if (citation) out.cite(citation, part);
    else out.alive();
  }
}
