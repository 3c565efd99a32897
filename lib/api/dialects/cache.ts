// What a request says about the vendor's prompt cache: markers on parts of the prompt, and the key of a conversation.
import Joi from 'joi';
import { choice, constant, type Json, object } from '../../base/json-schema.ts';
import { isRecord } from '../../base/record.ts';
import type { RequestContent, TextRequest } from '../../calls/text/request.ts';
import type { Cacheable } from '../../upstream/contract/provider.ts';
import { documentAs, invalidField, optional } from './fields.ts';

const TTLS = ['5m', '1h'] as const;
const KEY_CHARACTERS_MAX = 1024;

interface Marked {
  readonly cache_control?: unknown;
  readonly prompt_cache_breakpoint?: unknown;
  readonly [field: string]: unknown;
}

/**
 * `{ type: "ephemeral", ttl?: "5m" | "1h" }`, or a breakpoint `{ mode: "explicit" }`; nothing if there is no
 * marker. Throws 400 faults that name the field.
 */
export function readCacheMarker(
  { cache_control: marker, prompt_cache_breakpoint: breakpoint }: Marked,
  field?: string,
): Cacheable {
  if (marker === undefined || marker === null) {
    return isRecord(breakpoint) && breakpoint.mode === 'explicit' ? { cache: { ttl: '5m' } } : {};
  }
  const place = field === undefined ? 'cache_control' : `${field}.cache_control`;
  if (!isRecord(marker)) throw invalidField(place, 'must be an object');
  if (marker.type !== 'ephemeral') return {};
  const ttl = TTLS.find((each) => each === (marker.ttl ?? '5m'));
  if (!ttl) throw invalidField(`${place}.ttl`, `must be one of ${TTLS.join(', ')}`);
  return { cache: { ttl } };
}

export const cacheMarker: Json = {
  description:
    'Asks the vendor to cache the prompt up to here, for models whose vendor takes such markers; it is left out for ' +
    'others. At most 4 reach the vendor.',
  ...object({ type: constant('ephemeral'), ttl: choice(TTLS) }, { optional: ['ttl'] }),
};

/** Puts a marker on the last content that can have one, unless it has one already. */
export function markLast(content: readonly RequestContent[], { cache }: Cacheable): readonly RequestContent[] {
  const at = content.findLastIndex(({ type }) => type !== 'reasoning');
  const last = content[at];
  if (!cache || !last || last.type === 'reasoning' || last.cache) return content;
  return content.with(at, { ...last, cache });
}

/** The marker of a whole request stands at the end of its prompt. */
export function markPrompt(
  messages: TextRequest['messages'],
  { cache_control }: { readonly cache_control?: object | null },
): TextRequest['messages'] {
  const marker = readCacheMarker({ cache_control });
  const last = messages.at(-1);
  return marker.cache && last ? messages.with(-1, { ...last, content: markLast(last.content, marker) }) : messages;
}

export const cacheControlField = optional(documentAs(Joi.object().unknown(), cacheMarker), 'must be an object');

const cacheText = (description: string) =>
  optional(
    Joi.string().min(1).max(KEY_CHARACTERS_MAX).description(description),
    `must be a string of 1 to ${KEY_CHARACTERS_MAX} characters`,
  );

export const cacheFields = {
  prompt_cache_key: cacheText('Names the conversation to the cache of vendors that take such a key.'),
  prompt_cache_retention: cacheText('How long such vendors keep the prompt, for example `24h`.'),
};

/** `metadata.user_id` of any dialect; what is not a name is none. */
export function readUserId(body: unknown): Pick<TextRequest, 'userId'> {
  const metadata = isRecord(body) && isRecord(body.metadata) ? body.metadata : {};
  const { user_id: userId } = metadata;
  return typeof userId === 'string' && userId !== '' ? { userId } : {};
}

export function readCacheKey(fields: {
  readonly prompt_cache_key?: string | null;
  readonly prompt_cache_retention?: string | null;
}): Pick<TextRequest, 'cacheKey' | 'cacheRetention'> {
  const { prompt_cache_key: cacheKey, prompt_cache_retention: cacheRetention } = fields;
  return { ...(cacheKey != null && { cacheKey }), ...(cacheRetention != null && { cacheRetention }) };
}
