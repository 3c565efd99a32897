// Blocks that wait for their turn: upstream several may be open at once, a client gets one after the other.
import { grammarError } from './grammar.ts';
import type { Block, BlockState, Citation } from './provider-part.ts';

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

export class WaitingBlocks {
  readonly #blocks: WaitingBlock[] = [];
  #characters = 0;

  add(block: WaitingBlock): void {
    this.#blocks.push(block);
  }

  /** Undefined once it has ended. */
  find(index: number): WaitingBlock | undefined {
    return this.#blocks.find((block) => block.index === index && !block.isEnded);
  }

  append(block: WaitingBlock, text: string): void {
    block.text += text;
    this.#characters += text.length;
    if (this.#characters > CHARACTERS_MAX) throw grammarError('too much text at the same time');
  }

  /** The first one, whose turn it is. */
  take(): WaitingBlock | undefined {
    const block = this.#blocks.shift();
    this.#characters -= block?.text.length ?? 0;
    return block;
  }

  endAll(): void {
    for (const block of this.#blocks) block.isEnded = true;
  }
}
