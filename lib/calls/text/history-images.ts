// The images of earlier answers on their way to a model: where they were, if its vendor takes them there; else in the
// user message that follows, as far as the model sees images at all.
import type { RequestImage } from '../../media/reference.ts';
import { TOKENS_PER_IMAGE } from '../../stream/image-tokens.ts';
import type { TextContent } from '../../upstream/contract/provider.ts';
import type { InputEstimate, RequestContent, RequestMessage, TextRequest } from './request.ts';

interface Sight {
  /** The model sees images. */
  readonly vision: boolean;
  /** Its vendor takes them in assistant messages. */
  readonly answerImages: boolean;
}

/** Stands for images that the model is not sent, and for what was all of an answer. */
const PLACEHOLDER: TextContent = { type: 'text', text: '[image]' };
const MOVED: TextContent = { type: 'text', text: 'Of the answer before:' };

export function placeAnswerImages(
  messages: readonly RequestMessage[],
  { vision, answerImages }: Sight,
): readonly RequestMessage[] {
  if (vision && answerImages) return messages;
  const placed: RequestMessage[] = [];
  let moved: readonly RequestImage[] = [];
  for (const { role, content } of messages) {
    const images = role === 'assistant' ? content.filter((part) => part.type === 'image') : [];
    if (vision) moved = [...moved, ...images];
    const isNext = role === 'user' && moved.length > 0;
    placed.push({ role, content: isNext ? insertImages(content, moved) : dropImages(content, images, vision) });
    if (isNext) moved = [];
  }
  return moved.length > 0 ? [...placed, { role: 'user', content: insertImages([], moved) }] : placed;
}

/** Results of calls come first. */
function insertImages(content: readonly RequestContent[], images: readonly RequestImage[]): readonly RequestContent[] {
  const results = content.findIndex(({ type }) => type !== 'tool-result');
  const at = results < 0 ? content.length : results;
  return [...content.slice(0, at), MOVED, ...images, ...content.slice(at)];
}

function dropImages(
  content: readonly RequestContent[],
  images: readonly RequestImage[],
  vision: boolean,
): readonly RequestContent[] {
  if (images.length === 0) return content;
  const rest = content.filter((part) => !(images as readonly RequestContent[]).includes(part));
  const isTold = vision && rest.some(({ type }) => type !== 'reasoning');
  return isTold ? rest : addPlaceholder(rest);
}

/** To the last text, so that a small server still gets one text; calls come last. */
function addPlaceholder(content: readonly RequestContent[]): readonly RequestContent[] {
  const at = content.findLastIndex(({ type }) => type === 'text');
  const last = content[at];
  if (last?.type === 'text') return content.with(at, { ...last, text: `${last.text}\n\n${PLACEHOLDER.text}` });
  const calls = content.findIndex(({ type }) => type === 'tool-call');
  return content.toSpliced(calls < 0 ? content.length : calls, 0, PLACEHOLDER);
}

/** The estimate for models that are not sent them. */
export function withoutAnswerImages(estimate: InputEstimate, { answerImages = 0 }: TextRequest): InputEstimate {
  const tokens = TOKENS_PER_IMAGE * answerImages;
  return {
    ...estimate,
    tokens: estimate.tokens - tokens,
    tokensHeld: estimate.tokensHeld - tokens,
    tokensBuffered: estimate.tokensBuffered - tokens,
  };
}
