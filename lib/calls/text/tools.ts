// What happens to a request's tools at models with and without tool support.
import type { RequestContent, RequestMessage, RequestResult, RequestTools, TextRequest } from './request.ts';

/** Whether a model with tools is better for it than one without. */
export function usesTools({ tools, hasCalls }: Pick<TextRequest, 'tools' | 'hasCalls'>): boolean {
  return tools !== undefined || hasCalls === true;
}

/** Whether an answer without a call would not be what was asked for. */
export function demandsTool({ tools }: Pick<TextRequest, 'tools'>): boolean {
  return tools?.choice === 'any' || typeof tools?.choice === 'object';
}

/** Whether the call that is required is one of a certain tool. */
export function demandsCertainTool({ tools }: Pick<TextRequest, 'tools'>): boolean {
  return typeof tools?.choice === 'object' || (tools?.choice === 'any' && tools.list.length === 1);
}

/** The messages for a model without tools: texts and images of results are kept, calls are not. */
export function withoutTools({ messages, hasCalls }: TextRequest): readonly RequestMessage[] {
  return hasCalls ? rewrite(messages, (part) => (part.type === 'tool-result' ? part.content : [])) : messages;
}

/** The messages without the exchange between tools and their callers. */
export function withoutTalk({ messages, hasCalls }: TextRequest): readonly RequestMessage[] {
  return hasCalls ? rewrite(messages, () => []) : messages;
}

/** The tools without what an upstream's format does not have. */
export function fitFields(tools: RequestTools, { messageFormat }: { readonly messageFormat?: boolean }): RequestTools {
  if (messageFormat || !tools.list.some(({ messageFields }) => messageFields)) return tools;
  return { ...tools, list: tools.list.map(({ messageFields: _, ...tool }) => tool) };
}

/** The messages for an upstream that knows no references: a tool's name says the same. */
export function withReferencesAsText(messages: readonly RequestMessage[]): readonly RequestMessage[] {
  return messages.map((message) => ({ ...message, content: message.content.map(readReference) }));
}

function readReference(part: RequestContent): RequestContent {
  if (part.type === 'tool-reference') return { type: 'text', text: part.name };
  if (part.type !== 'tool-result') return part;
  return { ...part, content: part.content.map(readReference) as RequestResult['content'] };
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
