// What a provider may write into a part, checked where no type holds.
import type { Block, BlockState } from './provider-part.ts';

/** Throws unless a block is one that a provider may start. */
export function checkBlock(block: Block): void {
  if (block?.type === 'text' || block?.type === 'reasoning') return;
  if (block?.type !== 'tool') throw grammarError('a block of an unknown type');
  if (!isName(block.id) || !isName(block.name)) throw grammarError('a call of a tool without its id or its name');
}

/** Throws unless a state can be kept for its upstream. */
export function checkState(state: BlockState): BlockState {
  if (typeof state?.format !== 'string' || typeof state.value !== 'string')
    throw grammarError('a state without its text');
  return state;
}

const isName = (name: unknown): boolean => typeof name === 'string' && name !== '';

/** What a plugin did wrong; for the operator's log only. */
export function grammarError(what: string): Error {
  return new Error(`the provider violated the grammar of parts: ${what}`);
}
