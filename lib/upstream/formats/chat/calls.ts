// Tool calls in a chat-completions reply: the pieces of a stream, or whole ones.
import type { AnswerWriter, ChatQuirks, JsonObject } from '../../contract/provider.ts';
import { isFields } from '../../host/fields.ts';
import { ToolArguments } from '../../host/tool-arguments.ts';
import { CHAT_FORMAT } from '../names.ts';

/** A call; the writer knows it by this object. */
interface Call {
  /** Empty until one arrives. */
  id: string;
  name: string;
  /** The name may be the first piece of one: the writer does not know it yet. */
  isHeld: boolean;
  /** Whether its pieces have an index. */
  isNumbered: boolean;
  readonly args: ToolArguments;
}

interface Piece {
  readonly index: unknown;
  readonly id: string;
  readonly name: string;
  readonly json: unknown;
  readonly extra: unknown;
}

/**
 * Reads the calls of one reply. The index says which call a piece belongs to; where servers leave it out, or give every
 * call the same one, a name that is not the last one's starts a call, and an id alone never does.
 */
export class Calls {
  readonly #byIndex = new Map<unknown, Call>();
  readonly #byId = new Map<string, Call>();
  readonly #stateAt: ChatQuirks['callState'];
  readonly #toolNames: readonly string[];
  #last: Call | undefined;

  constructor(stateAt?: ChatQuirks['callState'], toolNames: readonly string[] = []) {
    this.#stateAt = stateAt;
    this.#toolNames = toolNames;
  }

  /** Nothing more of the last call follows: a name that was held back is what it is. */
  flush(out: AnswerWriter): void {
    const held = this.#last;
    if (!held?.isHeld) return;
    held.isHeld = false;
    out.tool({ block: held, name: held.name });
  }

  take(fields: JsonObject, out: AnswerWriter): void {
    const { tool_calls: calls, function_call: legacy } = fields;
    // Some servers stream each piece by itself.
    if (isFields(calls)) this.#takeList([calls].flat(), out);
    else if (isFields(legacy)) {
      const { name, arguments: json } = legacy;
      const state = this.#stateAt && { format: this.#stateAt.format, value: fields[this.#stateAt.field] };
      out.tool({ block: LEGACY, name, json, state });
    }
  }

  /** No server repeats a call within one list. */
  #takeList(list: readonly unknown[], out: AnswerWriter): void {
    const seen = new Set<Call>();
    for (const fields of list) {
      if (!isFields(fields)) continue;
      const given = readPiece(fields);
      const piece = { ...given, name: this.#joinName(given) };
      const found = this.#find(piece);
      const isAnother = found === undefined || startsAnother(found, piece) || (seen.has(found) && piece.name !== '');
      const call = isAnother
        ? { id: '', name: '', isHeld: false, isNumbered: false, args: new ToolArguments() }
        : found;
      seen.add(call);
      if (call !== this.#last) this.flush(out);
      this.#takePiece(call, piece, out);
    }
  }

  #takePiece(call: Call, { index, id, name, json, extra }: Piece, out: AnswerWriter): void {
    call.id ||= id;
    call.name ||= name;
    if (json !== undefined && json !== null) call.args.take(typeof json === 'string' ? json : JSON.stringify(json));
    if (id !== '') this.#byId.set(id, call);
    if (index !== undefined) {
      call.isNumbered = true;
      this.#byIndex.set(index, call);
    }
    this.#last = call;
    const state = isFields(extra)
      ? { format: CHAT_FORMAT, value: JSON.stringify({ extra_content: extra }) }
      : undefined;
    call.isHeld = (name !== '' || call.isHeld) && !json && this.#isBeginning(call.name);
    out.tool({ block: call, id, name: call.isHeld ? '' : call.name, json, state });
  }

  /** The name so far, if a piece continues it or says it again longer; it then is the call's. */
  #joinName({ index, name }: Piece): string {
    const last = this.#last;
    if (name === '' || !last?.isHeld) return name;
    if (index !== undefined && this.#byIndex.get(index) !== last) return name;
    const joined = name.startsWith(last.name) ? name : last.name + name;
    if (!this.#toolNames.some((known) => known.startsWith(joined))) return name;
    last.name = joined;
    return joined;
  }

  #isBeginning(name: string): boolean {
    const { length } = this.#toolNames;
    return length > 0 && !this.#toolNames.includes(name) && this.#toolNames.some((known) => known.startsWith(name));
  }

  #find({ index, id, name }: Piece): Call | undefined {
    const numbered = index !== undefined ? this.#byIndex.get(index) : undefined;
    if (numbered) return numbered;
    const last = this.#last;
    if (index === undefined) return this.#byId.get(id) ?? (name === '' || last?.name === name ? last : undefined);
    // Pieces that get their index late.
    return last?.isNumbered || name !== '' ? undefined : (this.#byId.get(id) ?? last);
  }
}

/** Another tool, or the same one again under another id once the call may be whole. */
function startsAnother(call: Call, { index, id, name }: Piece): boolean {
  if (name === '' || call.name === '') return false;
  if (name !== call.name) return true;
  if (id !== '' && call.id !== '') return id !== call.id && (call.args.isComplete || call.args.isPlaceholder);
  return call.args.isComplete && index === undefined && id === call.id;
}

/** Servers write what is missing as an empty text, or as the word for it. */
const NOTHING = new Set<unknown>(['', 'null', 'None', 'undefined']);

function readPiece(fields: JsonObject): Piece {
  const { name, arguments: json } = isFields(fields.function) ? fields.function : fields;
  return {
    index: readIndex(fields.index),
    id: typeof fields.id === 'string' && !NOTHING.has(fields.id) ? fields.id : '',
    name: typeof name === 'string' ? name : '',
    json,
    extra: fields.extra_content,
  };
}

/** Some pieces have it as a text, others of the same call as a number. */
function readIndex(index: unknown): unknown {
  return typeof index === 'string' && /^\d+$/.test(index) ? Number(index) : (index ?? undefined);
}

const LEGACY = 'function_call';
