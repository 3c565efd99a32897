// The parts a provider may yield, as published by the contract. The gateway adds its own in `part.ts`.

/** Why an answer ended: at its natural end, at the token limit, by a content filter, for a tool call, or otherwise. */
export type FinishReason = 'stop' | 'length' | 'filter' | 'tool' | 'other';

export interface TextBlock {
  readonly type: 'text';
  /** The model declines to answer, in a text that its vendor marks as such. */
  readonly refusal?: true;
  /** A passage with citations of its own: a block apart from the texts around it. */
  readonly cited?: true;
  /**
   * What the vendor calls the text within its turn: `commentary`, `final_answer`. Clients of the responses format get it,
   * and give it back. Texts of several phases are blocks of their own.
   */
  readonly phase?: string;
}

/** The model's reasoning. One that is `redacted` has no text, only a state. */
export interface ReasoningBlock {
  readonly type: 'reasoning';
  readonly redacted?: boolean;
}

/** A tool call; the fragments of its block are the JSON of its arguments. None at all means `{}`. */
export interface ToolBlock {
  readonly type: 'tool';
  /** Identifies the call for its result; never empty. */
  readonly id: string;
  readonly name: string;
}

/** What a content block holds. */
export type Block = TextBlock | ReasoningBlock | ToolBlock;

/** What an upstream wants back with a reasoning or tool block in later requests; opaque to everybody else. */
export interface BlockState {
  /**
   * The wire format that wrote it and is the only one to read it: `messages`, `chat`, `contents`, `responses`, or a name of
   * the plugin's own in lower-case letters, digits, `.`, `_` and `-`, a letter first.
   */
  readonly format: string;
  readonly value: string;
}

/**
 * What a text is based on: a page or a file (`url`), or a document of the request (`document`). Clients get it in the
 * shape of their own format; without a `url`, only those of the messages and the responses format get it.
 */
export interface Citation {
  readonly url?: string;
  /** Of the source. */
  readonly title?: string;
  /** The passage of the source, in its words. */
  readonly quote?: string;
  /** The number of the document among those of the request, from 0. */
  readonly document?: number;
  /** Where the quote is in the document. */
  readonly range?: CitedRange;
  /**
   * The passage of the answer that is based on it: where it starts and ends in all texts of the answer together. Absent
   * for all of its block.
   */
  readonly passage?: { readonly start: number; readonly end: number };
  /** The same as its wire format writes it, for clients of that format. */
  readonly original?: CitationOriginal;
}

/** Characters, pages or blocks of a document: pages from 1, the others from 0; the end is not included. */
export interface CitedRange {
  readonly unit: 'characters' | 'pages' | 'blocks';
  readonly start: number;
  readonly end: number;
}

export interface CitationOriginal {
  /** `messages`, `chat` or `responses`. */
  readonly format: string;
  /** Its JSON. */
  readonly value: string;
}

/** The answer starts; `id` and `model` are the upstream's own names, for the log. */
export interface StartPart {
  readonly type: 'start';
  readonly id?: string;
  readonly model?: string;
}

/** A content block starts. Its index is new; several blocks may be open at once. */
export interface BlockStartPart {
  readonly type: 'block-start';
  readonly index: number;
  readonly block: Block;
}

/** A fragment of an open block. */
export interface BlockDeltaPart {
  readonly type: 'block-delta';
  readonly index: number;
  readonly text: string;
}

/** The state of an open reasoning or tool block; the last one counts. */
export interface BlockStatePart {
  readonly type: 'block-state';
  readonly index: number;
  readonly state: BlockState;
}

/** What the text of an open block is based on: before, between or after its fragments. */
export interface BlockCitationPart {
  readonly type: 'block-citation';
  readonly index: number;
  readonly citation: Citation;
}

/** An open block ends. */
export interface BlockEndPart {
  readonly type: 'block-end';
  readonly index: number;
}

/**
 * A whole image that belongs to the answer, in its place among the blocks: it has neither an index nor deltas. Beside
 * open blocks it comes after them. Drafts are not yielded, nor is an image a second time. One that is no PNG, JPEG, GIF
 * or WebP, is cut short, has more than 20 MiB, or makes those of the answer more than 48 MiB, fails the answer.
 */
export interface ImagePart {
  readonly type: 'image';
  /** As the upstream says; clients are told what the bytes are. */
  readonly mediaType?: string;
  /** The bytes of its file. */
  readonly base64: string;
}

/** Token counts. */
export interface UsageCounts {
  /** Tokens of the prompt that are no audio and were neither read from a cache nor written to one. */
  readonly input?: number;
  /** Tokens of the prompt that are audio and were not read from a cache, if the upstream counts them apart. */
  readonly audio?: number;
  /** Tokens of the prompt that were read from a cache. */
  readonly cacheRead?: number;
  /** Tokens of the prompt that were written to a cache for some minutes. */
  readonly cacheWrite?: number;
  /** The same for an hour. */
  readonly cacheWrite1h?: number;
  /** Tokens of the answer, including reasoning. */
  readonly output?: number;
  /** The part of `output` that is reasoning. */
  readonly reasoning?: number;
}

/** Token counts so far: cumulative; a number replaces the previous one, 0 too, and an absent one leaves it. */
export interface UsagePart extends UsageCounts {
  readonly type: 'usage';
}

/**
 * The upstream's reason to end; `raw` is its own word, for the log. What follows it before the end still counts, and of
 * several the last one does.
 */
export interface FinishPart {
  readonly type: 'finish';
  readonly reason: FinishReason;
  readonly raw?: string;
  /** The one of the call's `stops` that the answer ended before, if the upstream names it. */
  readonly sequence?: string;
}

/** The upstream is at work, with nothing to show for it. */
export interface AlivePart {
  readonly type: 'alive';
}

export type ProviderPart =
  | StartPart
  | BlockStartPart
  | BlockDeltaPart
  | BlockStatePart
  | BlockCitationPart
  | BlockEndPart
  | ImagePart
  | UsagePart
  | FinishPart
  | AlivePart;
