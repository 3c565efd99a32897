// Maps the values of a chat-completions reply to parts: the chunks of a stream, or the whole reply of a server that does
// not stream although it was asked to.
import type {
  FinishReason,
  ReplyReader,
  StreamPart,
  UpstreamFault,
  UpstreamFaultKind,
} from '../../lib/plugin/contract.ts';
import { complaintOf, type Faults } from './faults.ts';
import { Frames, NotJson } from './frames.ts';
import type { Wire } from './request.ts';
import { type Tokens, usageOf } from './usage.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Choice extends Fields {
  readonly delta?: Fields | null;
  readonly message?: Fields | null;
}

/** Reads one reply, an array of lines at a time. */
export class Reply implements ReplyReader {
  /** Set once the reply turned out to have failed; the parts before it count. */
  failure: unknown;
  readonly #faults: Faults;
  readonly #cumulative: boolean;
  readonly #frames = new Frames((value, event) => this.#take(value, event));
  #parts: StreamPart[] = [];
  #id: string | undefined;
  #model: string | undefined;
  #state: 'empty' | 'open' | 'finished' = 'empty';
  /** Characters of text so far. */
  #chars = 0;
  #hasDeltas = false;
  /** The first half of a character whose other half is in the next delta. */
  #half = '';
  #refused = false;
  /** Why the answer ends, kept back while text may follow: some servers repeat a reason on every chunk. */
  #reason: { readonly reason: FinishReason; readonly raw: string } | undefined;
  #tokens: Tokens = {};

  constructor(faults: Faults, deltas: Wire['deltas']) {
    this.#faults = faults;
    this.#cumulative = deltas === 'cumulative';
  }

  /** True when nothing that follows counts. */
  get done(): boolean {
    return this.#frames.done;
  }

