// What `[[…]]` in a prompt asks for: an upstream having a bad day, or an answer of a certain length.
import { createHash } from 'node:crypto';
import type { Host } from '../../lib/upstream/contract/provider.ts';

const MARKER = /\[\[(?:fail(?:\*\d+)?|fail-mid|slow|stall|refuse|empty|undecodable|draw|(?:words|wait):\d+)\]\]/g;

/** No call may have more tokens than this, so no more words are made. */
const WORDS_MAX = 40_000;

const WAIT_MAX_MS = 600_000;

/** The markers of a prompt, verbatim. */
type Markers = ReadonlySet<string>;

export function removeMarkers(prompt: string): string {
  return prompt.replace(MARKER, ' ');
}

/** The exact number of words that the first `[[words:…]]` asks for. */
export function readWordCount(markers: Markers): number | undefined {
  return readNumber(markers, '[[words:', WORDS_MAX);
}

function readNumber(markers: Markers, start: string, max: number): number | undefined {
  const marker = [...markers].find((each) => each.startsWith(start));
  return marker === undefined ? undefined : Math.min(Number(/\d+/.exec(marker)), max);
}

/** Waits, stalls, fails or refuses before anything is made, if the prompt asks for it; else its markers. */
export async function sufferFrom(prompt: string, host: Host, signal: AbortSignal): Promise<Markers> {
  const markers: Markers = new Set(prompt.match(MARKER));
  signal.throwIfAborted();
  const waitMs = readNumber(markers, '[[wait:', WAIT_MAX_MS);
  if (waitMs) await host.clock.sleep(waitMs, signal);
  if (markers.has('[[stall]]')) await untilAborted(signal);
  if (markers.has('[[fail]]')) throw failure('[[fail]]', host);
  const times = readNumber(markers, '[[fail*', Number.MAX_SAFE_INTEGER);
  if (times !== undefined && failsAgain(prompt, times, host)) throw failure(`[[fail*${times}]]`, host);
  if (!markers.has('[[refuse]]')) return markers;
  throw host.fault.make('request', 'the prompt asked for it with [[refuse]]', { status: 400, about: 'content' });
}

/** How often each prompt with `[[fail*N]]` has failed since it was last answered, by its digest. */
const failed = new WeakMap<Host, Map<string, number>>();
/** Of prompts that nobody repeats, so many are remembered. */
const PROMPTS_MAX = 1_000;

function failsAgain(prompt: string, times: number, host: Host): boolean {
  const counts = failed.get(host) ?? new Map<string, number>();
  failed.set(host, counts);
  const digest = createHash('sha256').update(prompt).digest('base64');
  const count = counts.get(digest) ?? 0;
  counts.delete(digest);
  if (count >= times) return false;
  counts.set(digest, count + 1);
  if (counts.size > PROMPTS_MAX) counts.delete(counts.keys().next().value as string);
  return true;
}

export function failure(marker: string, host: Host) {
  return host.fault.make('server', `the prompt asked for a failure with ${marker}`, { status: 500 });
}

/** Rejects when the signal aborts, and does nothing before. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
