// Maps a chat-completions reply to parts: the chunks of a stream, or the whole reply of a server that does not stream
// even if asked to.
import type {
  AnswerReader,
  AnswerWriter,
  ChatQuirks,
  CountsPlace,
  FinishReason,
  Host,
  JsonObject,
  TokenCounts,
} from '../../contract/provider.ts';
import { isFields } from '../../host/fields.ts';
import { AnswerId } from '../answer-id.ts';
import { readChatAnnotation, readSources } from '../citations.ts';
import { OddEvents } from '../odd-events.ts';
import { findCounts, Usage } from '../usage.ts';
import { Calls } from './calls.ts';
import { listImages, ReplyImages } from './images.ts';
import { ReasoningDetails } from './reasoning.ts';

interface Choice extends JsonObject {
  readonly delta?: JsonObject | null;
  readonly message?: JsonObject | null;
}

interface Ending {
  readonly reason: FinishReason;
  readonly word?: unknown;
  /** Some servers name the stop string that they found; other values are ids of tokens. */
  readonly sequence?: unknown;
}

type Kit = Pick<Host, 'fault' | 'finishReason'>;

/** Reads one reply. */
export class ChatReply implements AnswerReader {
  readonly #kit: Kit;
  readonly #isCumulative: boolean;
  readonly #places: readonly CountsPlace[];
  readonly #callState: ChatQuirks['callState'];
  readonly #toolNames: ChatQuirks['toolNames'];
  /** Of text and of reasoning so far. */
  #chars = 0;
  #reasoningChars = 0;
  #hasDeltas = false;
  #hasReasoningDeltas = false;
  #hasReason = false;
  /** Chunks that only count: one, behind all others, is as good as an end mark; more of them are a running count. */
  #counted = 0;
  #isCountedLast = false;
  #isRefused = false;
  #isCited = false;
  /** Most answers have none. */
  #calls: Calls | undefined;
  #images: ReplyImages | undefined;
  #details: ReasoningDetails | undefined;
  #usage: Usage | undefined;
  readonly #id = new AnswerId();
  /** Since the last piece of the answer; most have none. */
  #odd: OddEvents | undefined;

  constructor(kit: Kit, { isCumulative = false, counts = [], callState, toolNames }: ChatQuirks) {
    this.#toolNames = toolNames;
    this.#kit = kit;
    this.#callState = callState;
    this.#isCumulative = isCumulative;
    this.#places = counts;
  }

  take(chunk: JsonObject, out: AnswerWriter): void {
    const choice = firstChoice(chunk.choices);
    if (choice) this.#takeChoice(chunk, choice, out);
    else this.#takeWithoutChoice(chunk, out);
  }

