// Texts that are recorded: a test compares them with a file, or writes the file when `PAGES=record` is set.
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';

const END = '\n\n';

/** One by one, so that a failure shows the first text that differs, not all of them. */
export function expectRecorded(file: URL, texts: readonly string[]): void {
  if (process.env.PAGES === 'record') writeFileSync(file, texts.join(END));
  const recorded = readFileSync(file, 'utf8').split(END);
  for (const [at, text] of texts.entries()) expect(text).to.equal(recorded[at]);
  expect(texts.length).to.equal(recorded.length);
}
