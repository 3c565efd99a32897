// The signatures of an earlier answer with images: vendors that sign refuse such an answer unless all that it says comes
// back signed.
import type { Content, ReasoningContent } from '../../contract/provider.ts';
import { CONTENTS_FORMAT } from '../names.ts';

export interface TurnSignatures {
  /** By text or image. */
  readonly signed: ReadonlyMap<Content, string>;
  /** What had them. */
  readonly spent: ReadonlySet<Content>;
}

/**
 * A signature belongs to what it follows. Where a client has moved them to the front, the last ones are those of the
 * images, each of which has one; of the texts, only the first may have one. `noSignature` stands for any that is missing.
 * Undefined for a turn without images.
 */
export function findTurnSignatures(content: readonly Content[], noSignature?: string): TurnSignatures | undefined {
  if (!content.some(({ type }) => type === 'image')) return undefined;
  const signed = new Map<Content, string>();
  const spent = new Set<Content>();
  const sign = (part: Content, { state }: ReasoningContent) => signed.set(part, state?.value ?? '');
  const loose: ReasoningContent[] = [];
  for (const [at, part] of content.entries()) {
    if (!isBareSignature(part)) continue;
    const before = content[at - 1];
    spent.add(part);
    if (before && isSaid(before)) sign(before, part);
    else loose.push(part);
  }
  const unsigned = content.filter((part) => isSaid(part) && !signed.has(part));
  const places = [
    ...unsigned.filter(({ type }) => type === 'image').reverse(),
    ...unsigned.filter(({ type }) => type === 'text'),
  ];
  for (const part of places) {
    const last = loose.pop();
    if (last) sign(part, last);
    else if (noSignature !== undefined) signed.set(part, noSignature);
  }
  return { signed, spent };
}

function isSaid({ type }: Content): boolean {
  return type === 'text' || type === 'image';
}

function isBareSignature(part: Content): part is ReasoningContent {
  return part.type === 'reasoning' && part.text === '' && part.state?.format === CONTENTS_FORMAT;
}
