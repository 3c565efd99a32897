// The keys of one upstream, which take turns.
import { hash } from 'node:crypto';

export interface Key {
  /** Names the key in every process without showing it. */
  readonly id: string;
  readonly value: string;
}

const ID_CHARS = 16;

export class KeyRing {
  readonly #keys: readonly Key[];
  #turn = 0;

  constructor(values: readonly string[]) {
    this.#keys = values.map((value) => ({ id: hash('sha256', value, 'hex').slice(0, ID_CHARS), value }));
  }

  /** The key of that id if it is still there, else the next one; undefined when there are none. */
  take(id?: string): Key | undefined {
    const named = id !== undefined && this.#keys.find((key) => key.id === id);
    return named || this.#keys[this.#turn++ % this.#keys.length];
  }
}
