// An upstream's name for its answer: what has another name behind the end is another answer, which is nobody's.
export class AnswerId {
  /** `null` once there were two before the end: such a server names every chunk anew. */
  #id: string | null | undefined;

  /** Whether a chunk of this name, which comes behind the end of the answer or before it, is of another one. */
  isOther(id: unknown, isBehindEnd: boolean): boolean {
    if (typeof id !== 'string' || id === '' || this.#id === null) return false;
    this.#id ??= id;
    if (id === this.#id) return false;
    if (!isBehindEnd) this.#id = null;
    return isBehindEnd;
  }
}