  push(lines: readonly string[]): readonly StreamPart[] {
    return this.#collect(() => {
      this.#frames.push(lines);
      if (this.#frames.done) this.#end();
    });
  }

  /** The reply ended by itself. */
  end(): readonly StreamPart[] {
    return this.#collect(() => {
      this.#frames.end();
      this.#end();
    });
  }

  /** The connection broke: harmless when the answer had a reason to end. */
  break(error: unknown): readonly StreamPart[] {
    return this.#collect(() => {
      throw error;
    });
  }

  refuse(status: number, text: string): UpstreamFault {
    return this.#faults.ofReply(status, text);
  }

  #collect(read: () => void): readonly StreamPart[] {
    try {
      read();
    } catch (error) {
      if (this.#reason) this.#finish();
      else
        this.failure = error instanceof NotJson ? this.#faults.ofKind('protocol', `not JSON: ${error.message}`) : error;
      this.#frames.done = true;
    }
    const parts = this.#parts;
    this.#parts = [];
    return parts;
  }

  /** After text the end mark is a reason of its own; a connection that merely closes is not. */
  #end(): void {
    if (!this.#reason && this.#frames.done && this.#state === 'open') this.#reason = { reason: 'stop', raw: '[DONE]' };
    if (this.#reason) this.#finish();
  }

  #take(value: unknown, event: string): void {
    if (event === 'error') throw this.#faults.ofComplaint(complaintOf(value, true) ?? NO_MESSAGE);
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) for (const item of value) this.#take(item, event);
    else this.#takeChunk(value as Fields);
  }

  #takeChunk(chunk: Fields): void {
    const choice = firstChoice(chunk.choices);
    if (this.#state === 'finished') {
      this.#report(usageOf(chunk, choice, true));
      return;
    }
    if (choice === undefined || chunk.error || chunk.base_resp) {
      const complaint = complaintOf(chunk);
      if (complaint) throw this.#faults.ofComplaint(complaint);
    }
    if (this.#state === 'empty') this.#note(chunk);
    const charsBefore = this.#chars;
    if (choice) this.#takeText(choice);
    const raw = reasonOf(chunk, choice);
    const tokens = usageOf(chunk, choice, raw !== undefined || choice === undefined);
    this.#report(tokens);
    if (raw !== undefined && choice) this.#takeReason(raw, choice);
    if (!this.#reason) return;
    const quietEnd = raw !== undefined && this.#state === 'open' && this.#chars === charsBefore;
    if (quietEnd || (choice === undefined && tokens)) this.#finish();
  }

  #note({ id, model }: Fields): void {
    if (typeof id === 'string' && id !== '') this.#id ??= id;
    if (typeof model === 'string' && model !== '') this.#model ??= model;
  }

  #takeText(choice: Choice): void {
    const { delta, message } = choice;
    if (delta) {
      const content = delta.content;
      if (content !== undefined && content !== null && content !== '') this.#takeDelta(textOf(content));
      if (delta.refusal) this.#takeRefusal(textOf(delta.refusal));
    }
    if (choice.text !== undefined && choice.text !== null) this.#takeDelta(textOf(choice.text));
    // Beside deltas a message repeats the text so far.
    if (message && !this.#hasDeltas) {
      this.#append(textOf(message.content));
      if (message.refusal) this.#takeRefusal(textOf(message.refusal));
    }
  }

  #takeDelta(text: string): void {
    const fresh = this.#cumulative ? text.slice(this.#chars) : text;
    if (fresh !== '') this.#hasDeltas = true;
    this.#append(fresh);
  }

  /** A refusal is what the reader gets for an answer, so it is text; why it ended is said by the reason. */
  #takeRefusal(text: string): void {
    this.#refused = true;
    this.#append(text);
  }

  #takeReason(raw: string, choice: Choice): void {
    const [word = ''] = raw.toLowerCase().split(':', 1);
    const failed = FAILURES.get(word);
    if (failed) {
      const complaint = choice.error ? complaintOf({ error: choice.error }) : undefined;
      throw complaint ? this.#faults.ofComplaint(complaint) : this.#faults.ofKind(failed, `finish reason ${raw}`);
    }
    this.#reason = { reason: REASONS.get(word) ?? 'other', raw };
  }

  #append(text: string): void {
    if (text === '') return;
    this.#chars += text.length;
    let whole = this.#half === '' ? text : this.#joinHalf(text);
    const last = whole.charCodeAt(whole.length - 1);
    if (last >= FIRST_HALF && last < SECOND_HALF) {
      this.#half = whole.slice(-1);
      whole = whole.slice(0, -1);
      if (whole === '') return;
    }
    if (this.#state === 'empty') this.#open();
    this.#parts.push({ type: 'block-delta', index: 0, text: whole });
  }

  #joinHalf(text: string): string {
    const next = text.charCodeAt(0);
    const half = next >= SECOND_HALF && next < SECOND_HALF + 0x400 ? this.#half : REPLACEMENT;
    this.#half = '';
    return half + text;
  }

  #start(): void {
    const id = this.#id !== undefined && { id: this.#id };
    this.#parts.push({ type: 'start', ...id, ...(this.#model !== undefined && { model: this.#model }) });
  }

  #open(): void {
    this.#start();
    this.#parts.push({ type: 'block-start', index: 0, block: { type: 'text' } });
    this.#state = 'open';
  }

  #report(tokens: Tokens | undefined): void {
    if (!tokens) return;
    const { input = this.#tokens.input, output = this.#tokens.output } = tokens;
    if (input === this.#tokens.input && output === this.#tokens.output) return;
    this.#tokens = { ...this.#tokens, ...tokens };
    this.#parts.push({ type: 'usage', ...tokens });
  }

  #finish(): void {
    if (!this.#reason || this.#state === 'finished') return;
    const isCut = this.#half !== '';
    this.#half = '';
    if (isCut) this.#append(REPLACEMENT);
    if (this.#state === 'empty') this.#start();
    else this.#parts.push({ type: 'block-end', index: 0 });
    const { reason, raw } = this.#reason;
    this.#parts.push({ type: 'finish', ...(this.#refused ? { reason: 'filter', raw: 'refusal' } : { reason, raw }) });
    this.#state = 'finished';
  }
}

const FIRST_HALF = 0xd800;
const SECOND_HALF = 0xdc00;
const REPLACEMENT = '\uFFFD';
const NO_MESSAGE = { message: 'an error without a message', words: [] };

/** What vendors call the reasons to end, in lower case; what is not here is `other`. */
const REASONS = new Map<string, FinishReason>([
  ...named('stop', 'stop eos eos_token end end_turn stop_sequence stop_token complete completed finished done'),
  ...named('length', 'length max_tokens max_output_tokens max_completion_tokens max_length model_length token_limit'),
  ...named('length', 'model_context_window_exceeded context_length_exceeded'),
  ...named('filter', 'content_filter content_filtered content_policy sensitive safety refusal recitation blocklist'),
  ...named('filter', 'prohibited_content spii image_safety guardrail_intervened guardrails'),
  ...named('tool', 'tool_calls tool_call tool_use function_call'),
]);

function named(reason: FinishReason, words: string): [string, FinishReason][] {
  return words.split(' ').map((word) => [word, reason]);
}

/** Reasons to end that are failures: the text is not the whole answer. */
const FAILURES = new Map<string, UpstreamFaultKind>([
  ['error', 'server'],
  ['network_error', 'server'],
  ['server_error', 'server'],
  ['internal_error', 'server'],
  ['failed', 'server'],
  ['abort', 'server'],
  ['aborted', 'server'],
  ['cancelled', 'server'],
  ['canceled', 'server'],
  ['timeout', 'timeout'],
  ['insufficient_system_resource', 'overloaded'],
]);

/** What stands for no reason yet. */
const NO_REASONS = new Set(['', 'null', 'none', 'finish_reason_unspecified']);

function reasonOf(chunk: Fields, choice: Choice | undefined): string | undefined {
  if (!choice) return undefined;
  const reason = choice.finish_reason;
  if (typeof reason === 'string' && !NO_REASONS.has(reason.toLowerCase())) return reason;
  // A reply that came as one whole ends with itself.
  return chunk.object === 'chat.completion' && choice.message ? 'stop' : undefined;
}

/** Further choices are other answers to the same question. */
function firstChoice(choices: unknown): Choice | undefined {
  if (!Array.isArray(choices)) return undefined;
  for (const choice of choices) {
    if (typeof choice === 'object' && choice !== null && Number(choice.index ?? 0) === 0) return choice;
  }
  return undefined;
}

/** Content is text, a number (Workers AI), or a list of parts of which only text is one (Magistral). */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (typeof content === 'number' || typeof content === 'boolean') return String(content);
  if (Array.isArray(content)) return content.map(textOf).join('');
  if (typeof content !== 'object' || content === null) return '';
  const { type = 'text', text } = content as Fields;
  return (type === 'text' || type === 'output_text') && typeof text === 'string' ? text : '';
}
