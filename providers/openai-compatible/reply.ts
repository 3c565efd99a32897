// Maps the values of a chat-completions reply to parts: the chunks of a stream, or the whole reply of a server that does
// not stream although it was asked to.
import type {
  AnswerReader,
  AnswerWriter,
  FinishReason,
  HostFault,
  UpstreamFaultKind,
} from '../../lib/plugin/contract.ts';
import { Calls } from './calls.ts';
import type { Wire } from './request.ts';
import { usageOf } from './usage.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Choice extends Fields {
  readonly delta?: Fields | null;
  readonly message?: Fields | null;
}

/** Reads one reply. */
export class Reply implements AnswerReader {
  readonly #fault: HostFault;
  readonly #isCumulative: boolean;
  /** Characters of text so far. */
  #chars = 0;
  #hasDeltas = false;
  #hasReason = false;
  #isRefused = false;
  readonly #calls = new Calls();

  constructor(fault: HostFault, deltas: Wire['deltas']) {
    this.#fault = fault;
    this.#isCumulative = deltas === 'cumulative';
  }

  take(chunk: Fields, out: AnswerWriter): void {
    const choice = firstChoice(chunk.choices);
    if (choice === undefined || chunk.error || chunk.base_resp) {
      const complaint = this.#fault.ofComplaint(chunk);
      if (complaint) throw complaint;
    }
    out.start(chunk);
    if (choice) this.#takeText(choice, out);
    const raw = reasonOf(chunk, choice);
    this.#hasReason ||= raw !== undefined;
    const tokens = usageOf(chunk, choice, this.#hasReason || choice === undefined);
    if (tokens) out.usage(tokens);
    if (raw !== undefined && choice) this.#takeReason(raw, choice, out);
  }

  /** After a refusal the end mark alone does not say why it ended. */
  end(out: AnswerWriter, marked: boolean): void {
    if (marked && this.#isRefused) out.finish('filter', 'refusal');
  }

  #takeText(choice: Choice, out: AnswerWriter): void {
    const { delta, message } = choice;
    if (delta) {
      const content = delta.content;
      if (content !== undefined && content !== null && content !== '') this.#takeDelta(textOf(content), out);
      if (delta.refusal) this.#takeRefusal(textOf(delta.refusal), out);
      if (delta.tool_calls || delta.function_call) this.#calls.take(delta, out);
    }
    if (choice.text !== undefined && choice.text !== null) this.#takeDelta(textOf(choice.text), out);
    // Beside deltas a message repeats the text so far.
    if (message && !this.#hasDeltas) {
      this.#append(textOf(message.content), out);
      if (message.refusal) this.#takeRefusal(textOf(message.refusal), out);
      if (message.tool_calls || message.function_call) this.#calls.take(message, out);
    }
  }

  #takeDelta(text: string, out: AnswerWriter): void {
    const fresh = this.#isCumulative ? text.slice(this.#chars) : text;
    if (fresh !== '') this.#hasDeltas = true;
    this.#append(fresh, out);
  }

  /** A refusal is what the reader gets for an answer, so it is text; why it ended is said by the reason. */
  #takeRefusal(text: string, out: AnswerWriter): void {
    this.#isRefused = true;
    this.#append(text, out);
  }

  #takeReason(raw: string, choice: Choice, out: AnswerWriter): void {
    const [word = ''] = raw.toLowerCase().split(':', 1);
    const failed = FAILURES.get(word);
    if (failed) {
      const complaint = choice.error ? this.#fault.ofComplaint({ error: choice.error }) : undefined;
      throw complaint ?? this.#fault.make(failed, `finish reason ${raw}`);
    }
    if (this.#isRefused) out.finish('filter', 'refusal');
    else out.finish(REASONS.get(word) ?? 'other', raw);
  }

  #append(text: string, out: AnswerWriter): void {
    this.#chars += text.length;
    out.text(text);
  }
}

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
