// A text request in steps, for the thread that parses long ones.

import type { RequestContent, RequestMessage, RequestResult, TextRequest } from '../calls/text/request.ts';
import type {
  ReasoningContent,
  TextContent,
  Tool,
  ToolCallContent,
  ToolReferenceContent,
} from '../upstream/contract/provider.ts';
import {
  type Cut,
  createImageStep,
  type FileStep,
  groupSteps,
  type ImageStep,
  type Joining,
  receiveImage,
  sliceLongText,
} from './parts.ts';

/** A content with one text, which may be long. */
type LongContent = TextContent | ReasoningContent | ToolCallContent;

/**
 * A message without its content, one content of the last message, more text of the last content, a result without its
 * content (whose own contents follow until its end), a part of the system prompt, a tool.
 */
type TextStep =
  | { readonly message: RequestMessage }
  | { readonly content: LongContent }
  | ImageStep
  | FileStep
  | { readonly text: string }
  | { readonly result: RequestResult }
  | { readonly reference: ToolReferenceContent }
  | { readonly end: 'result' }
  | { readonly tool: Tool }
  | { readonly system: TextContent };

/** Its head has no system prompt, messages or tool definitions. */
export function cutTextRequest(whole: TextRequest): Cut<TextRequest> {
  const { tools } = whole;
  const head = { ...whole, system: undefined, messages: [], ...(tools && { tools: { ...tools, list: [], text: '' } }) };
  return { head, groups: groupSteps(listTextSteps(whole), countTextStepCharacters) };
}

function countTextStepCharacters(step: TextStep): number {
  if ('content' in step) return readLongText(step.content).length;
  if ('text' in step) return step.text.length;
  if ('tool' in step) return TOOL_CHARACTERS;
  return 'system' in step ? step.system.text.length : 0;
}

/** Approximate. */
const TOOL_CHARACTERS = 4096;

function* listTextSteps({ system, messages, tools }: TextRequest): Generator<TextStep> {
  for (const part of system ?? []) {
    const [first = '', ...more] = sliceLongText(part.text);
    yield { system: { ...part, text: first } };
    for (const text of more) yield { text };
  }
  for (const tool of tools?.list ?? []) yield { tool };
  for (const message of messages) {
    yield { message: { ...message, content: [] } };
    for (const content of message.content) yield* contentSteps(content);
  }
}

function* contentSteps(content: RequestContent): Generator<TextStep> {
  switch (content.type) {
    case 'image':
      yield createImageStep(content);
      return;
    case 'document':
    case 'audio':
      yield { file: content };
      return;
    case 'tool-reference':
      yield { reference: content };
      return;
    case 'tool-result':
      yield { result: { ...content, content: [] } };
      for (const inner of content.content) yield* contentSteps(inner);
      yield { end: 'result' };
      return;
    default: {
      const [first = '', ...more] = sliceLongText(readLongText(content));
      yield { content: withText(content, first) };
      for (const text of more) yield { text };
    }
  }
}

function readLongText(content: LongContent): string {
  return content.type === 'tool-call' ? content.json : content.text;
}

function withText<Content extends LongContent>(content: Content, text: string): Content {
  return content.type === 'tool-call' ? { ...content, json: text } : { ...content, text };
}

export function joinTextRequest(head: TextRequest): Joining<TextRequest, TextStep> {
  const messages: (RequestMessage & { content: RequestContent[] })[] = [];
  const list: Tool[] = [];
  const system: TextContent[] = [];
  /** Where contents and more text go: the system prompt, the last message, or the open result. */
  let contents: RequestContent[] = system;

  function add(step: TextStep): void {
    if ('message' in step) {
      contents = [];
      messages.push({ ...step.message, content: contents });
    } else if ('system' in step) system.push(step.system);
    else if ('tool' in step) list.push(step.tool);
    else if ('result' in step) open(step.result);
    else if ('end' in step) contents = messages.at(-1)?.content ?? [];
    else if ('content' in step) contents.push(step.content);
    else if ('image' in step) contents.push(receiveImage(step.image));
    else if ('file' in step) contents.push(step.file);
    else if ('reference' in step) contents.push(step.reference);
    else append(step.text);
  }

  function open(result: RequestResult): void {
    const inner: RequestResult['content'][number][] = [];
    contents.push({ ...result, content: inner });
    contents = inner as RequestContent[];
  }

  function append(text: string): void {
    const last = contents.at(-1);
    // A rope: nothing is copied.
    if (last?.type === 'text' || last?.type === 'reasoning' || last?.type === 'tool-call') {
      contents[contents.length - 1] = withText(last, readLongText(last) + text);
    }
  }

  return {
    add: (group) => {
      for (const step of group) add(step);
    },
    whole: () => ({
      ...head,
      system: system.length > 0 ? system : undefined,
      messages,
      ...(head.tools && { tools: { ...head.tools, list } }),
    }),
  };
}
