// One item of a responses answer, and how much of it was written already.
import type { AnswerWriter, JsonObject } from '../../contract/provider.ts';
import { readFields } from '../../host/fields.ts';
import { readResponsesAnnotation } from '../citations.ts';
import { CUSTOM_INPUT } from '../tools.ts';

/** The format of items that reasoning goes back as: JSON. */
export const RESPONSES_STATE = 'responses';

const COMPACTIONS: ReadonlySet<unknown> = new Set(['compaction', 'compaction_summary', 'context_compaction']);

/** Whether items of this type are what the vendor made of earlier turns. They come back like reasoning. */
export function isCompaction(type: unknown): boolean {
  return COMPACTIONS.has(type);
}

/** What the vendor calls a message within its turn; words of other shapes are none. */
export function readPhase({ phase }: JsonObject): string | undefined {
  return typeof phase === 'string' && /^[a-z_]{1,32}$/.test(phase) ? phase : undefined;
}

function readKind(item: JsonObject): { readonly phase: string } | undefined {
  const phase = readPhase(item);
  return phase === undefined ? undefined : { phase };
}

/** What a part is of: a message, the input of a custom call, or reasoning, which may have a summary too. */
type PartKind = 'output' | 'input' | 'text' | 'summary';

/** Stands between the parts of a summary. */
const PARAGRAPH = '\n\n';

/** The text of a part so far: its length and a hash, because nothing keeps a whole answer. */
class WrittenText {
  #chars = 0;
  #hash = FIRST_HASH;
  /** How many annotations of the part were written. */
  annotated = 0;
  /** Whether the server said that it begins. */
  isBegun = false;

  get length(): number {
    return this.#chars;
  }

  add(text: string): void {
    this.#chars += text.length;
    this.#hash = hashText(text, this.#hash);
  }

