// Tool calls in a chat-completions reply: the pieces of a stream, or whole ones.
import type { AnswerWriter, JsonObject } from '../../contract/provider.ts';
import { isFields } from '../../host/fields.ts';

interface Call {
  /** Empty until one arrives. */
  id: string;
}

/** Reads the calls of one reply. */
export class Calls {
  readonly #byIndex = new Map<unknown, Call>();
  readonly #byId = new Map<string, Call>();
  #last: Call | undefined;

  take({ tool_calls: calls, function_call: legacy }: JsonObject, out: AnswerWriter): void {
    if (Array.isArray(calls)) for (const call of calls) if (isFields(call)) this.#takeCall(call, out);
    if (!Array.isArray(calls) && isFields(legacy)) {
      out.tool({ block: LEGACY, name: legacy.name, json: legacy.arguments });
    }
  }

  #takeCall(piece: JsonObject, out: AnswerWriter): void {
    const { name, arguments: json } = isFields(piece.function) ? piece.function : piece;
    const id = typeof piece.id === 'string' ? piece.id : '';
    const call = this.#find(piece.index, id, name) ?? { id };
    if (id !== '') this.#byId.set(id, call);
    call.id ||= id;
    if (piece.index !== undefined) this.#byIndex.set(piece.index, call);
    this.#last = call;
    out.tool({ block: call, id, name, json });
  }

  /** Some servers omit the index, or give every call the same one: then another id is another call. */
  #find(index: unknown, id: string, name: unknown): Call | undefined {
    if (index !== undefined) {
      const call = this.#byIndex.get(index);
      return call && (id === '' || call.id === '' || call.id === id) ? call : undefined;
    }
    if (id !== '') return this.#byId.get(id);
    return name === undefined ? this.#last : undefined;
  }
}

const LEGACY = 'function_call';
