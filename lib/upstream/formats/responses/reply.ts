// Maps the events of a responses stream to parts, or a whole response. Some servers send every piece and then what they
// add up to, some only one of the two: each character counts once, whichever event brings it first.
import type { AnswerReader, AnswerWriter, Host, JsonObject } from '../../contract/provider.ts';
import { readFields } from '../../host/fields.ts';
import { OddEvents } from '../odd-events.ts';
import { Usage } from '../usage.ts';
import { type ContentTypes, Item } from './item.ts';
import type { AnswerTexts } from './message-content.ts';
import { UnmatchedItems } from './unmatched-items.ts';

type Kit = Pick<Host, 'fault' | 'finishReason'>;

/** Reads one reply. */
export class ResponsesReply implements AnswerReader {
  readonly #kit: Kit;
  readonly #usage = new Usage();
  /** In the order in which they began. */
  readonly #items: Item[] = [];
  readonly #byIndex = new Map<unknown, Item>();
  /** The last of each id. */
  readonly #byId = new Map<unknown, Item>();
  readonly #texts: AnswerTexts = { characters: 0, hasRefusal: false };
  #id: unknown;
  /** Since the last event of the format; most have none. */
  #odd: OddEvents | undefined;

  constructor(kit: Kit) {
    this.#kit = kit;
  }

  take(event: JsonObject, out: AnswerWriter): void {
    const { type } = event;
    if (type === 'error' || event.error) throw this.#kit.fault.ofComplaint(event, true);
    if (event.object === 'response') this.#end(event, 'completed', out);
    else if (typeof type === 'string' && type.startsWith(EVENT)) this.#takeEvent(type.slice(EVENT.length), event, out);
    else this.#takeOdd(event);
  }

  /** Without a last event: a mark alone does not say that the answer was whole. */
  end(_out: AnswerWriter, marked: boolean): void {
    if (marked) this.#odd?.check();
  }

