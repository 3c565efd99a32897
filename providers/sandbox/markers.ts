// What `[[…]]` in a prompt asks for: an upstream having a bad day, or an answer of a certain length.
import type { Host } from '../../lib/upstream/contract/provider.ts';

const MARKER = /\[\[(?:fail|fail-mid|slow|stall|refuse|empty|undecodable|draw|words:\d+)\]\]/g;

/** No call may have more tokens than this, so no more words are made. */
const WORDS_MAX = 40_000;

/** The markers of a prompt, verbatim. */
type Markers = ReadonlySet<string>;

export function readMarkers(prompt: string): Markers {
  return new Set(prompt.match(MARKER));
}

export function removeMarkers(prompt: string): string {
  return prompt.replace(MARKER, ' ');
}

/** The exact number of words that the first `[[words:…]]` asks for. */
export function readWordCount(markers: Markers): number | undefined {
  const marker = [...markers].find((each) => each.startsWith('[[words:'));
  return marker === undefined ? undefined : Math.min(Number(/\d+/.exec(marker)), WORDS_MAX);
}

/** Stalls, fails or refuses before anything is made, if the prompt asks for it. */
export async function sufferFrom(markers: Markers, host: Host, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (markers.has('[[stall]]')) await untilAborted(signal);
  if (markers.has('[[fail]]')) throw failure('[[fail]]', host);
  if (!markers.has('[[refuse]]')) return;
  throw host.fault.make('request', 'the prompt asked for it with [[refuse]]', { status: 400, about: 'content' });
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
