// What happens to a request's tools at models with and without tool support.
import type { RequestContent, RequestMessage, RequestResult, RequestTools, TextRequest } from './request.ts';

/** Whether a model with tool support suits the request better. */
export function usesTools({ tools, hasCalls }: Pick<TextRequest, 'tools' | 'hasCalls'>): boolean {
  return tools !== undefined || hasCalls === true;
}

/** Whether the client demands a tool call. */
export function demandsTool({ tools }: Pick<TextRequest, 'tools'>): boolean {
  return tools?.choice === 'any' || typeof tools?.choice === 'object';
}

/** Whether the client demands a call of one particular tool. */
export function demandsCertainTool({ tools }: Pick<TextRequest, 'tools'>): boolean {
  return typeof tools?.choice === 'object' || (tools?.choice === 'any' && tools.list.length === 1);
}

/** The messages for a model without tools: texts and images of results are kept, calls are not. */
export function dropTools({ messages, hasCalls }: TextRequest): readonly RequestMessage[] {
  return hasCalls ? rewriteMessages(messages, (part) => (part.type === 'tool-result' ? part.content : [])) : messages;
}

/** The messages without the exchange between tools and their callers. */
export function dropToolTalk({ messages, hasCalls }: TextRequest): readonly RequestMessage[] {
  return hasCalls ? rewriteMessages(messages, () => []) : messages;
}

/** The tools without fields that the upstream's format does not have. */
export function fitFields(tools: RequestTools, { messageFormat }: { readonly messageFormat?: boolean }): RequestTools {
  if (messageFormat || !tools.list.some(({ messageFields }) => messageFields)) return tools;
  return { ...tools, list: tools.list.map(({ messageFields: _, ...tool }) => tool) };
}

/** The messages for an upstream without tool references: each becomes the name of its tool. */
export function convertReferencesToText(messages: readonly RequestMessage[]): readonly RequestMessage[] {
  return messages.map((message) => ({ ...message, content: message.content.map(readReference) }));
}

function readReference(part: RequestContent): RequestContent {
  if (part.type === 'tool-reference') return { type: 'text', text: part.name };
  if (part.type !== 'tool-result') return part;
  return { ...part, content: part.content.map(readReference) as RequestResult['content'] };
}

function rewriteMessages(
  messages: readonly RequestMessage[],
  change: (part: RequestContent) => readonly RequestContent[],
): readonly RequestMessage[] {
  const isTool = ({ type }: RequestContent) => type === 'tool-call' || type === 'tool-result';
  return messages
    .map(({ role, content }) => ({ role, content: content.flatMap((part) => (isTool(part) ? change(part) : [part])) }))
    .filter(({ content }) => content.some(({ type }) => type !== 'reasoning'));
}
