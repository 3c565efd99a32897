// Splits image and video requests for the transfer from the parsing thread, and joins them again.
import type { RequestImage } from '../media/reference.ts';
import {
  type Cut,
  createImageStep,
  groupSteps,
  type ImageStep,
  type Joining,
  receiveImage,
  sliceLongText,
} from './parts.ts';

/** A request with a prompt and input images. */
export interface PromptRequest {
  readonly prompt: string;
  readonly images: readonly RequestImage[];
}

/** A slice of the prompt, or an image. */
type PromptStep = { readonly text: string } | ImageStep;

/** The head has neither the prompt nor the images. */
export function cutPromptRequest<Request extends PromptRequest>(whole: Request): Cut<Request> {
  const countCharacters = (step: PromptStep) => ('text' in step ? step.text.length : 0);
  return { head: { ...whole, prompt: '', images: [] }, groups: groupSteps(listSteps(whole), countCharacters) };
}

function* listSteps({ prompt, images }: PromptRequest): Generator<PromptStep> {
  for (const text of sliceLongText(prompt)) yield { text };
  for (const image of images) yield createImageStep(image);
}

export function joinPromptRequest<Request extends PromptRequest>(head: Request): Joining<Request, PromptStep> {
  const images: RequestImage[] = [];
  let prompt = '';
  return {
    add(group) {
      for (const step of group) {
        if ('text' in step) prompt += step.text;
        else images.push(receiveImage(step.image));
      }
    },
    whole: () => ({ ...head, prompt, images }),
  };
}
