// Reads the images of a reply, inline or by URL, in one piece or as a stream of events.
import { Buffer } from 'node:buffer';
import type { AnswerReader, Host, HostRequest, JsonObject, MediaSource } from '../../lib/upstream/contract/provider.ts';

/** An image comes in one event. */
const EVENT_CHARS_MAX = 32 * 1024 * 1024;

/** What is drawn so far comes first; an upstream that knows no streams answers in one piece. */
export async function readStreamedImages(
  url: string,
  request: HostRequest,
  host: Host,
): Promise<readonly MediaSource[]> {
  const sources: MediaSource[] = [];
  const reader: AnswerReader = {
    take(value) {
      const { type, data, images, error } = value;
      if (String(type).endsWith('.partial_image')) return;
      const reply = data || images || error ? value : { data: [value] };
      sources.push(...readReplyImages(reply, host));
    },
  };
  await Array.fromAsync(host.answer(url, { ...request, once: true, eventCharsMax: EVENT_CHARS_MAX }, reader));
  return sources;
}

export function readReplyImages(reply: unknown, host: Host): readonly MediaSource[] {
  const { fault, fields } = host;
  const { images, data = images, error } = fields(reply);
  const complaint = error ? fault.ofComplaint(reply) : undefined;
  if (complaint) throw complaint;
  if (!Array.isArray(data))
    throw fault.ofComplaint(reply) ?? fault.make('protocol', 'a reply without a list of images');
  const entries = data.map((entry) => fields(entry));
  const sources = entries.flatMap(readImageSource);
  if (sources.length === 0) for (const entry of entries) refuseWithheld(entry, host);
  return sources;
}

/** An entry may say in place of its image why there is none: by an error, a flag, or a reason to finish. */
function refuseWithheld(entry: JsonObject, { fault, finishReason }: Host): void {
  const { error, is_image_safe: isSafe, respect_moderation: isRespected, finish_reason: reason } = entry;
  if (error) throw fault.ofComplaint({ error }, true);
  if (isSafe !== false && isRespected !== false && finishReason(reason) !== 'filter') return;
  throw fault.make('request', 'the image was withheld', { about: 'content' });
}

/** Some send a data URL where base64 or a URL belongs. */
const DATA_URL = /^data:[^,]{0,100};base64,/;

function readImageSource({ b64_json: inline, url }: JsonObject): readonly MediaSource[] {
  const text = typeof inline === 'string' && inline !== '' ? inline : url;
  if (typeof text !== 'string' || text === '') return [];
  if (text === url && !DATA_URL.test(text)) return [{ url }];
  return [{ bytes: Buffer.from(text.replace(DATA_URL, ''), 'base64') }];
}
