// Messages and tools of a call in the words of the messages format.
import type { Base64, Content, Host, TextCall, TextMessage, Tools } from '../../lib/plugin/contract.ts';

interface Writing {
  readonly base64: Base64;
  readonly read: Host['argumentsOf'];
}

/** One block of text goes as a plain string: it reads the same and small servers take nothing else. */
export function messageOf({ role, content }: TextMessage, writing: Writing): object {
  const [first] = content;
  if (first?.type === 'text' && content.length === 1) return { role, content: first.text };
  // Results are refused after anything else.
  const results = content.filter((part) => part.type === 'tool-result');
  const inOrder = results.length > 0 ? [...results, ...content.filter((part) => part.type !== 'tool-result')] : content;
  return { role, content: inOrder.map((part) => blockOf(part, writing)) };
}

function blockOf(content: Content, writing: Writing): object {
  switch (content.type) {
    case 'text':
      return { type: 'text', text: content.text };
    case 'image': {
      const { mediaType, bytes } = content;
      return { type: 'image', source: { type: 'base64', media_type: mediaType, data: writing.base64(bytes) } };
    }
    case 'tool-call':
      return { type: 'tool_use', id: idOf(content), name: content.name, input: writing.read(content.json) };
    case 'tool-result': {
      const { isError, content: blocks } = content;
      const result = {
        type: 'tool_result',
        tool_use_id: idOf(content),
        content: blocks.map((part) => blockOf(part, writing)),
      };
      return isError ? { ...result, is_error: true } : result;
    }
  }
}

/** Ids of other upstreams may have other characters. */
function idOf({ id }: { readonly id: string }): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, '_');
}

/** History with calls is refused without definitions. */
export function toolsOf({ tools, messages }: TextCall): object {
  if (tools) return { tools: tools.list.map(toolOf), ...choiceOf(tools) };
  const names = new Set<string>();
  for (const { content } of messages) for (const part of content) if (part.type === 'tool-call') names.add(part.name);
  if (names.size === 0) return {};
  return {
    tools: [...names].map((name) => ({ name, input_schema: { type: 'object' } })),
    tool_choice: { type: 'none' },
  };
}

function toolOf({ name, description, schema, strict }: Tools['list'][number]): object {
  return { name, description, input_schema: schema, strict };
}

function choiceOf({ choice, single }: Tools): object {
  if (choice === undefined && !single) return {};
  if (choice === 'none') return { tool_choice: { type: 'none' } };
  const type = typeof choice === 'object' ? { type: 'tool', name: choice.name } : { type: choice ?? 'auto' };
  return { tool_choice: { ...type, ...(single && { disable_parallel_tool_use: true }) } };
}
