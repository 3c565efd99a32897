// A text request in steps, for the thread that parses long ones.
import type { TextContent } from '../plugin/contract.ts';
import type { RequestContent, RequestMessage, TextRequest } from '../text/request.ts';
import {
  type Cut,
  groupSteps,
  type Joining,
  type PictureStep,
  pictureStep,
  receivedPicture,
  slicesOf,
} from './parts.ts';

/** A message without its content, one content of the last message, more of the text of the last content. */
export type TextStep =
  | { readonly message: RequestMessage }
  | { readonly content: TextContent }
  | PictureStep
  | { readonly text: string }
  | { readonly system: string };

/** Its head has neither a system prompt nor messages. */
export function cutTextRequest(whole: TextRequest): Cut<TextRequest> {
  return { head: { ...whole, system: undefined, messages: [] }, groups: groupSteps(stepsOf(whole), charactersOf) };
}

function charactersOf(step: TextStep): number {
  if ('content' in step) return step.content.text.length;
  if ('text' in step) return step.text.length;
  return 'system' in step ? step.system.length : 0;
}

function* stepsOf({ system, messages }: TextRequest): Generator<TextStep> {
  if (system !== undefined) for (const slice of slicesOf(system)) yield { system: slice };
  for (const message of messages) {
    yield { message: { ...message, content: [] } };
    for (const content of message.content) {
      if (content.type === 'picture') {
        yield pictureStep(content);
        continue;
      }
      const [first = '', ...more] = slicesOf(content.text);
      yield { content: { ...content, text: first } };
      for (const text of more) yield { text };
    }
  }
}

export function joinTextRequest(head: TextRequest): Joining<TextRequest, TextStep> {
  const messages: (RequestMessage & { content: RequestContent[] })[] = [];
  let system: string | undefined;

  function add(step: TextStep): void {
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
    add: (group) => {
      for (const step of group) add(step);
    },
    whole: () => ({ ...head, system, messages }),
  };
}
