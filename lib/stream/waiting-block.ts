// A block that waits for its turn: upstream several may be open at once, a client gets one after the other.
import type { Block, BlockState, Citation } from './provider-part.ts';

/** The text of all that wait. */
export const WAITING_CHARACTERS_MAX = 4 * 1024 * 1024;

/** A block that is open upstream while another one is passed on. */
export interface WaitingBlock {
  readonly index: number;
  readonly block: Block;
  text: string;
  state: BlockState | undefined;
  citations?: Citation[];
  isEnded: boolean;
}
