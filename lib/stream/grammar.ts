// What a provider may write into a part, checked where no type holds.
import { numberCallId } from './call-id.ts';
import type { GuardOptions } from './guard-options.ts';
import type { ReplyBlock } from './part.ts';
import type { Block, BlockState, Citation, FinishPart, FinishReason, TextBlock } from './provider-part.ts';

/**
 * The block, a call by the name that the client knows and with an id of its own. Throws unless it is one that a provider
 * may start.
 */
export function settleBlock(
  block: Block,
  { toolNames, isCallId }: Pick<GuardOptions, 'toolNames' | 'isCallId'>,
): Block {
  if (block?.type === 'reasoning') return block;
  if (block?.type === 'text') {
    if (block.phase !== undefined && !isName(block.phase)) throw grammarError('a phase that is no word');
    return block;
  }
  if (block?.type !== 'tool') throw grammarError('a block of an unknown type');
  if (!isName(block.id) || !isName(block.name)) throw grammarError('a call of a tool without its id or its name');
  const name = !toolNames || toolNames.includes(block.name) ? block.name : findToolName(block.name, toolNames);
  // Clients that know a call by its id took another one with it for one that is done. A history gets the same number.
  const id = isCallId?.(block.id) ? numberCallId(block.id, isCallId).id : block.id;
  return name === block.name && id === block.id ? block : { ...block, id, name };
}

/** No tool has such a long name, and each part of one is looked up. */
const NAME_CHARACTERS_READ = 1000;

/**
 * Models put a namespace that they were trained with before the name of a tool (`functions.`), and servers leave a marker
 * or a number of the model's own language behind it. A name that is still unknown without these stays.
 */
function findToolName(name: string, toolNames: readonly string[]): string {
  if (name.length > NAME_CHARACTERS_READ) return name;
  const plain = name.replace(/<\|.*$/s, '').trim();
  for (const bare of [plain, plain.replace(/:\d+$/, '')]) {
    if (toolNames.includes(bare)) return bare;
    for (const { index } of bare.matchAll(/[.:/]/g)) {
      const rest = bare.slice(index + 1);
      if (toolNames.includes(rest)) return rest;
    }
  }
  return name;
}

/** Whether a text only goes on with an open one. A refusal does not, nor does a passage with citations of its own. */
export function continuesText(open: TextBlock, { refusal, cited, phase }: TextBlock): boolean {
  return (refusal === true) === (open.refusal === true) && phase === open.phase && !cited && !open.cited;
}

/** Throws unless a state can be kept for its upstream. */
export function checkState(state: BlockState): BlockState {
  if (typeof state?.format !== 'string' || typeof state.value !== 'string')
    throw grammarError('a state without its text');
  return state;
}

/** A block as it is passed on: a call has its state from the start. */
export function addState(block: Block, state: BlockState | undefined): ReplyBlock {
  return block.type === 'tool' && state ? { ...block, state } : block;
}

const CITED_TEXTS = ['url', 'title', 'quote'] as const;

/** Throws unless it is a citation. */
export function countCitationCharacters(citation: Citation): number {
  if (typeof citation !== 'object' || citation === null) throw grammarError('a citation that is no object');
  const { document, range, passage, original } = citation;
  const texts = [...CITED_TEXTS.map((name) => citation[name]), original?.format, original?.value];
  const numbers = [document, range?.start, range?.end, passage?.start, passage?.end];
  const isRight =
    texts.every((text) => text === undefined || typeof text === 'string') &&
    numbers.every((number) => number === undefined || Number.isSafeInteger(number));
  if (!isRight) throw grammarError('a citation with members of other types');
  return JSON.stringify(citation).length;
}

const REASONS: ReadonlySet<FinishReason> = new Set(['stop', 'length', 'filter', 'tool', 'other']);

/** Some upstreams report a plain end for an answer with calls, and hidden calls are no reason to end. */
export function settleReason({ reason }: FinishPart, hasTools: boolean): FinishReason {
  if (!REASONS.has(reason)) return hasTools ? 'tool' : 'other';
  if (hasTools && (reason === 'stop' || reason === 'other')) return 'tool';
  return reason === 'tool' && !hasTools ? 'stop' : reason;
}

const isName = (name: unknown): boolean => typeof name === 'string' && name !== '';

/** What a plugin did wrong; for the operator's log only. */
export function grammarError(what: string): Error {
  return new Error(`the provider violated the grammar of parts: ${what}`);
}
