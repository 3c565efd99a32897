// One item of a responses answer, and how much of it was written already.
import type { AnswerWriter, JsonObject } from '../../contract/provider.ts';
import { readFields } from '../../host/fields.ts';
import { readResponsesAnnotation } from '../citations.ts';
import { RESPONSES_FORMAT } from '../names.ts';
import { CUSTOM_INPUT } from '../tools.ts';
import { type PartKind, Parts } from './parts.ts';
import { printText, type WrittenText } from './written-text.ts';

const COMPACTIONS: ReadonlySet<unknown> = new Set(['compaction', 'compaction_summary', 'context_compaction']);

/** Whether items of this type are what the vendor made of earlier turns. They come back like reasoning. */
export function isCompaction(type: unknown): boolean {
  return COMPACTIONS.has(type);
}

/** What the vendor calls a message within its turn; words of other shapes are none. */
export function readPhase({ phase }: JsonObject): string | undefined {
  return typeof phase === 'string' && /^[a-z_]{1,32}$/.test(phase) ? phase : undefined;
}

/** What events call a text of a message. */
type TextName = 'output_text' | 'refusal';

/** Stands between the parts of a summary. */
const PARAGRAPH = '\n\n';

/** The texts of one answer. */
export interface AnswerTexts {
  characters: number;
}

export class Item {
  readonly type: string;
  readonly id: unknown;
  readonly #texts: AnswerTexts;
  /** Of a call, once they are known. */
  callId: unknown;
  name: unknown;
  isBegun = false;
  isDone = false;
  isRefused = false;
  /** Of a message; most have none. */
  #phase: string | undefined;
  #hasState = false;
  #hasImage = false;
  #isInputClosed = false;
  /** The writer knows a message's parts by these objects, and every other item by itself. */
  readonly #parts = new Parts();

  /** The part of the reasoning that was written last. */
  #thought: WrittenText | undefined;
  /** The reasoning of the parts before; most have none. */
  #thoughts: Set<string> | undefined;

  constructor(type: string, id: unknown, texts: AnswerTexts) {
    this.type = type;
    this.id = id;
    this.#texts = texts;
  }

  begin(item: JsonObject, out: AnswerWriter): void {
    this.isBegun = true;
    this.#phase = readPhase(item);
    if (this.type === 'function_call') this.#takeCall(item, false, out);
    else if (this.type === 'custom_tool_call') this.#takeCustomCall(item, out);
    else if (this.type !== 'message') out.alive();
  }

  /** Writes what is missing of the whole item. */
  complete(item: JsonObject, out: AnswerWriter): void {
    this.isBegun = true;
    this.isDone = true;
    this.#phase ??= readPhase(item);
    if (this.type === 'function_call') this.#takeCall(item, true, out);
    else if (this.type === 'custom_tool_call') this.#completeCustomCall(item, out);
    else if (this.type === 'reasoning') this.#completeThought(item, out);
    else if (this.type === 'image_generation_call') this.#completeImage(item, out);
    else if (this.type === 'message') {
      for (const [index, part] of readItems(item.content).entries()) this.#completePart('output', index, part, out);
    } else out.alive();
  }

  addText(event: JsonObject, name: TextName, out: AnswerWriter): void {
    const { delta } = event;
    if (typeof delta === 'string') this.#addText(this.#parts.find('output', readPartIndex(event)), delta, name, out);
  }

  #addText(part: WrittenText, delta: string, name: TextName, out: AnswerWriter): void {
    if (part.length === 0) part.start = this.#texts.characters;
    part.add(delta);
    this.#texts.characters += delta.length;
    if (name === 'refusal') {
      this.isRefused ||= delta !== '';
      out.refusal(delta, part);
    } else out.text(delta, part, { phase: this.#phase });
  }

  completeText(event: JsonObject, name: TextName, out: AnswerWriter): void {
    this.#completeText(readPartIndex(event), name === 'refusal' ? event.refusal : event.text, name, out);
  }

  #completeText(index: unknown, whole: unknown, name: TextName, out: AnswerWriter): void {
    if (typeof whole !== 'string') return;
    const part = this.#parts.findOfText('output', index, whole);
    this.#addText(part, part.findMissing(whole), name, out);
  }

  annotate(event: JsonObject, out: AnswerWriter): void {
    const { annotation_index: place, annotation } = event;
    this.#annotate(this.#parts.find('output', readPartIndex(event)), place, annotation, out);
  }

  /** `place`: its number among the annotations of the part, below `annotated` if it was written before. */
  #annotate(part: WrittenText, place: unknown, annotation: unknown, out: AnswerWriter): void {
    if (typeof place === 'number' && place < part.annotated) return;
    part.annotated += 1;
    const citation = readResponsesAnnotation(annotation, part.length === 0 ? this.#texts.characters : part.start);
    if (citation) out.cite(citation, part);
    else out.alive();
  }

  /** A part without content yet. */
  beginPart(event: JsonObject, kind: PartKind): void {
    this.#parts.begin(kind, readPartIndex(event));
  }

