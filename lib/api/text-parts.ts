// A text request in steps: what one thread hands another is copied while nothing else runs, so little is handed over at
// a time, long texts in slices too.
import assert from 'node:assert/strict';
import { createImage, freeBytes } from '../media/image.ts';
import { sniffImage } from '../media/sniff.ts';
import type { TextContent } from '../plugin/contract.ts';
import type { RequestContent, RequestMessage, RequestPicture, TextRequest } from '../text/request.ts';

/** What the thread is asked: to parse a body, then for what it found until there is no more. */
export type ParseOrder = { readonly dialect: 'message' | 'chat'; readonly bytes: Uint8Array } | 'next';

/** What it answers: the request without its texts, then the steps that add them. */
export type PartReply =
  | { readonly request: TextRequest; readonly more: boolean }
  | { readonly steps: readonly Step[]; readonly more: boolean };

export type ParseReply =
  | PartReply
  | { readonly fault: { readonly code: string; readonly detail: object } }
  | { readonly error: unknown };

/** A message without its content, one content of the last message, more of the text of the last content. */
export type Step =
  | { readonly message: RequestMessage }
  | { readonly content: TextContent }
  | { readonly picture: SentPicture }
  | { readonly text: string }
  | { readonly system: string };

/** A link, or the bytes of a picture, which change hands without a copy. */
interface SentPicture extends Pick<RequestPicture, 'field'> {
  readonly source: string | Uint8Array<ArrayBuffer>;
}

const STEPS_MAX = 1000;
const CHARACTERS_MAX = 1024 * 1024;

export interface CutRequest {
  /** Without its system prompt and its messages. */
  readonly request: TextRequest;
  readonly groups: Generator<readonly Step[]>;
}

/** Cuts a request into groups of steps that are quick to copy. */
export function cutRequest(whole: TextRequest): CutRequest {
  return { request: { ...whole, system: undefined, messages: [] }, groups: groupSteps(whole) };
}

function* groupSteps(request: TextRequest): Generator<readonly Step[]> {
  let group: Step[] = [];
  let characters = 0;
  for (const step of stepsOf(request)) {
    group.push(step);
    if ('content' in step) characters += step.content.text.length;
    else if ('text' in step) characters += step.text.length;
    else if ('system' in step) characters += step.system.length;
    if (group.length < STEPS_MAX && characters < CHARACTERS_MAX) continue;
    yield group;
    [group, characters] = [[], 0];
  }
  if (group.length > 0) yield group;
}

function* stepsOf({ system, messages }: TextRequest): Generator<Step> {
  if (system !== undefined) for (const slice of slicesOf(system)) yield { system: slice };
  for (const message of messages) {
    yield { message: { ...message, content: [] } };
    for (const content of message.content) {
      if (content.type === 'picture') {
        yield { picture: sentPicture(content) };
        continue;
      }
      const [first = '', ...more] = slicesOf(content.text);
      yield { content: { ...content, text: first } };
      for (const text of more) yield { text };
    }
  }
}

function sentPicture({ field, source }: RequestPicture): SentPicture {
  return { field, source: typeof source === 'string' ? source : (source.bytes as Uint8Array<ArrayBuffer>) };
}

/** The memory of a group's pictures, to be handed over. */
export function memoryOf(steps: readonly Step[]): ArrayBuffer[] {
  return steps.flatMap((step) =>
    'picture' in step && typeof step.picture.source !== 'string' ? [step.picture.source.buffer] : [],
  );
}

/** The picture as it was read on the other side. */
function receivedPicture({ field, source }: SentPicture): RequestPicture {
  if (typeof source === 'string') return { type: 'picture', field, source };
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  const sniffed = sniffImage(bytes);
  assert(sniffed, 'what was read as a picture is one');
  return { type: 'picture', field, source: createImage({ bytes, release: () => freeBytes(bytes) }, sniffed) };
}

function* slicesOf(text: string): Generator<string> {
  for (let from = 0; from === 0 || from < text.length; from += CHARACTERS_MAX) {
    yield text.slice(from, from + CHARACTERS_MAX);
  }
}

/** Puts a request together again. */
export function joinRequest(request: TextRequest): { add(steps: readonly Step[]): void; whole(): TextRequest } {
  const messages: (RequestMessage & { content: RequestContent[] })[] = [];
  let system: string | undefined;

  function add(step: Step): void {
    if ('message' in step) messages.push({ ...step.message, content: [] });
    else if ('system' in step) system = (system ?? '') + step.system;
    else {
      const contents = messages.at(-1)?.content ?? [];
      const last = contents.at(-1);
      if ('content' in step) contents.push(step.content);
      else if ('picture' in step) contents.push(receivedPicture(step.picture));
      // A rope: nothing is copied.
      else if (last?.type === 'text') contents[contents.length - 1] = { ...last, text: last.text + step.text };
    }
  }

  return {
    add: (steps) => {
      for (const step of steps) add(step);
    },
    whole: () => ({ ...request, system, messages }),
  };
}
