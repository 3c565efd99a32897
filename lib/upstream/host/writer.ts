// Writes the parts of one answer in their grammar, whatever order and pieces an upstream sends them in.
import { randomBytes } from 'node:crypto';
import { PROMPT_KINDS, TOKEN_COUNTS } from '../../money/price.ts';
import type {
  Block,
  BlockState,
  Citation,
  FinishReason,
  ProviderPart,
  TextBlock,
  UsageCounts,
} from '../../stream/provider-part.ts';
import type { AnswerWriter, ToolPiece } from '../contract/answer.ts';
import { PLUGIN_FORMAT } from '../formats/names.ts';
import { readCount } from './token-counts.ts';
import { ToolArguments } from './tool-arguments.ts';

interface OpenBlock {
  /** The reader's. */
  readonly name: unknown;
  readonly type: Block['type'];
  readonly index: number;
  /** The first half of a character whose other half is in the next fragment. */
  half: string;
}

/** A tool call, from its first piece on. */
interface Call {
  id: string;
  name: string;
  state: BlockState | undefined;
  readonly args: ToolArguments;
  /** Arguments that wait for the name. */
  waiting: string;
  open: OpenBlock | undefined;
}

type Counts = { -readonly [Name in keyof UsageCounts]: UsageCounts[Name] };

/** The names of blocks that the reader does not name. */
const TEXT = Symbol('text');
const REASONING = Symbol('reasoning');
const REFUSAL = Symbol('refusal');

export class Writer implements AnswerWriter {
  /** True after the end mark. */
  isDone = false;
  /** Where parts are written. */
  #parts: ProviderPart[] = [];
  #id: string | undefined;
  #model: string | undefined;
  #isStarted = false;
  #index = 0;
  /** Text and reasoning that are open; mostly one. */
  #blocks: OpenBlock[] = [];
  /** The block written last: most fragments belong to it. */
  #last: OpenBlock | undefined;
  /** The block that was opened last. */
  #lastBlock: Block | undefined;
  /** Calls that are not complete, by the reader's names. */
  #calls: Map<unknown, Call> | undefined;
  /** Those of them that are whole, and may still be repeated; mostly one. */
  #wholeCalls: Map<unknown, Call> | undefined;
  /** Names of calls that have ended: late pieces of them are dropped. */
  #endedCalls: Set<unknown> | undefined;
  #ids: Set<string> | undefined;
  readonly #counts: Counts = {};
  #hasFinish = false;
  /** Content followed a finish, so this upstream's reasons say nothing about the end. */
  #isFollowed = false;

  into(parts: ProviderPart[]): void {
    this.#parts = parts;
  }

  /** True once there is a reason to end that can be believed. */
  get finished(): boolean {
    return this.#hasFinish && !this.#isFollowed;
  }

  start({ id, model }: { readonly id?: unknown; readonly model?: unknown }): void {
    if (typeof id === 'string' && id !== '') this.#id ??= id;
    if (typeof model === 'string' && model !== '') this.#model ??= model;
  }

  text(text: string, name: unknown = TEXT, kind?: TextKind): void {
    if (text === '' && !kind?.cited) return;
    const last = this.#last;
    const isOpen = last !== undefined && last.name === name && last.type === 'text';
    this.#write(isOpen ? last : this.#enter(describeText(kind), name), text);
  }

  cite(citation: Citation, name: unknown = TEXT): void {
    const texts = this.#blocks.filter(({ type }) => type === 'text');
    const block = texts.find((open) => open.name === name) ?? texts.at(-1) ?? this.#resumeText(name);
    if (block) this.#parts.push({ type: 'block-citation', index: block.index, citation });
  }