  #takeChoice(chunk: JsonObject, choice: Choice, out: AnswerWriter): void {
    if (chunk.error || chunk.base_resp) this.#refuse(chunk);
    else if (saysNothing(choice)) this.#refuseInner(chunk);
    if (this.#isOther(chunk.id, choice)) {
      out.done('another answer');
      return;
    }
    out.start(chunk);
    this.#takeContent(choice, out);
    this.#isCountedLast = false;
    const { finish_reason: word } = choice;
    // It ends with itself, unless it is a chunk that repeats the answer so far beside its delta.
    const isWhole = chunk.object === 'chat.completion' && Boolean(choice.message) && !choice.delta;
    this.#hasReason ||= isWhole || (typeof word === 'string' && word !== '');
    if (isWhole || word) this.#takeSources(chunk, out);
    const tokens = this.#readCounts(chunk, choice);
    if (tokens) out.usage(tokens);
    // Most chunks have none.
    const reason = word ? this.#kit.finishReason(word, choice.error) : undefined;
    if (reason || isWhole) this.#details?.flush(out);
    if (reason) this.#finish({ reason, word, sequence: choice.stop_reason ?? choice.matched_stop }, out);
    else this.#endWithout(choice, isWhole, out);
  }

  /** What comes beside choices, or behind them: counts, sources, or an error in a shape that nobody knows. */
  #takeWithoutChoice(chunk: JsonObject, out: AnswerWriter): void {
    this.#refuse(chunk);
    this.#refuseInner(chunk);
    this.#odd ??= new OddEvents(this.#kit);
    this.#odd.note(chunk);
    out.start(chunk);
    this.#takeSources(chunk, out);
    const tokens = this.#readCounts(chunk, undefined);
    // Events without counts, such as one with the cost, may follow the one that has them.
    if (!tokens) return;
    out.usage(tokens);
    this.#isCountedLast = true;
    this.#counted += 1;
  }

  #refuse(chunk: JsonObject): void {
    const complaint = this.#kit.fault.ofComplaint(chunk);
    if (complaint) throw complaint;
  }

  #isOther(id: unknown, { delta, message, text }: Choice): boolean {
    const isOther = this.#id.isOther(id, this.#hasReason);
    return isOther && Boolean(delta?.content || (delta && hasCalls(delta)) || message || text);
  }

  /** No reason to end is given. */
  #endWithout({ error }: Choice, isWhole: boolean, out: AnswerWriter): void {
    const complaint = error ? this.#kit.fault.ofComplaint({ error }) : undefined;
    if (complaint) throw complaint;
    if (isWhole) this.#finish({ reason: 'stop' }, out);
  }

  /** After something like an error no count or mark makes an answer whole; after a refusal, a mark does not say why it ended. */
  end(out: AnswerWriter, marked: boolean): void {
    this.#details?.flush(out);
    this.#calls?.flush(out);
    const isCounted = !marked && !this.#hasReason && this.#isCountedOnce();
    if ((marked && !this.#hasReason) || isCounted) this.#odd?.check();
    if (isCounted) this.#finish({ reason: 'stop', word: 'counted' }, out);
    if (marked && this.#isRefused) out.finish('filter', 'refusal');
  }

  #isCountedOnce(): boolean {
    const hasContent = this.#chars > 0 || this.#calls !== undefined || this.#images !== undefined;
    return this.#isCountedLast && this.#counted === 1 && hasContent;
  }

  /** Some say in an object of their own that the answer broke off. */
  #refuseInner(chunk: JsonObject): void {
    for (const inner of Object.values(chunk)) {
      const complaint =
        isFields(inner) && inner.error ? this.#kit.fault.ofComplaint({ error: inner.error }) : undefined;
      if (complaint) throw complaint;
    }
  }

  /** The counts of a chunk; once there is a reason to end, they may also be in other places. */
  #readCounts(chunk: JsonObject, choice: Choice | undefined): TokenCounts | undefined {
    const usage = chunk.usage ?? choice?.delta?.usage ?? choice?.usage;
    if (usage && isFields(usage)) {
      this.#usage ??= new Usage();
      return this.#usage.report(usage);
    }
    if ((!this.#hasReason && choice) || this.#places.length === 0) return undefined;
    this.#usage ??= new Usage();
    return findCounts(chunk, this.#places, this.#usage);
  }

  #takeContent(choice: Choice, out: AnswerWriter): void {
    const { delta, message } = choice;
    if (delta) this.#takeDelta(delta, out);
    // Beside a delta's text it is the same once more.
    if ((choice.text ?? '') !== '' && !delta?.content) this.#takeTextDelta(readText(choice.text), out);
    // Next to deltas, a message repeats the text so far.
    if (message && !this.#hasDeltas) this.#takeMessage(message, out);
    // Images that a delta has brought already are known by their bytes.
    if (message) this.#takeImages(message, out);
  }

  #takeDelta(delta: JsonObject, out: AnswerWriter): void {
    const reasoning = this.#readReasoning(delta);
    this.#hasReasoningDeltas ||= reasoning !== '';
    this.#takeReasoning(this.#isCumulative ? reasoning.slice(this.#reasoningChars) : reasoning, out);
    const { content } = delta;
    if (typeof content === 'string' && content !== '') this.#takeTextDelta(content, out);
    else this.#takeOtherContent(delta, out);
    if (delta.images || delta.multi_mod_content) this.#takeImages(delta, out);
    this.#takeRest(delta, out);
  }

  #takeMessage(message: JsonObject, out: AnswerWriter): void {
    const reasoning = this.#readReasoning(message);
    if (!this.#hasReasoningDeltas) this.#takeReasoning(reasoning, out);
    this.#takeText(readText(message.content), out);
    this.#takeRest(message, out);
  }

  /** What a delta, or a message, has beside its content. */
  #takeRest(fields: JsonObject, out: AnswerWriter): void {
    if (fields.refusal) this.#takeRefusal(readText(fields.refusal), out);
    if (fields.annotations) this.#cite(fields.annotations, out);
    if (hasCalls(fields)) this.#takeCalls(fields, out);
  }

  /** Most deltas are text. */
  #takeOtherContent(delta: JsonObject, out: AnswerWriter): void {
    const { content, images, multi_mod_content: mixed } = delta;
    if (content !== undefined && content !== null && content !== '') this.#takeTextDelta(readText(content), out);
    if (!images && !mixed) this.#takeImages(delta, out);
  }

  #takeImages(fields: JsonObject, out: AnswerWriter): void {
    const images = listImages(fields);
    if (images.length === 0) return;
    this.#odd = undefined;
    this.#details?.flush(out);
    this.#images ??= new ReplyImages();
    for (const image of images) this.#images.take(image, out);
  }

  #cite(annotations: unknown, out: AnswerWriter): void {
    if (!Array.isArray(annotations)) return;
    for (const annotation of annotations) {
      const citation = readChatAnnotation(annotation);
      if (citation) out.cite(citation);
      this.#isCited ||= citation !== undefined;
    }
  }

  /** Search models list the pages beside the answer, some in every chunk; what stands in annotations is not repeated. */
  #takeSources({ search_results: results, citations }: JsonObject, out: AnswerWriter): void {
    if (this.#isCited || this.#chars === 0 || (!results && !citations)) return;
    const found = readSources(results);
    for (const citation of found.length > 0 ? found : readSources(citations)) {
      out.cite(citation);
      this.#isCited = true;
    }
  }

  /** Beside other names for their text, details only say what has to go back. */
  #readReasoning(fields: JsonObject): string {
    const named = readNamedReasoning(fields);
    const detailed = this.#takeDetails(fields.reasoning_details);
    return named || detailed || readReasoningParts(fields.content);
  }

  /** Returns their text. */
  #takeDetails(details: unknown): string {
    if (!Array.isArray(details) || details.length === 0) return '';
    this.#details ??= new ReasoningDetails();
    return this.#details.take(details);
  }

  #takeReasoning(text: string, out: AnswerWriter): void {
    if (text === '') return;
    this.#reasoningChars += text.length;
    this.#odd = undefined;
    out.reasoning(text);
  }

  #takeCalls(fields: JsonObject, out: AnswerWriter): void {
    this.#details?.flush(out);
    this.#odd = undefined;
    this.#calls ??= new Calls(this.#callState, this.#toolNames);
    this.#calls.take(fields, out);
  }

  #takeTextDelta(text: string, out: AnswerWriter): void {
    const fresh = this.#isCumulative ? text.slice(this.#chars) : text;
    if (fresh !== '') this.#hasDeltas = true;
    this.#takeText(fresh, out);
  }

  #takeText(text: string, out: AnswerWriter): void {
    if (text === '') return;
    this.#chars += text.length;
    this.#odd = undefined;
    this.#details?.flush(out);
    out.text(text);
  }

  /** A refusal is what the reader gets as an answer, so it is text; the finish reason says why it ended. */
  #takeRefusal(text: string, out: AnswerWriter): void {
    if (text === '') return;
    this.#isRefused = true;
    this.#chars += text.length;
    this.#odd = undefined;
    this.#details?.flush(out);
    out.refusal(text);
  }

  #finish({ reason, word, sequence }: Ending, out: AnswerWriter): void {
    this.#calls?.flush(out);
    if (this.#isRefused) out.finish('filter', 'refusal');
    else out.finish(reason, typeof word === 'string' ? word : reason, sequence);
  }
}