  isBeginningOf(whole: string): boolean {
    return hashText(whole.slice(0, this.#chars)) === this.#hash;
  }

  isAll(text: string): boolean {
    return this.#chars === text.length && this.isBeginningOf(text);
  }

  /** What is missing of a whole text; nothing if that is another text. */
  findMissing(whole: string): string {
    return this.isBeginningOf(whole) ? whole.slice(this.#chars) : '';
  }
}

const FIRST_HASH = 0x811c9dc5;

/** FNV-1a. */
function hashText(text: string, hash = FIRST_HASH): number {
  let next = hash;
  for (let at = 0; at < text.length; at += 1) next = Math.imul(next ^ text.charCodeAt(at), 0x01000193);
  return next;
}

export class Item {
  readonly type: string;
  readonly id: unknown;
  /** The item that began before. */
  previous: Item | undefined;
  /** Of a call, once they are known. */
  callId: unknown;
  name: unknown;
  isBegun = false;
  isDone = false;
  isRefused = false;
  /** Of a message that has a phase. */
  #kind: { readonly phase: string } | undefined;
  #hasState = false;
  #hasImage = false;
  #isInputClosed = false;
  /** The writer knows a message's parts by these objects, and every other item by itself. */
  readonly #parts = new Map<string, WrittenText>();

  constructor(type: string, id: unknown) {
    this.type = type;
    this.id = id;
  }

  begin(item: JsonObject, out: AnswerWriter): void {
    this.isBegun = true;
    this.#kind = readKind(item);
    if (this.type === 'function_call') this.#takeCall(item, false, out);
    else if (this.type === 'custom_tool_call') this.#takeCustomCall(item, out);
    else if (this.type !== 'message') out.alive();
  }

  /** Writes what is missing of the whole item. */
  complete(item: JsonObject, out: AnswerWriter): void {
    this.isBegun = true;
    this.isDone = true;
    this.#kind ??= readKind(item);
    if (this.type === 'function_call') this.#takeCall(item, true, out);
    else if (this.type === 'custom_tool_call') this.#completeCustomCall(item, out);
    else if (this.type === 'reasoning') this.#completeThought(item, out);
    else if (this.type === 'image_generation_call') this.#completeImage(item, out);
    else if (this.type === 'message') {
      for (const [at, part] of readItems(item.content).entries())
        this.completePart({ content_index: at, part }, 'output', out);
    } else out.alive();
  }

  addText({ content_index: at, delta }: JsonObject, kind: string, out: AnswerWriter): void {
    if (typeof delta === 'string') this.#addText(this.#partAt('output', at), delta, kind, out);
  }

  #addText(part: WrittenText, delta: string, kind: string, out: AnswerWriter): void {
    part.add(delta);
    if (kind === 'refusal') {
      this.isRefused ||= delta !== '';
      out.refusal(delta, part);
    } else out.text(delta, part, this.#kind);
  }

  completeText(event: JsonObject, kind: string, out: AnswerWriter): void {
    const whole = kind === 'refusal' ? event.refusal : event.text;
    if (typeof whole !== 'string') return;
    const part = this.#partOf('output', event.content_index, whole);
    this.#addText(part, part.findMissing(whole), kind, out);
  }

  /** An annotation of a part that stands in its place among those of the part, or comes next. */
  annotate({ content_index: at, annotation_index: place, annotation }: JsonObject, out: AnswerWriter): void {
    const part = this.#partAt('output', at);
    if (typeof place === 'number' && place < part.annotated) return;
    part.annotated += 1;
    const citation = readResponsesAnnotation(annotation, this.#countBefore(part));
    if (citation) out.cite(citation, part);
    else out.alive();
  }

  /** The characters of the answer's texts before a part. */
  #countBefore(part: WrittenText): number {
    let before = 0;
    for (let item = this.previous; item; item = item.previous) before += item.#countText();
    return before + this.#countText(part);
  }

  /** Up to a part, or of all. */
  #countText(end?: WrittenText): number {
    let characters = 0;
    if (this.type !== 'message') return characters;
    for (const part of this.#parts.values()) {
      if (part === end) break;
      characters += part.length;
    }
    return characters;
  }

  /** A part without content yet. */
  beginPart({ summary_index: place, content_index: at = place }: JsonObject, kind: PartKind): void {
    (this.#parts.get(writeName(kind, at)) ?? this.#addPart(kind, at)).isBegun = true;
  }

  completePart(
    { summary_index: place, content_index: at = place, part }: JsonObject,
    kind: PartKind,
    out: AnswerWriter,
  ): void {
    const { type, text, refusal, annotations } = readFields(part);
    if (type === 'refusal') this.completeText({ content_index: at, refusal }, 'refusal', out);
    else if (kind !== 'output') this.#completeThoughtPart(kind, at, text, out);
    else {
      this.completeText({ content_index: at, text }, 'output_text', out);
      if (!Array.isArray(annotations)) return;
      for (const [index, annotation] of annotations.entries()) {
        this.annotate({ content_index: at, annotation_index: index, annotation }, out);
      }
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
    const begun = this.#parts.size > 0 ? '' : `{"${CUSTOM_INPUT}":"`;
    const part = this.#partAt('input', 0);
    const text = typeof delta === 'string' ? delta : part.findMissing(`${whole ?? ''}`);
    part.add(text);
    out.tool({ block: this, json: begun + JSON.stringify(text).slice(1, -1) });
  }

  /** A fragment of a part of the reasoning, or the whole part. */
  takeThought(event: JsonObject, name: string, out: AnswerWriter): void {
    const { summary_index: place, content_index: at = place, delta, text } = event;
    const kind = name === 'reasoning_text' ? 'text' : 'summary';
    if (typeof delta === 'string') this.#addThought(this.#partAt(kind, at), delta, out);
    else this.#completeThoughtPart(kind, at, text, out);
  }

  #addThought(part: WrittenText, delta: string, out: AnswerWriter): void {
    if (delta === '') return;
    const isNext = part.length === 0 && [...this.#parts.values()].some(({ length }) => length > 0);
    part.add(delta);
    out.reasoning(isNext ? PARAGRAPH + delta : delta, this);
  }

  #completeThoughtPart(kind: PartKind, at: unknown, text: unknown, out: AnswerWriter): void {
    if (typeof text !== 'string') return;
    const part = this.#partOf(kind, at, text);
    // Some servers call a summary at the end what was none before, or the other way round.
    const isKnown = part.length === 0 && [...this.#parts.values()].some((written) => written.isAll(text));
    if (!isKnown) this.#addThought(part, part.findMissing(text), out);
  }

  /** What was shown of it before is not the image. */
  #completeImage({ result, output_format: format }: JsonObject, out: AnswerWriter): void {
    if (typeof result !== 'string' || result === '') out.alive();
    else if (!this.#hasImage) {
      this.#hasImage = true;
      out.image({ mediaType: typeof format === 'string' ? `image/${format}` : undefined, base64: result });
    }
  }

  /** What goes back is the item as it came, apart from its status. */
  #completeThought(item: JsonObject, out: AnswerWriter): void {
    for (const [at, { text }] of readItems(item.summary).entries()) this.#completeThoughtPart('summary', at, text, out);
    for (const [at, { text }] of readItems(item.content).entries()) this.#completeThoughtPart('text', at, text, out);
    const { status: _status, ...kept } = item;
    if (typeof item.encrypted_content !== 'string' || this.#hasState) return;
    this.#hasState = true;
    out.state({ format: RESPONSES_STATE, value: JSON.stringify(kept) }, this);
  }

  /** Of a server that begins its parts, what it numbers otherwise belongs to the last one. */
  #partAt(kind: PartKind, at: unknown): WrittenText {
    return this.#parts.get(writeName(kind, at)) ?? this.#listBegun(kind).at(-1) ?? this.#addPart(kind, at);
  }

  /** The same for a whole text: of the parts with another number, the one that it goes on. */
  #partOf(kind: PartKind, at: unknown, whole: string): WrittenText {
    const named = this.#parts.get(writeName(kind, at));
    return named ?? this.#listBegun(kind).find((part) => part.isBeginningOf(whole)) ?? this.#addPart(kind, at);
  }

  #listBegun(kind: PartKind): readonly WrittenText[] {
    return [...this.#parts].flatMap(([name, part]) => (part.isBegun && name.startsWith(kind) ? [part] : []));
  }

  #addPart(kind: PartKind, at: unknown): WrittenText {
    const part = new WrittenText();
    this.#parts.set(writeName(kind, at), part);
    return part;
  }
}

/** Without a number there is one part. */
function writeName(kind: PartKind, at: unknown): string {
  return `${kind} ${at ?? 0}`;
}

function readItems(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map((item) => readFields(item)) : [];
}
