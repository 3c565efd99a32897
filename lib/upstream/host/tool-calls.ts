// Puts the tool calls of an answer in order: pieces may arrive interleaved, parts are written call by call.
import { randomBytes } from 'node:crypto';
import type { ToolPiece } from '../contract/answer.ts';

/** Where calls are written, one after the other. */
export interface ToolSink {
  open(call: { readonly id: string; readonly name: string; readonly state?: string }): void;
  write(json: string): void;
  close(): void;
}

interface Call {
  readonly block: unknown;
  id: string;
  name: string;
  state: string;
  /** Arguments that wait for their turn, or for the name. */
  waiting: string;
  isOpen: boolean;
  isDone: boolean;
  readonly scan: JsonScan;
}

export class ToolCalls {
  readonly #sink: ToolSink;
  /** Calls not fully written yet; the first is being written. */
  #calls: Call[] = [];
  /** The call of the last piece: most pieces belong to it. */
  #last: Call | undefined;
  readonly #ended = new Set<unknown>();

  constructor(sink: ToolSink) {
    this.#sink = sink;
  }

  /** True until a call is known to be complete. */
  get isBusy(): boolean {
    return this.#calls.some(({ isDone, scan }) => !isDone && !scan.isComplete);
  }

  take(piece: ToolPiece): void {
    const { block, json } = piece;
    const call = this.#last?.block === block ? this.#last : this.#find(block);
    if (!call) return;
    this.#last = call;
    if (call.name === '' || piece.state !== undefined) nameCall(call, piece);
    if (json !== undefined && json !== null) this.#add(call, typeof json === 'string' ? json : JSON.stringify(json));
    if (piece.done) call.isDone = true;
    this.#advance();
  }

  /** No more pieces follow. A call without a name is dropped. */
  end(): void {
    for (const call of this.#calls) call.isDone = true;
    this.#advance();
  }

  #find(block: unknown): Call | undefined {
    const known = this.#calls.find((call) => call.block === block);
    if (known || this.#ended.has(block)) return known;
    const call: Call = {
      block,
      id: '',
      name: '',
      state: '',
      waiting: '',
      isOpen: false,
      isDone: false,
      scan: new JsonScan(),
    };
    this.#calls.push(call);
    return call;
  }

  #add(call: Call, json: string): void {
    call.scan.read(json);
    if (call.isOpen) this.#sink.write(json);
    else call.waiting += json;
  }

  /** A call ends when it is done, or when it is complete and another one has started. */
  #advance(): void {
    for (let [call, next] = this.#calls; call; [call, next] = this.#calls) {
      if (!call.isOpen && call.name !== '') this.#open(call);
      if (!call.isDone && !(next && call.scan.isComplete)) return;
      if (call.isOpen) this.#sink.close();
      this.#ended.add(call.block);
      this.#calls.shift();
      if (this.#last === call) this.#last = undefined;
    }
  }

  #open(call: Call): void {
    const { id, name, state, waiting } = call;
    this.#sink.open({ id: id || newId(), name, ...(state !== '' && { state }) });
    if (waiting !== '') this.#sink.write(waiting);
    call.waiting = '';
    call.isOpen = true;
  }
}

function nameCall(call: Call, { id, name, state }: ToolPiece): void {
  if (call.id === '' && typeof id === 'string') call.id = id;
  if (call.name === '' && typeof name === 'string') call.name = name;
  if (call.state === '' && typeof state === 'string') call.state = state;
}

const ID_BYTES = 12;

function newId(): string {
  return `call_${randomBytes(ID_BYTES).toString('hex')}`;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = new Set([0x5b, 0x7b]);
const CLOSE = new Set([0x5d, 0x7d]);

/** Follows JSON in pieces just far enough to know when a container is closed; keeps only counters. */
class JsonScan {
  isComplete = false;
  #depth = 0;
  #isText = false;
  #isEscaped = false;

  read(json: string): void {
    for (let at = 0; at < json.length; at += 1) this.#step(json.charCodeAt(at));
  }

  #step(code: number): void {
    if (this.#isText) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (code === BACKSLASH) this.#isEscaped = true;
      else if (code === QUOTE) this.#isText = false;
    } else if (code === QUOTE) this.#isText = true;
    else if (OPEN.has(code)) this.#depth += 1;
    else if (CLOSE.has(code)) {
      this.#depth -= 1;
      this.isComplete ||= this.#depth === 0;
    }
  }
}
