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

/** The part of a custom call. */
const INPUT = 'input';

/** Stands between the parts of a summary. */
const PARAGRAPH = '\n\n';

/** The text of a part so far: its length and a hash, because nothing keeps a whole answer. */
class WrittenText {
  #chars = 0;
  #hash = FIRST_HASH;
  /** How many annotations of the part were written. */
  annotated = 0;

  get length(): number {
    return this.#chars;
  }

  add(text: string): void {
    this.#chars += text.length;
    this.#hash = hashText(text, this.#hash);
  }

  /** What is missing of a whole text; nothing if that is another text. */
  findMissing(whole: string): string {
    return hashText(whole.slice(0, this.#chars)) === this.#hash ? whole.slice(this.#chars) : '';
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
  /** Of a call, once it is known. */
  callId: unknown;
  isBegun = false;
  isDone = false;
  isRefused = false;
  /** Of a message that has a phase. */
  #kind: { readonly phase: string } | undefined;
  #hasState = false;
  #hasImage = false;
  #isInputClosed = false;
  /** The writer knows a message's parts by these objects, and every other item by itself. */
  readonly #parts = new Map<unknown, WrittenText>();

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
      for (const [at, part] of readItems(item.content).entries()) this.completePart({ content_index: at, part }, out);
    } else out.alive();
  }

  addText({ content_index: at, delta }: JsonObject, kind: string, out: AnswerWriter): void {
    if (typeof delta !== 'string') return;
    const part = this.#partAt(at);
    part.add(delta);
    if (kind === 'refusal') {
      this.isRefused ||= delta !== '';
      out.refusal(delta, part);
    } else out.text(delta, part, this.#kind);
  }

  completeText(event: JsonObject, kind: string, out: AnswerWriter): void {
    const whole = kind === 'refusal' ? event.refusal : event.text;
    if (typeof whole !== 'string') return;
    const delta = this.#partAt(event.content_index).findMissing(whole);
    this.addText({ content_index: event.content_index, delta }, kind, out);
  }

  /** An annotation of a part that stands in its place among those of the part, or comes next. */
  annotate({ content_index: at, annotation_index: place, annotation }: JsonObject, out: AnswerWriter): void {
    const part = this.#partAt(at);
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

  completePart({ content_index: at, part }: JsonObject, out: AnswerWriter): void {
    const { type, text, refusal, annotations } = readFields(part);
    if (type === 'refusal') this.completeText({ content_index: at, refusal }, 'refusal', out);
    else if (type === 'reasoning_text') this.#completeThoughtPart(`text ${at}`, text, out);
    else {
      this.completeText({ content_index: at, text }, 'output_text', out);
      if (!Array.isArray(annotations)) return;
      for (const [place, annotation] of annotations.entries()) {
        this.annotate({ content_index: at, annotation_index: place, annotation }, out);
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
    out.tool({ block: this, id: id ?? this.id, name, json, isWhole });
  }

  #takeCustomCall({ call_id: id, name }: JsonObject, out: AnswerWriter): void {
    this.callId ??= id;
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
    const begun = this.#parts.has(INPUT) ? '' : `{"${CUSTOM_INPUT}":"`;
    const part = this.#partAt(INPUT);
    const text = typeof delta === 'string' ? delta : part.findMissing(`${whole ?? ''}`);
    part.add(text);
    out.tool({ block: this, json: begun + JSON.stringify(text).slice(1, -1) });
  }

  /** A fragment of a part of the reasoning, or the whole part. */
  takeThought(
    { summary_index: at, content_index: index = at, ...event }: JsonObject,
    name: string,
    out: AnswerWriter,
  ): void {
    const key = `${name === 'reasoning_text' ? 'text' : 'summary'} ${index}`;
    const { delta, text = readFields(event.part).text } = event;
    if (typeof delta === 'string') this.#addThought(key, delta, out);
    else this.#completeThoughtPart(key, text, out);
  }

  #addThought(key: string, delta: string, out: AnswerWriter): void {
    if (delta === '') return;
    const isNext = !this.#parts.has(key) && this.#parts.size > 0;
    this.#partAt(key).add(delta);
    out.reasoning(isNext ? PARAGRAPH + delta : delta, this);
  }

  #completeThoughtPart(key: string, text: unknown, out: AnswerWriter): void {
    if (typeof text === 'string') this.#addThought(key, this.#parts.get(key)?.findMissing(text) ?? text, out);
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
    for (const [at, { text }] of readItems(item.summary).entries())
      this.#completeThoughtPart(`summary ${at}`, text, out);
    for (const [at, { text }] of readItems(item.content).entries()) this.#completeThoughtPart(`text ${at}`, text, out);
    const { status: _status, ...kept } = item;
    if (typeof item.encrypted_content !== 'string' || this.#hasState) return;
    this.#hasState = true;
    out.state({ format: RESPONSES_STATE, value: JSON.stringify(kept) }, this);
  }

  #partAt(key: unknown): WrittenText {
    let part = this.#parts.get(key);
    if (!part) {
      part = new WrittenText();
      this.#parts.set(key, part);
    }
    return part;
  }
}

function readItems(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map((item) => readFields(item)) : [];
}
