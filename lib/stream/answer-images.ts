// The images of one answer: each is checked before it passes, because a client cannot give it back.
import { Buffer } from 'node:buffer';
import { type Fault, fault } from '../base/faults.ts';
import { freeOwnBytes } from '../base/free-bytes.ts';
import { sniffWhole } from '../base/sniff.ts';
import type { AnswerMemory } from './answer-memory.ts';
import { grammarError } from './grammar.ts';
import type { ImagePart } from './provider-part.ts';

const MEBIBYTE = 1024 * 1024;
const MEBIBYTES_MAX = { one: 20, all: 48 };

export class AnswerImages {
  readonly #memory: AnswerMemory | undefined;
  #bytes = 0;

  constructor(memory?: AnswerMemory) {
    this.#memory = memory;
  }

  /** The image with the type that its bytes have. Throws unless it is whole, and not too large. */
  take({ base64 }: ImagePart): Required<ImagePart> {
    if (typeof base64 !== 'string') throw grammarError('an image without its base64');
    const bytes = Buffer.from(base64, 'base64');
    this.#bytes += bytes.length;
    if (bytes.length > MEBIBYTES_MAX.one * MEBIBYTE) throw refuse(`has more than ${MEBIBYTES_MAX.one} MiB`);
    if (this.#bytes > MEBIBYTES_MAX.all * MEBIBYTE) {
      throw refuse(`is one too many: they have more than ${MEBIBYTES_MAX.all} MiB in all`);
    }
    const sniffed = sniffWhole(bytes);
    if (sniffed?.kind !== 'image') throw refuse('is no PNG, JPEG, GIF or WebP, or is cut short');
    this.#memory?.holdImage(base64.length);
    const encoded = isStandardBase64(base64, bytes) ? base64 : bytes.toString('base64');
    // Until they are collected, they would take as much memory as the image.
    freeOwnBytes(bytes);
    return { type: 'image', mediaType: sniffed.mediaType, base64: encoded };
  }
}

/**
 * Vendors break lines, and clients read nothing but the standard alphabet. Encoding the bytes anew and comparing would take
 * twice as long as decoding them.
 */
function isStandardBase64(base64: string, bytes: Buffer): boolean {
  const left = bytes.length % 3;
  // Whatever is no digit adds to the length, and not to the bytes.
  if (base64.length !== 4 * Math.ceil(bytes.length / 3) || base64.includes('-') || base64.includes('_')) return false;
  return base64.endsWith(bytes.toString('base64', bytes.length - (left || 3)));
}

function refuse(what: string): Fault {
  return fault('upstream_image', {}, new Error(`an image of the answer ${what}`));
}
