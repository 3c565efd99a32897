// Writes messages and tools of a call in the contents format, where everything is a part.

import { readArguments } from '../../../stream/arguments.ts';
import type {
  Base64,
  Content,
  ContentsCall,
  ContentsQuirks,
  JsonObject,
  Picture,
  TextMessage,
  ToolResultContent,
  Tools,
} from '../../contract/provider.ts';
import { CONTENTS_STATE } from './reply.ts';

export function contentsBody(
  { system, messages, tools }: ContentsCall,
  base64: Base64,
  quirks: ContentsQuirks = {},
): JsonObject {
  return {
    ...(system !== undefined && { systemInstruction: { parts: [{ text: system }] } }),
    contents: messages.map((message) => contentOf(message, base64, quirks)),
    ...(tools && toolsOf(tools)),
  };
}

function contentOf({ role, content }: TextMessage, base64: Base64, { noSignature }: ContentsQuirks): object {
  const calls = content.filter((part) => part.type === 'tool-call');
  // Parallel calls have one signature, on the first.
  const unsigned = calls.some(({ state }) => state?.format === CONTENTS_STATE) ? undefined : calls[0];
  return {
    role: role === 'assistant' ? 'model' : 'user',
    parts: content.flatMap((part) => partsOf(part, base64, part === unsigned ? noSignature : undefined)),
  };
}

function partsOf(content: Content, base64: Base64, signature: string | undefined): readonly object[] {
  switch (content.type) {
    case 'text':
      return [{ text: content.text }];
    case 'image':
      return [inlineOf(content, base64)];
    case 'tool-call': {
      const { id, name, json, state } = content;
      const thoughtSignature = state?.format === CONTENTS_STATE ? state.value : signature;
      return [{ functionCall: { id, name, args: readArguments(json) }, thoughtSignature }];
    }
    case 'tool-result':
      return responseOf(content, base64);
  }
}

/** Pictures follow the response: only the newest models accept them inside. */
function responseOf({ id, name, isError, content }: ToolResultContent, base64: Base64): readonly object[] {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const pictures = content.filter((part) => part.type === 'image');
  const said = texts.length > 1 ? texts : (texts[0] ?? '');
  const response = isError ? { error: said } : { output: said };
  return [{ functionResponse: { id, name, response } }, ...pictures.map((picture) => inlineOf(picture, base64))];
}

function inlineOf({ mediaType, bytes }: Picture, base64: Base64): object {
  return { inlineData: { mimeType: mediaType, data: base64(bytes) } };
}

function toolsOf({ list, choice }: Tools): object {
  const functionDeclarations = list.map(({ name, description, schema }) => ({
    name,
    description,
    parametersJsonSchema: schema,
  }));
  const functionCallingConfig = choice !== undefined && configOf(choice);
  return { tools: [{ functionDeclarations }], ...(functionCallingConfig && { toolConfig: { functionCallingConfig } }) };
}

function configOf(choice: NonNullable<Tools['choice']>): object {
  if (typeof choice === 'object') return { mode: 'ANY', allowedFunctionNames: [choice.name] };
  return { mode: choice.toUpperCase() };
}
