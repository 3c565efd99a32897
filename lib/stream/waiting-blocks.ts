// Blocks, and images beside them, that wait for their turn: upstream several may be open at once, a client gets one after
// the other.
import { grammarError } from './grammar.ts';
import type { Block, BlockState, Citation, ImagePart } from './provider-part.ts';

/** The text of all that wait. */
const CHARACTERS_MAX = 4 * 1024 * 1024;

/** A block that is open upstream while another one is passed on. */
export interface WaitingBlock {
  readonly index: number;
  readonly block: Block;
  text: string;
  state: BlockState | undefined;
  citations?: Citation[];
  isEnded: boolean;
}

/** An image has come whole. */
type Waiting = WaitingBlock | Required<ImagePart>;

export class WaitingBlocks {
  readonly #waiting: Waiting[] = [];
  #characters = 0;

  add(waiting: Waiting): void {
    this.#waiting.push(waiting);
  }

  /** Undefined once it has ended. */
  find(index: number): WaitingBlock | undefined {
    for (const waiting of this.#waiting)
      if (isBlock(waiting) && waiting.index === index && !waiting.isEnded) return waiting;
    return undefined;
  }

  append(block: WaitingBlock, text: string): void {
    block.text += text;
    this.#characters += text.length;
    if (this.#characters > CHARACTERS_MAX) throw grammarError('too much text at the same time');
  }

  /** The first one, whose turn it is. */
  take(): Waiting | undefined {
    const next = this.#waiting.shift();
    if (next && isBlock(next)) this.#characters -= next.text.length;
    return next;
  }

  endAll(): void {
    for (const waiting of this.#waiting) if (isBlock(waiting)) waiting.isEnded = true;
  }
}

export function isBlock(waiting: Waiting): waiting is WaitingBlock {
  return 'block' in waiting;
}
