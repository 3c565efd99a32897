// The beginnings of a prompt, by digest: a vendor's cache holds a prompt only as far as it is the same from its start on.
import { hash } from 'node:crypto';
import { listPartTexts } from './estimate.ts';
import type { RequestContent, TextRequest } from './request.ts';

type Prompt = Pick<TextRequest, 'system' | 'tools' | 'messages'>;

/** Takes a few ms; conversations are shorter. */
const PARTS_MAX = 10_000;

/**
 * A digest for each part of the messages: of the conversation's name and all that the model reads up to there. The last
 * one is of the whole prompt. Markers do not count; they move from turn to turn. None of a prompt in very many parts.
 */
export function digestBeginnings(conversation: string, { system = [], tools, messages }: Prompt): readonly string[] {
  if (messages.reduce((parts, { content }) => parts + content.length, 0) > PARTS_MAX) return [];
  const opening = digest([conversation, tools?.text ?? '', ...system.map(({ text }) => text)]);
  const digests = [opening];
  for (const { role, content } of messages) {
    for (const part of content) digests.push(digest([digests.at(-1) as string, role, ...listPieces(part)]));
  }
  return digests;
}

function* listPieces(part: RequestContent): Iterable<string | Uint8Array> {
  yield part.type;
  switch (part.type) {
    case 'tool-result':
      for (const inner of part.content) yield* listPieces(inner);
      break;
    case 'image':
      yield typeof part.source === 'string' ? part.source : part.source.bytes;
      break;
    case 'document':
    case 'audio':
      yield part.bytes;
      break;
    default:
      yield* listPartTexts(part);
  }
}

/** The lengths keep apart what is divided differently. */
function digest(pieces: Iterable<string | Uint8Array>): string {
  let text = '';
  for (const piece of pieces)
    text += typeof piece === 'string' ? `${piece.length} ${piece}` : `b${hash('sha256', piece)}`;
  return hash('sha256', text, 'base64').slice(0, DIGEST_CHARACTERS);
}

const DIGEST_CHARACTERS = 22;
