// Counts with their nouns, for messages.

/** `1 model`, `2 models`; `plural` unless it is the noun with an s. */
export function pluralize(count: number | bigint, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 || count === 1n ? noun : plural}`;
}
