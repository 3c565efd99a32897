// Reads the images of a reply, inline or by URL.
import { Buffer } from 'node:buffer';
import type { Host, JsonObject, MediaSource } from '../../lib/upstream/contract/provider.ts';

export function readReplyImages(reply: unknown, { fault, fields }: Host): readonly MediaSource[] {
  const { images, data = images, error } = fields(reply);
  const complaint = error ? fault.ofComplaint(reply) : undefined;
  if (complaint) throw complaint;
  if (!Array.isArray(data))
    throw fault.ofComplaint(reply) ?? fault.make('protocol', 'a reply without a list of images');
  return data.flatMap((entry) => readImageSource(fields(entry)));
}

/** Some send a data URL where base64 or a URL belongs. */
const DATA_URL = /^data:[^,]{0,100};base64,/;

function readImageSource({ b64_json: inline, url }: JsonObject): readonly MediaSource[] {
  const text = typeof inline === 'string' && inline !== '' ? inline : url;
  if (typeof text !== 'string' || text === '') return [];
  if (text === url && !DATA_URL.test(text)) return [{ url }];
  return [{ bytes: Buffer.from(text.replace(DATA_URL, ''), 'base64') }];
}