  completePart(event: JsonObject, kind: PartKind, out: AnswerWriter): void {
    this.#completePart(kind, readPartIndex(event), event.part, out);
  }

  #completePart(kind: PartKind, index: unknown, part: unknown, out: AnswerWriter): void {
    const { type, text, refusal, annotations } = readFields(part);
    if (type === 'refusal') this.#completeText(index, refusal, 'refusal', out);
    else if (kind !== 'output') this.#completeThoughtPart(kind, index, text, out);
    else {
      this.#completeText(index, text, 'output_text', out);
      if (!Array.isArray(annotations)) return;
      const written = this.#parts.find('output', index);
      for (const [place, annotation] of annotations.entries()) this.#annotate(written, place, annotation, out);
    }
  }

  takeArguments({ delta, arguments: whole, name }: JsonObject, out: AnswerWriter): void {
    if (whole === undefined) out.tool({ block: this, name, json: delta });
    else out.tool({ block: this, name, json: whole, isWhole: true });
  }

  /** Its arguments arrive in pieces, or with the item. */
  #takeCall({ call_id: id, name, arguments: json }: JsonObject, isWhole: boolean, out: AnswerWriter): void {
    this.callId ??= id;
    this.name ??= name;
    out.tool({ block: this, id: id ?? this.id, name, json, isWhole });
  }

  #takeCustomCall({ call_id: id, name }: JsonObject, out: AnswerWriter): void {
    this.callId ??= id;
    this.name ??= name;
    out.tool({ block: this, id: id ?? this.id, name });
  }

  #completeCustomCall(item: JsonObject, out: AnswerWriter): void {
    if (this.#isInputClosed) return;
    this.#takeCustomCall(item, out);
    this.takeInput({ input: item.input ?? '' }, out);
    this.#isInputClosed = true;
    out.tool({ block: this, json: '"}' });
  }

  /** The input of a custom tool becomes the only argument of the function that stands for it. */
  takeInput({ delta, input: whole }: JsonObject, out: AnswerWriter): void {
    if (this.#isInputClosed) return;
    const opening = this.#parts.hasAny ? '' : `{"${CUSTOM_INPUT}":"`;
    const part = this.#parts.find('input', 0);
    const text = typeof delta === 'string' ? delta : part.findMissing(`${whole ?? ''}`);
    part.add(text);
    out.tool({ block: this, json: opening + JSON.stringify(text).slice(1, -1) });
  }

  /** A fragment of a part of the reasoning, or the whole part. */
  takeThought(event: JsonObject, name: string, out: AnswerWriter): void {
    const { delta, text } = event;
    const index = readPartIndex(event);
    const kind = name === 'reasoning_text' ? 'text' : 'summary';
    if (typeof delta === 'string') this.#addThought(this.#parts.find(kind, index), delta, out);
    else this.#completeThoughtPart(kind, index, text, out);
  }

  #addThought(part: WrittenText, delta: string, out: AnswerWriter): void {
    if (delta === '') return;
    const isNext = part.length === 0 && this.#thought !== undefined;
    if (this.#thought && this.#thought !== part) {
      this.#thoughts ??= new Set();
      this.#thoughts.add(this.#thought.print);
    }
    this.#thought = part;
    part.add(delta);
    out.reasoning(isNext ? PARAGRAPH + delta : delta, this);
  }

  #completeThoughtPart(kind: PartKind, index: unknown, text: unknown, out: AnswerWriter): void {
    if (typeof text !== 'string') return;
    const part = this.#parts.findOfText(kind, index, text);
    // Some servers call a summary at the end what was none before, or the other way round.
    const isKnown = part.length === 0 && this.#isWritten(text);
    if (!isKnown) this.#addThought(part, part.findMissing(text), out);
  }

  #isWritten(thought: string): boolean {
    const print = printText(thought);
    return this.#thought?.print === print || this.#thoughts?.has(print) === true;
  }

  /** Previews of the image came before, and are not shown. */
  #completeImage({ result, output_format: format }: JsonObject, out: AnswerWriter): void {
    if (typeof result !== 'string' || result === '') out.alive();
    else if (!this.#hasImage) {
      this.#hasImage = true;
      out.image({ mediaType: typeof format === 'string' ? `image/${format}` : undefined, base64: result });
    }
  }

  /** What goes back is the item as it came, apart from its status. */
  #completeThought(item: JsonObject, out: AnswerWriter): void {
    for (const [index, { text }] of readItems(item.summary).entries())
      this.#completeThoughtPart('summary', index, text, out);
    for (const [index, { text }] of readItems(item.content).entries())
      this.#completeThoughtPart('text', index, text, out);
    const { status: _status, ...kept } = item;
    if (typeof item.encrypted_content !== 'string' || this.#hasState) return;
    this.#hasState = true;
    out.state({ format: RESPONSES_FORMAT, value: JSON.stringify(kept) }, this);
  }
}

/** The number of the part that an event is about: a summary numbers its parts apart. */
function readPartIndex({ content_index: index, summary_index: ofSummary }: JsonObject): unknown {
  return index ?? ofSummary;
}

function readItems(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map((item) => readFields(item)) : [];
}
