// Blocks, and images beside them, that wait for their turn: upstream several may be open at once, a client gets one after
// the other.
import { grammarError } from './grammar.ts';
import type { Block, BlockState, Citation, ImagePart } from './provider-part.ts';

/** The text of all that wait, with their names and states. */
const CHARACTERS_MAX = 4 * 1024 * 1024;
/** What a block without any text takes. */
const BLOCK_CHARACTERS = 64;

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
  /** The latest ones. */
  #late: Waiting[] = [];
  /** Those before, the last one first: `shift` would move all of them. */
  #early: Waiting[] = [];
  readonly #open = new Map<number, WaitingBlock>();
  #characters = 0;

  add(waiting: Waiting): void {
    this.#late.push(waiting);
    if (!isBlock(waiting)) return;
    this.#open.set(waiting.index, waiting);
    this.#count(measureBlock(waiting));
  }

  /** Undefined once it has ended. */
  find(index: number): WaitingBlock | undefined {
    return this.#open.get(index);
  }

  append(block: WaitingBlock, text: string): void {
    block.text += text;
    this.#count(text.length);
  }

  setState(block: WaitingBlock, state: BlockState): void {
    const before = measureBlock(block);
    block.state = state;
    this.#count(measureBlock(block) - before);
  }

  end(block: WaitingBlock): void {
    block.isEnded = true;
    this.#open.delete(block.index);
  }

  /** The first one, whose turn it is. */
  take(): Waiting | undefined {
    if (this.#early.length === 0) {
      this.#early = this.#late.reverse();
      this.#late = [];
    }
    const next = this.#early.pop();
    if (next && isBlock(next)) {
      this.#characters -= measureBlock(next);
      this.#open.delete(next.index);
    }
    return next;
  }

  endAll(): void {
    for (const block of this.#open.values()) this.end(block);
  }

  #count(characters: number): void {
    this.#characters += characters;
    if (this.#characters > CHARACTERS_MAX) throw grammarError('too much at the same time');
  }
}

function measureBlock({ block, text, state }: WaitingBlock): number {
  const names = block.type === 'tool' ? block.id.length + block.name.length : 0;
  return BLOCK_CHARACTERS + names + text.length + (state?.value.length ?? 0);
}

export function isBlock(waiting: Waiting): waiting is WaitingBlock {
  return 'block' in waiting;
}
