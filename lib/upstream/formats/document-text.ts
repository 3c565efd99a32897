// A document of text as a text, for models and vendors that have no place for its name.
import type { DocumentContent } from '../contract/provider.ts';

export function writeDocumentText({ name, bytes }: DocumentContent): string {
  const text = new TextDecoder().decode(bytes);
  return name === undefined ? text : `${name}\n\n${text}`;
}
