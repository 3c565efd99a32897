// A picture or video request in steps, for the thread that parses long ones.
import type { RequestPicture } from '../media/reference.ts';
import {
  type Cut,
  groupSteps,
  type Joining,
  type PictureStep,
  pictureStep,
  receivedPicture,
  slicesOf,
} from './parts.ts';

/** A request with a prompt and pictures to start from. */
export interface Prompted {
  readonly prompt: string;
  readonly pictures: readonly RequestPicture[];
}

/** More of the prompt, or a picture. */
export type ImageStep = { readonly text: string } | PictureStep;

/** The head has neither a prompt nor pictures. */
export function cutPrompted<Request extends Prompted>(whole: Request): Cut<Request> {
  const charactersOf = (step: ImageStep) => ('text' in step ? step.text.length : 0);
  return { head: { ...whole, prompt: '', pictures: [] }, groups: groupSteps(stepsOf(whole), charactersOf) };
}

function* stepsOf({ prompt, pictures }: Prompted): Generator<ImageStep> {
  for (const text of slicesOf(prompt)) yield { text };
  for (const picture of pictures) yield pictureStep(picture);
}

export function joinPrompted<Request extends Prompted>(head: Request): Joining<Request, ImageStep> {
  const pictures: RequestPicture[] = [];
  let prompt = '';
  return {
    add(group) {
      for (const step of group) {
        if ('text' in step) prompt += step.text;
        else pictures.push(receivedPicture(step.picture));
      }
    },
    whole: () => ({ ...head, prompt, pictures }),
  };
}
