// Writes messages and tools of a call in the messages format.

import { readArguments } from '../../../stream/arguments.ts';
import type { Base64, Content, JsonObject, TextCall, TextMessage, Tools } from '../../contract/provider.ts';
import { MESSAGE_TOOL, messageCall, writeTool } from '../tools.ts';

export function messageBody(call: TextCall, base64: Base64): JsonObject {
  const { model, maxTokens, system, messages } = call;
  return {
    model,
    max_tokens: maxTokens,
    ...(system !== undefined && { system }),
    messages: messages.map((message) => messageOf(message, base64)),
    ...toolsOf(call),
    stream: true,
  };
}

/** A single block of text is sent as a plain string: it means the same, and small servers accept nothing else. */
function messageOf({ role, content }: TextMessage, base64: Base64): object {
  const [first] = content;
  if (first?.type === 'text' && content.length === 1) return { role, content: first.text };
  // Results are refused after anything else.
  const results = content.filter((part) => part.type === 'tool-result');
  const inOrder = results.length > 0 ? [...results, ...content.filter((part) => part.type !== 'tool-result')] : content;
  return { role, content: inOrder.map((part) => blockOf(part, base64)) };
}

function blockOf(content: Content, base64: Base64): object {
  switch (content.type) {
    case 'text':
      return { type: 'text', text: content.text };
    case 'image': {
      const { mediaType, bytes } = content;
      return { type: 'image', source: { type: 'base64', media_type: mediaType, data: base64(bytes) } };
    }
    case 'tool-call':
      return messageCall({ id: idOf(content), name: content.name }, readArguments(content.json));
    case 'tool-result': {
      const { isError, content: blocks } = content;
      const result = {
        type: 'tool_result',
        tool_use_id: idOf(content),
        content: blocks.map((part) => blockOf(part, base64)),
      };
      return isError ? { ...result, is_error: true } : result;
    }
  }
}

/** Ids from other upstreams may have other characters, and differ only in these. */
function idOf({ id }: { readonly id: string }): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, (character) => `_${character.charCodeAt(0).toString(16)}`);
}

/** A history with calls is refused without definitions. */
function toolsOf({ tools, messages }: TextCall): object {
  if (tools) return { tools: tools.list.map((tool) => writeTool(tool, MESSAGE_TOOL)), ...choiceOf(tools) };
  const names = new Set<string>();
  for (const { content } of messages) for (const part of content) if (part.type === 'tool-call') names.add(part.name);
  if (names.size === 0) return {};
  return {
    tools: [...names].map((name) => writeTool({ name, schema: { type: 'object' } }, MESSAGE_TOOL)),
    tool_choice: { type: 'none' },
  };
}

function choiceOf({ choice, single }: Tools): object {
  if (choice === undefined && !single) return {};
  if (choice === 'none') return { tool_choice: { type: 'none' } };
  const type = typeof choice === 'object' ? { type: 'tool', name: choice.name } : { type: choice ?? 'auto' };
  return { tool_choice: { ...type, ...(single && { disable_parallel_tool_use: true }) } };
}
