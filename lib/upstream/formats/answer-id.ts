// The id that an upstream gives its answer: a chunk with another id after the end is of another answer, which nobody
// asked for.
export class AnswerId {
  /** `null` once there were two before the end: such a server gives each chunk an id of its own. */
  #id: string | null | undefined;

  /** Whether the chunk with this id, after the end of the answer or before it, is of another one. */
  isOther(id: unknown, isAfterEnd: boolean): boolean {
    if (typeof id !== 'string' || id === '' || this.#id === null) return false;
    this.#id ??= id;
    if (id === this.#id) return false;
    if (!isAfterEnd) this.#id = null;
    return isAfterEnd;
  }
}
