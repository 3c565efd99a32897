// The images in a chat-completions reply: the format has no place for them, so servers have them beside the text, or as
// parts of it.
import { hash } from 'node:crypto';
import type { AnswerWriter, JsonObject } from '../../contract/provider.ts';
import { isFields } from '../../host/fields.ts';

const DATA_URL = /^data:([^;,]*)[^,]*;base64,/;
const HEADER_CHARS_MAX = 256;

/** Types of parts of the content. */
const PART_TYPES = new Set<unknown>(['image_url', 'image', 'output_image']);

const NONE: readonly never[] = [];

/** Reads the images of one reply. */
export class ReplyImages {
  /** Some servers repeat them, in every chunk or in a whole message at the end. */
  readonly #seen = new Set<string>();

  take(item: unknown, out: AnswerWriter): void {
    const said = readLocation(item);
    if (said === undefined || said === '') {
      out.alive();
      return;
    }
    const digest = hash('sha1', said);
    if (this.#seen.has(digest)) return;
    this.#seen.add(digest);
    const [head, mediaType] = DATA_URL.exec(said.slice(0, HEADER_CHARS_MAX)) ?? [];
    if (head !== undefined) out.image({ mediaType, base64: said.slice(head.length) });
    // A link that the vendor chose is not fetched, but not lost either.
    else if (/^https?:/i.test(said)) out.text(`\n\n![image](${said})\n\n`);
    else out.image({ base64: said });
  }
}

/** The images of a message, wherever they are. */
export function listImages({ content, images, image, multi_mod_content: mixed }: JsonObject): readonly unknown[] {
  // Most deltas, of thoughts too.
  if (!images && !image && !mixed && !Array.isArray(content)) return NONE;
  const parts = Array.isArray(content) ? content : [];
  const shown = parts.filter((part) => isFields(part) && PART_TYPES.has(part.type));
  return [shown, images || [], image || [], listInlineData(mixed)].flat();
}

/** The images of parts in the contents format, which some servers pass on beside the text. */
function listInlineData(parts: unknown): readonly unknown[] {
  if (!Array.isArray(parts)) return NONE;
  return parts.flatMap((part) => {
    const { inline_data: data, inlineData = data } = isFields(part) ? part : {};
    return inlineData ? [inlineData] : NONE;
  });
}

/** `{ image_url: { url } }`, or shorter forms; some give the bytes alone. */
function readLocation(item: unknown): string | undefined {
  if (typeof item === 'string') return item;
  if (!isFields(item)) return undefined;
  const { image_url: inner, url = inner, data = url, b64_json: base64 = data } = item;
  if (typeof base64 === 'string') return base64;
  return isFields(base64) && typeof base64.url === 'string' ? base64.url : undefined;
}
