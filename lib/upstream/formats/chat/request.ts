// Writes messages and tools of a call as chat completions.
import type {
  Base64,
  ChatQuirks,
  Content,
  ImageContent,
  JsonObject,
  TextCall,
  TextContent,
  TextMessage,
  ToolResultContent,
  Tools,
} from '../../contract/provider.ts';
import { dataUrlOf } from '../../host/data-url.ts';
import { CHAT_TOOL, chatCall, writeTool } from '../tools.ts';

export function chatBody(call: TextCall, base64: Base64, { hasBlankThoughts = false }: ChatQuirks = {}): JsonObject {
  const { model, system, messages, tools } = call;
  const isBlank = hasBlankThoughts && (tools !== undefined || messages.some(hasCalls));
  const written = messages.flatMap((message) => {
    const made = messagesOf(message, base64);
    return isBlank && message.role === 'assistant' ? made.map((each) => ({ ...each, ...BLANK_THOUGHTS })) : made;
  });
  if (system !== undefined) written.unshift({ role: 'system', content: system });
  return { model, messages: written, ...(tools && toolsOf(tools)), stream: true };
}

/** Not empty, because an empty list is refused. */
const BLANK_THOUGHTS = { reasoning_content: ' ' };

function hasCalls({ content }: TextMessage): boolean {
  return content.some(({ type }) => type === 'tool-call');
}

/** One message or several: tool results are separate messages, and come first. */
function messagesOf({ role, content }: TextMessage, base64: Base64): readonly object[] {
  const said = content.filter((part) => part.type === 'text' || part.type === 'image');
  if (said.length === content.length) return [{ role, content: contentOf(said, base64) }];
  if (role === 'assistant') {
    return [{ role, content: said.length > 0 ? contentOf(said, base64) : null, tool_calls: callsOf(content) }];
  }
  const results = content.filter((part) => part.type === 'tool-result');
  return [
    ...results.map(resultOf),
    ...picturesOf(results, base64),
    ...(said.length > 0 ? [{ role, content: contentOf(said, base64) }] : []),
  ];
}

/** A single block of text is sent as a plain string: small servers read nothing else. */
function contentOf(content: readonly (TextContent | ImageContent)[], base64: Base64): unknown {
  const [first] = content;
  if (first?.type === 'text' && content.length === 1) return first.text;
  return content.map((part) => blockOf(part, base64));
}

function blockOf(content: TextContent | ImageContent, base64: Base64): object {
  if (content.type === 'text') return { type: 'text', text: content.text };
  return { type: 'image_url', image_url: { url: dataUrlOf(content, base64) } };
}

function callsOf(content: readonly Content[]): readonly object[] {
  return content.filter((part) => part.type === 'tool-call').map((call) => chatCall(call, call.json));
}

/** The format has no field for errors, so the text says it. */
function resultOf({ id, isError, content }: ToolResultContent): object {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  if (texts.length === 0) texts.push(content.length > 0 ? 'The image follows.' : '');
  if (isError) texts[0] = `Error: ${texts[0]}`;
  const blocks = texts.map((text) => ({ type: 'text', text }));
  return { role: 'tool', tool_call_id: id, content: texts.length === 1 ? texts[0] : blocks };
}

/** Nor may a result contain pictures: they follow in a user message. */
function picturesOf(results: readonly ToolResultContent[], base64: Base64): readonly object[] {
  const blocks = results.flatMap(({ id, content }) => {
    const pictures = content.filter((part) => part.type === 'image');
    if (pictures.length === 0) return [];
    return [{ type: 'text', text: `Of the result of ${id}:` }, ...pictures.map((picture) => blockOf(picture, base64))];
  });
  return blocks.length > 0 ? [{ role: 'user', content: blocks }] : [];
}

function toolsOf({ list, choice, single }: Tools): object {
  return {
    tools: list.map((tool) => writeTool(tool, CHAT_TOOL)),
    ...(choice !== undefined && { tool_choice: choiceOf(choice) }),
    ...(single && { parallel_tool_calls: false }),
  };
}

function choiceOf(choice: NonNullable<Tools['choice']>): unknown {
  if (typeof choice === 'object') return { type: 'function', function: { name: choice.name } };
  return choice === 'any' ? 'required' : choice;
}
