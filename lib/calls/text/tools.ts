// What happens to a request's tools at models with and without tool support.
import type { RequestContent, RequestMessage, TextRequest } from './request.ts';

/** Whether a model with tools is better for it than one without. */
export function usesTools({ tools, hasCalls }: Pick<TextRequest, 'tools' | 'hasCalls'>): boolean {
  return tools !== undefined || hasCalls === true;
}

/** Whether an answer without a call would not be what was asked for. */
export function demandsTool({ tools }: Pick<TextRequest, 'tools'>): boolean {
  return tools?.choice === 'any' || typeof tools?.choice === 'object';
}

/** The messages for a model without tools: texts and pictures of results are kept, calls are not. */
export function withoutTools({ messages, hasCalls }: TextRequest): readonly RequestMessage[] {
  return hasCalls ? rewrite(messages, (part) => (part.type === 'tool-result' ? part.content : [])) : messages;
}

/** The messages without the exchange between tools and their callers. */
export function withoutTalk({ messages, hasCalls }: TextRequest): readonly RequestMessage[] {
  return hasCalls ? rewrite(messages, () => []) : messages;
}

function rewrite(
  messages: readonly RequestMessage[],
  change: (part: RequestContent) => readonly RequestContent[],
): readonly RequestMessage[] {
  const isTool = ({ type }: RequestContent) => type === 'tool-call' || type === 'tool-result';
  return messages
    .map(({ role, content }) => ({ role, content: content.flatMap((part) => (isTool(part) ? change(part) : [part])) }))
    .filter(({ content }) => content.some(({ type }) => type !== 'reasoning'));
}
