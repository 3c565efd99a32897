// The items that earlier events brought, as the last event finds them again: each of them once.
import type { JsonObject } from '../../contract/provider.ts';
import type { Item } from './item.ts';

/** Items of one type under something that they have in common, the first of them at the end. */
type Lists = Map<unknown, Map<unknown, Item[]>>;

export class UnmatchedItems {
  readonly #places = new Map<Item, number>();
  readonly #byId: Lists = new Map();
  readonly #byCall: Lists = new Map();
  readonly #byName: Lists = new Map();

  constructor(items: readonly Item[]) {
    for (const [at, item] of [...items].reverse().entries()) {
      this.#places.set(item, items.length - at);
      if (item.id !== undefined) addToList(this.#byId, item.id, item);
      if (item.callId !== undefined) addToList(this.#byCall, item.callId, item);
      addToList(this.#byName, item.name, item);
    }
  }

  takeById({ type, id, call_id: callId }: JsonObject): Item | undefined {
    return this.#takeFirst(this.#findFirst(this.#byId, type, id), this.#findFirst(this.#byCall, type, callId));
  }

  /** The first of its type whose name is the same, or not known. */
  takeByName({ type, name }: JsonObject): Item | undefined {
    return this.#takeFirst(this.#findFirst(this.#byName, type, name), this.#findFirst(this.#byName, type, undefined));
  }

  #findFirst(lists: Lists, type: unknown, common: unknown): Item | undefined {
    const list = lists.get(type)?.get(common);
    let first = list?.at(-1);
    while (first && !this.#places.has(first)) {
      list?.pop();
      first = list?.at(-1);
    }
    return first;
  }

  #takeFirst(one: Item | undefined, other: Item | undefined): Item | undefined {
    const [first, second] = [one, other].map((item) => (item && this.#places.get(item)) ?? Number.POSITIVE_INFINITY);
    const found = (first ?? 0) <= (second ?? 0) ? one : other;
    if (found) this.#places.delete(found);
    return found;
  }
}

function addToList(lists: Lists, common: unknown, item: Item): void {
  const ofType = lists.get(item.type) ?? new Map<unknown, Item[]>();
  lists.set(item.type, ofType);
  const list = ofType.get(common);
  if (list) list.push(item);
  else ofType.set(common, [item]);
}