/** Further choices are other answers to the same question. */
function firstChoice(choices: unknown): Choice | undefined {
  if (!Array.isArray(choices)) return undefined;
  for (const choice of choices) {
    if (typeof choice === 'object' && choice !== null && Number(choice.index ?? 0) === 0) return choice;
  }
  return undefined;
}

/** Some servers have an empty list in every chunk. */
function hasCalls({ tool_calls: calls, function_call: legacy }: JsonObject): boolean {
  return Array.isArray(calls) ? calls.length > 0 : Boolean(calls || legacy);
}

function saysNothing({ delta, message, text }: Choice): boolean {
  // True of most deltas: the quickest test first.
  if (delta?.content) return false;
  for (const name in delta) if (name !== 'role' && delta[name]) return false;
  return !message && !text;
}

/** The same text may have several names beside each other. */
function readNamedReasoning(fields: JsonObject): string {
  const { reasoning_content: content, reasoning, reasoning_text: text, thinking } = fields;
  if (isText(content)) return content;
  if (isText(reasoning)) return reasoning;
  if (isText(text)) return text;
  if (isText(thinking)) return thinking;
  const held = content ?? reasoning;
  // Some servers say only whether there is reasoning.
  return typeof held === 'boolean' ? '' : readText(held);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Some servers have reasoning as a part of the content: a text, or parts in turn. */
function readReasoningParts(content: unknown): string {
  if (!Array.isArray(content)) return '';
  return content.map((part) => (isFields(part) ? readReasoningPart(part) : '')).join('');
}

function readReasoningPart({ type, thinking, text, summary }: JsonObject): string {
  if (type === 'thinking') return readText(thinking);
  return type === 'reasoning' ? readText(text ?? summary) : '';
}

/** Content is text, from some servers a number, or a list of parts of which only some are text. */
function readText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (typeof content === 'number' || typeof content === 'boolean') return String(content);
  if (Array.isArray(content)) return content.map(readText).join('');
  if (typeof content !== 'object' || content === null) return '';
  const { type = 'text', text } = content as JsonObject;
  return TEXT_TYPES.has(type) && typeof text === 'string' ? text : '';
}

const TEXT_TYPES = new Set<unknown>(['text', 'output_text', 'summary_text']);
