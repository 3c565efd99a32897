// Which of a client's cache markers reach a vendor, which refuses too many and a wrong order.
import type { Cacheable, CacheMarker, Content, TextCall } from '../contract/provider.ts';

const MARKERS_MAX = 4;

export interface Markers {
  /** Whether there are any. */
  readonly hasAny: boolean;
  /** The block of a part, with the part's marker if that is sent. */
  mark(part: object, block: object): object;
}

export function chooseMarkers({ tools, system = [], messages }: Partial<TextCall>): Markers {
  const prefix = [...(tools?.list ?? []), ...system].filter(isMarked);
  const said = (messages ?? []).flatMap(({ content }) => resultsFirst(content).flatMap(listCacheable).filter(isMarked));
  const chosen = inOrder(atMostFour(prefix, said));
  return {
    hasAny: chosen.size > 0,
    mark(part, block) {
      const marker = chosen.get(part);
      return marker ? { ...block, cache_control: writeMarker(marker) } : block;
    },
  };
}

/** In the order in which a message is written: results are refused after anything else. */
export function resultsFirst(content: readonly Content[]): readonly Content[] {
  const results = content.filter((part) => part.type === 'tool-result');
  if (results.length === 0) return content;
  return [...results, ...content.filter((part) => part.type !== 'tool-result')];
}

function listCacheable(part: Content): readonly Cacheable[] {
  return part.type === 'reasoning' ? [] : [part];
}

function isMarked({ cache }: Cacheable): boolean {
  return cache !== undefined;
}

/** The last marker of what conversations share, and the latest of this one: each covers all that comes before it. */
function atMostFour(prefix: readonly Cacheable[], said: readonly Cacheable[]): readonly Cacheable[] {
  const latest = said.slice(-(MARKERS_MAX - Math.min(prefix.length, 1)));
  const room = MARKERS_MAX - latest.length;
  return [...(room > 0 ? prefix.slice(-room) : []), ...latest];
}

/** A marker for an hour is refused behind one for five minutes, so it becomes one of these, which never cost more. */
function inOrder(marked: readonly Cacheable[]): ReadonlyMap<object, CacheMarker> {
  const chosen = new Map<object, CacheMarker>();
  let isShort = false;
  for (const part of marked) {
    isShort ||= part.cache?.ttl === '5m';
    chosen.set(part, { ttl: isShort ? '5m' : '1h' });
  }
  return chosen;
}

/** Five minutes are the default. */
function writeMarker({ ttl }: CacheMarker): object {
  return ttl === '5m' ? { type: 'ephemeral' } : { type: 'ephemeral', ttl };
}