  #takeOdd(event: JsonObject): void {
    this.#odd ??= new OddEvents(this.#kit);
    if (typeof event.type === 'string') this.#odd.note(event);
    else this.#odd.refuse(event);
  }

  #takeEvent(type: string, event: JsonObject, out: AnswerWriter): void {
    const [name = '', step] = type.split('.');
    this.#odd = undefined;
    switch (name) {
      case 'created':
        this.#begin(readFields(event.response), out);
        break;
      // An older version of the format ends all responses with this.
      case 'done':
        this.#end(readFields(event.response), 'completed', out);
        break;
      case 'completed':
      case 'incomplete':
      case 'failed':
      case 'cancelled':
        this.#end(readFields(event.response), name, out);
        break;
      case 'error':
        throw this.#kit.fault.ofComplaint(event, true);
      case 'output_item':
        this.#takeItem(event, step === 'done', out);
        break;
      case 'output_text':
      case 'refusal':
        if (step === 'delta') this.#find('message', event).takeText(event, name, out);
        else if (step === 'done') this.#find('message', event).completeText(event, name, out);
        else if (step === 'annotation') this.#find('message', event).annotate(event, out);
        else out.alive();
        break;
      case 'content_part':
      case 'reasoning_part':
      case 'reasoning_summary_part':
        this.#takePart(event, { name, step }, out);
        break;
      case 'function_call_arguments':
        this.#find('function_call', event).takeArguments(event, out);
        break;
      case 'custom_tool_call_input':
        this.#find('custom_tool_call', event).takeInput(event, out);
        break;
      case 'reasoning_text':
        this.#find('reasoning', event).takeText(event, 'text', out);
        break;
      case 'reasoning_summary_text':
        this.#find('reasoning', event).takeText(event, 'summary', out);
        break;
      default:
        // Work of the server's own tools; the other events only repeat the state.
        if (step !== undefined) out.alive();
    }
  }

  #takePart(event: JsonObject, { name, step }: { name: string; step: string | undefined }, out: AnswerWriter): void {
    const isOwnText = name === 'reasoning_part' || readFields(event.part).type === 'reasoning_text';
    const kind = name === 'reasoning_summary_part' ? 'summary' : isOwnText ? 'text' : undefined;
    if (kind) {
      const reasoning = this.#find('reasoning', event);
      if (step === 'done') reasoning.completePart(event, kind, out);
      else reasoning.beginPart(event, kind);
      return;
    }
    const message = this.#find('message', event);
    if (step === 'done') message.completePart(event, out);
    else message.beginPart(event);
  }

  /** A second response in the stream is nobody's answer. */
  #begin(response: JsonObject, out: AnswerWriter): void {
    if (this.#items.length > 0 && response.id !== this.#id) {
      throw this.#kit.fault.make('protocol', 'another response begins before the end of the first');
    }
    this.#id = response.id;
    out.start(response);
  }

  #takeItem(event: JsonObject, isDone: boolean, out: AnswerWriter): void {
    const item = readFields(event.item);
    const found = this.#matchItem(event, item, isDone) ?? this.#add(`${item.type}`, item.id, event.output_index);
    if (isDone) found.complete(item, out);
    else found.begin(item, out);
  }

  /** The item that begins or is done; undefined if no event has brought it yet. */
  #matchItem(event: JsonObject, item: JsonObject, isDone: boolean): Item | undefined {
    const type = `${item.type}`;
    const id = item.id ?? undefined;
    const known = this.#findKnown(event, type, id) ?? (isDone ? this.#findOpen(event, type) : undefined);
    if (!known || known.type !== item.type) return undefined;
    if (!isDone) return known.isBegun ? undefined : known;
    const isOther = known.isDone && (lacksIndexAndId(event, id) || isOtherCall(known, item));
    return isOther ? undefined : known;
  }

  /** By index; where a server has none, or one for several types of items, by id, else the last one. */
  #findKnown(event: JsonObject, type: string, id: unknown = event.item_id ?? undefined): Item | undefined {
    const index = event.output_index ?? undefined;
    const byIndex = index === undefined ? undefined : this.#byIndex.get(index);
    if (byIndex?.type === type) return byIndex;
    const byId = id === undefined ? undefined : this.#byId.get(id);
    if (byIndex && byId?.type !== type) return byIndex;
    return byId ?? (id === undefined && index === undefined ? this.#items.at(-1) : undefined);
  }

  /** The last item, if it has begun and is not done: some servers have no index, and a new id in every event. */
  #findOpen({ output_index: index }: JsonObject, type: string): Item | undefined {
    const last = (index ?? undefined) === undefined ? this.#items.at(-1) : undefined;
    return last?.type === type && last.isBegun && !last.isDone ? last : undefined;
  }

  /** The content of the item that an event is about. */
  #find<Type extends keyof ContentTypes>(type: Type, event: JsonObject): ContentTypes[Type] {
    const known = this.#findKnown(event, type) ?? this.#findOpen(event, type);
    const item = known?.type === type ? known : this.#add(type, event.item_id, event.output_index);
    return item.content as ContentTypes[Type];
  }

  #add(type: string, id: unknown, index?: unknown): Item {
    const item = new Item(type, id ?? undefined, this.#texts);
    this.#items.push(item);
    if (item.id !== undefined) this.#byId.set(item.id, item);
    if (index !== undefined && index !== null) this.#byIndex.set(index, item);
    return item;
  }

  /** The last event contains the whole response: what it used, why it ended, and what no other event brought. */
  #end(response: JsonObject, said: string, out: AnswerWriter): void {
    out.start(response);
    out.usage(this.#usage.report(response.usage));
    const status = said === 'failed' ? said : `${response.status ?? said}`;
    const failure = response.error ?? (/^(in)?completed?$/.test(status) ? undefined : status);
    if (failure) throw this.#kit.fault.ofComplaint({ error: failure }, true);
    if (Array.isArray(response.output)) this.#completeAll(response.output, out);
    const { reason = status } = readFields(response.incomplete_details);
    if (status === 'incomplete') out.finish(this.#kit.finishReason(reason) ?? 'other', `${reason}`);
    else out.finish(this.#texts.hasRefusal ? 'filter' : 'stop', status);
    out.done(status);
  }

  /** Items have the same ids as before, or at least the same order among their type. */
  #completeAll(output: readonly unknown[], out: AnswerWriter): void {
    const before = new UnmatchedItems(this.#items);
    const items = output.map((value) => readFields(value));
    const byId = items.map((item) => before.takeById(item));
    for (const [at, item] of items.entries()) {
      const known = byId[at] ?? before.takeByName(item);
      (known ?? this.#add(`${item.type}`, item.id)).complete(item, out);
    }
  }
}

/** Nothing tells the item of an event from others of its type. */
function lacksIndexAndId({ output_index: index }: JsonObject, id: unknown): boolean {
  return (index ?? id ?? undefined) === undefined;
}

/** Some servers give all items one index. */
function isOtherCall({ callId }: Item, { call_id: id }: JsonObject): boolean {
  return typeof callId === 'string' && typeof id === 'string' && callId !== id;
}

const EVENT = 'response.';
