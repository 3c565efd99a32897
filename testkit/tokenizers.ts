// The tokenizers whose vocabularies are published as npm packages, each as a function that counts a text's tokens.
import { createRequire } from 'node:module';
import llama from 'llama-tokenizer-js';
// @ts-expect-error The package has no types.
import mistral from 'mistral-tokenizer-js';
import { get_encoding, Tiktoken } from 'tiktoken';

interface SentencePiece {
  encode(text: string, bos: boolean, space: boolean): readonly number[];
}

const ranks = createRequire(import.meta.url)('@anthropic-ai/tokenizer/claude.json');

const encodings = {
  o200k: get_encoding('o200k_base'),
  cl100k: get_encoding('cl100k_base'),
  claude: new Tiktoken(ranks.bpe_ranks, ranks.special_tokens, ranks.pat_str),
};

/** Special tokens in a text count as text. */
const ofBytePairs = (encoding: Tiktoken) => (text: string) => encoding.encode(text, [], []).length;
const ofSentencePiece = (tokenizer: SentencePiece) => (text: string) => tokenizer.encode(text, false, false).length;

export type Count = (text: string) => number;

export const TOKENIZERS = {
  o200k: ofBytePairs(encodings.o200k),
  cl100k: ofBytePairs(encodings.cl100k),
  // This one normalises compatibility characters before counting.
  claude: (text: string) => ofBytePairs(encodings.claude)(text.normalize('NFKC')),
  llama: ofSentencePiece(llama),
  mistral: ofSentencePiece(mistral),
} satisfies Readonly<Record<string, Count>>;

/** Words and parts of words in at least one of the vocabularies, without the space before them. */
export function candidates(pattern: RegExp): readonly string[] {
  const words = Object.values(encodings)
    .flatMap((encoding) => encoding.token_byte_values())
    .map((bytes) => Buffer.from(bytes).toString('utf8').trim())
    .filter((word) => pattern.test(word));
  return [...new Set(words)].sort();
}