  /** What comes late belongs to the last text, if nothing else has come since: the guard joins the two. */
  #resumeText(name: unknown): OpenBlock | undefined {
    const last = this.#lastBlock;
    return last?.type === 'text' ? this.#enter(describeText({ phase: last.phase }), name) : undefined;
  }

  refusal(text: string, name: unknown = REFUSAL): void {
    if (text !== '') this.#write(this.#enter(REFUSAL_BLOCK, name), text);
  }

  reasoning(text: string, name: unknown = REASONING, { redacted = false }: { readonly redacted?: boolean } = {}): void {
    const block = this.#enter(redacted ? REDACTED_BLOCK : REASONING_BLOCK, name);
    if (text !== '') this.#write(block, text);
  }

  state(state: BlockState, name: unknown = REASONING): void {
    const { index } = this.#enter(REASONING_BLOCK, name);
    this.#parts.push({ type: 'block-state', index, state });
  }

  /** The open block of this name, or a new one; texts and reasoning before it end, and so do calls that are whole. */
  #enter(fresh: Block, name: unknown): OpenBlock {
    const open = this.#blocks.find((block) => block.name === name && block.type === fresh.type);
    if (open) {
      this.#last = open;
      return open;
    }
    this.#endTexts();
    this.#endWholeCalls();
    const block = this.#open(fresh, name);
    // Exactly as long as it is: pushing or spreading takes 128 bytes more of every open stream.
    this.#blocks = this.#blocks.concat(block);
    return block;
  }

  tool(piece: ToolPiece): void {
    const call = this.#findCall(piece.block);
    if (!call) return;
    if (!call.open) nameCall(call, piece);
    const state = readState(piece.state);
    if (state && !call.open) call.state = state;
    this.#takeArguments(call, piece);
    if (!call.open && call.name !== '') this.#openCall(call, piece.block);
    // Before the last block, a whole call is over; the last one may still be repeated.
    const isBeforeLast = call.open !== undefined && call.open.index < this.#index - 1;
    if (piece.done || (isBeforeLast && call.args.isComplete)) this.#endCall(call, piece.block);
    else if (call.open && call.args.isComplete) {
      this.#wholeCalls ??= new Map();
      this.#wholeCalls.set(piece.block, call);
    }
  }

  #findCall(name: unknown): Call | undefined {
    const known = this.#calls?.get(name);
    if (known || this.#endedCalls?.has(name)) return known;
    this.#endTexts();
    this.#endWholeCalls();
    const call: Call = { id: '', name: '', state: undefined, args: new ToolArguments(), waiting: '', open: undefined };
    this.#calls ??= new Map();
    this.#calls.set(name, call);
    return call;
  }

  #takeArguments(call: Call, { json, isWhole = false }: ToolPiece): void {
    if (json === undefined || json === null) return;
    const isText = typeof json === 'string';
    const text = isText ? json : JSON.stringify(json);
    const fresh = isWhole || !isText ? call.args.takeWhole(text) : call.args.take(text);
    if (fresh === '') return;
    if (call.open) this.#write(call.open, fresh);
    else call.waiting += fresh;
  }

  #openCall(call: Call, name: unknown): void {
    this.#ids ??= new Set();
    const id = call.id === '' || this.#ids.has(call.id) ? createCallId() : call.id;
    this.#ids.add(id);
    call.open = this.#open({ type: 'tool', id, name: call.name }, name);
    if (call.state) this.#parts.push({ type: 'block-state', index: call.open.index, state: call.state });
    if (call.waiting !== '') this.#write(call.open, call.waiting);
    call.waiting = '';
  }

  /** A call without a name is dropped. */
  #endCall(call: Call, name: unknown): void {
    this.#calls?.delete(name);
    this.#wholeCalls?.delete(name);
    this.#endedCalls ??= new Set();
    this.#endedCalls.add(name);
    if (!call.open) return;
    const rest = call.args.end();
    if (rest !== '') this.#write(call.open, rest);
    this.#close(call.open);
  }

  #endWholeCalls(): void {
    if (!this.#wholeCalls) return;
    for (const [name, call] of this.#wholeCalls) this.#endCall(call, name);
  }

  image({ mediaType, base64 }: { readonly mediaType?: unknown; readonly base64: string }): void {
    this.#start();
    this.#endTexts();
    this.#endWholeCalls();
    if (this.#hasFinish) this.#isFollowed = true;
    // Its place among the blocks, though it is none: calls before it are not the last any more.
    this.#index += 1;
    this.#lastBlock = undefined;
    this.#parts.push({ type: 'image', ...(typeof mediaType === 'string' && { mediaType }), base64 });
  }

  end(name: unknown): void {
    const block = this.#blocks.find((open) => open.name === name);
    if (block) {
      this.#blocks = this.#blocks.filter((open) => open !== block);
      this.#close(block);
    }
    const call = this.#calls?.get(name);
    if (call) this.#endCall(call, name);
  }

  usage(counts: { readonly [Name in keyof UsageCounts]?: unknown }): void {
    const told: Counts = {};
    for (const name of TOKEN_COUNTS) {
      const count = readCount(counts[name]);
      if (count !== undefined) told[name] = count;
    }
    // No prompt is empty: such zeros are what servers report before they count, or instead of it.
    const prompt = PROMPT_KINDS.map((name) => told[name] ?? this.#counts[name] ?? 0);
    if (told.input === 0 && prompt.every((count) => count === 0)) {
      if (!told.output) return;
      for (const name of PROMPT_KINDS) delete told[name];
    }
    const changed = TOKEN_COUNTS.filter((name) => told[name] !== undefined && told[name] !== this.#counts[name]);
    if (changed.length === 0) return;
    Object.assign(this.#counts, told);
    this.#parts.push({ type: 'usage', ...Object.fromEntries(changed.map((name) => [name, told[name]])) });
  }

  alive(): void {
    this.#parts.push({ type: 'alive' });
  }

  finish(reason: FinishReason, raw: string, sequence?: unknown): void {
    this.#start();
    this.#endWholeTexts();
    this.#endWholeCalls();
    this.#hasFinish = true;
    this.#parts.push({ type: 'finish', reason, raw, ...(typeof sequence === 'string' && { sequence }) });
  }

  done(mark: string): void {
    if (!this.#hasFinish && this.#index > 0) this.finish('stop', mark);
    this.close();
    this.isDone = true;
  }

  /** Nothing follows: what is open ends, if the answer has a reason to end. */
  close(): void {
    if (!this.#hasFinish) return;
    this.#endTexts();
    for (const [name, call] of this.#calls ?? []) this.#endCall(call, name);
  }

  #endTexts(): void {
    if (this.#blocks.length === 0) return;
    for (const block of this.#blocks) this.#close(block);
    this.#blocks = [];
  }

  /** Some servers have a reason to end with every fragment: the other half of a character may be in the next one. */
  #endWholeTexts(): void {
    for (const block of this.#blocks) if (block.half === '') this.#close(block);
    if (this.#blocks.length > 0) this.#blocks = this.#blocks.filter(({ half }) => half !== '');
  }

  /** Into an open block. */
  #write(block: OpenBlock, text: string): void {
    const isHalved = block.half !== '' || isLowSurrogate(text.charCodeAt(0));
    let whole = isHalved ? joinHalf(block, text) : text;
    const last = whole.charCodeAt(whole.length - 1);
    if (last >= HIGH_SURROGATE && last < LOW_SURROGATE) {
      block.half = whole.slice(-1);
      whole = whole.slice(0, -1);
    }
    this.#last = block;
    if (whole === '') return;
    if (this.#hasFinish) this.#isFollowed = true;
    this.#parts.push({ type: 'block-delta', index: block.index, text: whole });
  }

  #open(block: Block, name: unknown): OpenBlock {
    this.#start();
    if (this.#hasFinish && block.type === 'tool') this.#isFollowed = true;
    const index = this.#index;
    this.#index += 1;
    this.#lastBlock = block;
    this.#parts.push({ type: 'block-start', index, block });
    this.#last = { name, type: block.type, index, half: '' };
    return this.#last;
  }

  #close({ index, half }: OpenBlock): void {
    this.#last = undefined;
    if (half !== '') this.#parts.push({ type: 'block-delta', index, text: REPLACEMENT });
    this.#parts.push({ type: 'block-end', index });
  }

  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const id = this.#id !== undefined && { id: this.#id };
    this.#parts.push({ type: 'start', ...id, ...(this.#model !== undefined && { model: this.#model }) });
  }
}

function nameCall(call: Call, { id, name }: ToolPiece): void {
  if (call.id === '' && typeof id === 'string') call.id = id;
  if (call.name === '' && typeof name === 'string') call.name = name;
}

function readState(state: unknown): BlockState | undefined {
  if (typeof state === 'string') return state === '' ? undefined : { format: PLUGIN_FORMAT, value: state };
  const { format, value } = (state ?? {}) as Partial<BlockState>;
  return typeof format === 'string' && typeof value === 'string' ? { format, value } : undefined;
}

const ID_BYTES = 12;

function createCallId(): string {
  return `call_${randomBytes(ID_BYTES).toString('hex')}`;
}

/** A half without its other half is replaced: many readers of JSON refuse it. */
function joinHalf(block: OpenBlock, text: string): string {
  const { half } = block;
  block.half = '';
  if (!isLowSurrogate(text.charCodeAt(0))) return REPLACEMENT + text;
  return half === '' ? REPLACEMENT + text.slice(1) : half + text;
}

function isLowSurrogate(code: number): boolean {
  return code >= LOW_SURROGATE && code < LOW_SURROGATE + 0x400;
}

interface TextKind {
  readonly cited?: boolean;
  readonly phase?: string | undefined;
}

function describeText({ cited, phase }: TextKind = {}): TextBlock {
  const block = cited ? CITED_BLOCK : TEXT_BLOCK;
  return phase === undefined ? block : { ...block, phase };
}

const TEXT_BLOCK: TextBlock = { type: 'text' };
const CITED_BLOCK: TextBlock = { type: 'text', cited: true };
const REFUSAL_BLOCK: Block = { type: 'text', refusal: true };
const REASONING_BLOCK: Block = { type: 'reasoning' };
const REDACTED_BLOCK: Block = { type: 'reasoning', redacted: true };

const HIGH_SURROGATE = 0xd800;
const LOW_SURROGATE = 0xdc00;
const REPLACEMENT = '\uFFFD';
