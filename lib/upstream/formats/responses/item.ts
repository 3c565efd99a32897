// One item of a responses answer: what its events find it by, and its content, read in the way of its type.
import type { AnswerWriter, JsonObject } from '../../contract/provider.ts';
import { CustomCallContent, FunctionCallContent } from './call-content.ts';
import { type AnswerTexts, MessageContent } from './message-content.ts';
import { ReasoningContent } from './reasoning-content.ts';

const COMPACTIONS: ReadonlySet<unknown> = new Set(['compaction', 'compaction_summary', 'context_compaction']);

/** Whether items of this type are what the vendor made of earlier turns. They come back like reasoning. */
export function isCompaction(type: unknown): boolean {
  return COMPACTIONS.has(type);
}

/** The contents that have events of their own, by the type of their item. */
export interface ContentTypes {
  readonly message: MessageContent;
  readonly reasoning: ReasoningContent;
  readonly function_call: FunctionCallContent;
  readonly custom_tool_call: CustomCallContent;
}

interface ItemContent {
  begin(item: JsonObject, out: AnswerWriter): void;
  /** Writes what is missing of the whole item. */
  complete(item: JsonObject, out: AnswerWriter): void;
}

export class Item {
  readonly type: string;
  readonly id: unknown;
  readonly content: ItemContent;
  /** Of a call, once they are known. */
  callId: unknown;
  name: unknown;
  isBegun = false;
  isDone = false;

  constructor(type: string, id: unknown, texts: AnswerTexts) {
    this.type = type;
    this.id = id;
    this.content = createContent(type, id, texts);
  }

  begin(item: JsonObject, out: AnswerWriter): void {
    this.isBegun = true;
    this.#noteCall(item);
    this.content.begin(item, out);
  }

  complete(item: JsonObject, out: AnswerWriter): void {
    this.isBegun = true;
    this.isDone = true;
    this.#noteCall(item);
    this.content.complete(item, out);
  }

  #noteCall({ call_id: id, name }: JsonObject): void {
    if (this.type !== 'function_call' && this.type !== 'custom_tool_call') return;
    this.callId ??= id;
    this.name ??= name;
  }
}

function createContent(type: string, id: unknown, texts: AnswerTexts): ItemContent {
  switch (type) {
    case 'message':
      return new MessageContent(texts);
    case 'reasoning':
      return new ReasoningContent();
    case 'function_call':
      return new FunctionCallContent(id);
    case 'custom_tool_call':
      return new CustomCallContent(id);
    case 'image_generation_call':
      return new ImageContent();
    default:
      return HIDDEN;
  }
}

/** Previews of the image come before it, and are not shown. */
class ImageContent implements ItemContent {
  #isWritten = false;

  begin(_item: JsonObject, out: AnswerWriter): void {
    out.alive();
  }

  complete({ result, output_format: format }: JsonObject, out: AnswerWriter): void {
    if (typeof result !== 'string' || result === '') out.alive();
    else if (!this.#isWritten) {
      this.#isWritten = true;
      out.image({ mediaType: typeof format === 'string' ? `image/${format}` : undefined, base64: result });
    }
  }
}

/** Work of the server's own tools, and whatever else there may be. */
const HIDDEN: ItemContent = {
  begin: (_item, out) => out.alive(),
  complete: (_item, out) => out.alive(),
};
