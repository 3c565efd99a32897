// The parts of a reply between the guard and a dialect: the provider's in strict sequence, and those that the gateway
// adds.
import type { Fault } from '../base/faults.ts';
import type { SmartRouting } from '../base/smart-tiers.ts';
import type {
  BlockCitationPart,
  BlockDeltaPart,
  BlockEndPart,
  BlockStartPart,
  BlockState,
  BlockStatePart,
  FinishPart,
  ImagePart,
  ReasoningBlock,
  StartPart,
  TextBlock,
  ToolBlock,
  UsagePart,
} from './provider-part.ts';

export type { FinishPart, FinishReason, ProviderPart } from './provider-part.ts';

/** The start as the delivery makes it from the upstream's. */
export interface ReplyStartPart extends StartPart {
  /** How the smart model chose. */
  readonly smart?: SmartRouting;
}

/** A call whose state is known when it starts travels with it. */
export interface ReplyToolBlock extends ToolBlock {
  readonly state?: BlockState;
}

export type ReplyBlock = TextBlock | ReasoningBlock | ReplyToolBlock;

/** A block starts: the one before it has ended. Numbered from 0. */
export interface ReplyBlockStartPart extends Omit<BlockStartPart, 'block'> {
  readonly block: ReplyBlock;
}

/** A whole image, checked; it is numbered like a block. */
export interface ReplyImagePart extends Required<ImagePart> {
  readonly index: number;
}

/** What the upstream produced but nobody is shown: reasoning, dropped calls, what follows a cut. It is billed. */
interface HiddenPart {
  readonly type: 'hidden';
  readonly text: string;
}

/** The answer failed. */
export interface ErrorPart {
  readonly type: 'error';
  readonly fault: Fault;
}

/** What the answer cost, in micro-roubles; always last. */
export interface BillingPart {
  readonly type: 'billing';
  readonly charged: bigint;
  readonly reserved: bigint;
  /** What the wallet can spend after settlement. */
  readonly balance: bigint;
  /** Prices per 1M tokens, in the band of the call. Those of audio and the cache are there only if such tokens were billed. */
  readonly priceInput: bigint;
  readonly priceAudio?: bigint;
  readonly priceCacheRead?: bigint;
  readonly priceCacheWrite?: bigint;
  readonly priceCacheWrite1h?: bigint;
  readonly priceOutput: bigint;
}

export type StreamPart =
  | ReplyStartPart
  | ReplyBlockStartPart
  | BlockDeltaPart
  | BlockStatePart
  | BlockCitationPart
  | BlockEndPart
  | ReplyImagePart
  | HiddenPart
  | UsagePart
  | FinishPart
  | ErrorPart
  | BillingPart;
