// The content of a call in a responses answer: its arguments arrive in pieces, or with the item.
import type { AnswerWriter, JsonObject } from '../../contract/provider.ts';
import { CUSTOM_INPUT } from '../tools.ts';
import { WrittenText } from './written-text.ts';

export class FunctionCallContent {
  /** Of the item; some servers have no id of the call. */
  readonly #itemId: unknown;

  constructor(itemId: unknown) {
    this.#itemId = itemId;
  }

  begin({ call_id: id, name, arguments: json }: JsonObject, out: AnswerWriter): void {
    out.tool({ block: this, id: id ?? this.#itemId, name, json, isWhole: true });
  }

  complete(item: JsonObject, out: AnswerWriter): void {
    this.begin(item, out);
  }

  takeArguments({ delta, arguments: whole, name }: JsonObject, out: AnswerWriter): void {
    if (whole === undefined) out.tool({ block: this, name, json: delta });
    else out.tool({ block: this, name, json: whole, isWhole: true });
  }
}

/** The input of a custom tool becomes the only argument of the function that stands for it. */
export class CustomCallContent {
  readonly #itemId: unknown;
  /** Undefined before the input begins. */
  #input: WrittenText | undefined;

  constructor(itemId: unknown) {
    this.#itemId = itemId;
  }

  begin({ call_id: id, name }: JsonObject, out: AnswerWriter): void {
    out.tool({ block: this, id: id ?? this.#itemId, name });
  }

  complete(item: JsonObject, out: AnswerWriter): void {
    this.begin(item, out);
    this.takeInput({ input: item.input }, out);
    out.tool({ block: this, json: '"}' });
  }

  takeInput({ delta, input: whole }: JsonObject, out: AnswerWriter): void {
    const opening = this.#input ? '' : `{"${CUSTOM_INPUT}":"`;
    this.#input ??= new WrittenText();
    const text = typeof delta === 'string' ? delta : this.#input.findMissing(`${whole ?? ''}`);
    this.#input.add(text);
    out.tool({ block: this, json: opening + JSON.stringify(text).slice(1, -1) });
  }
}
