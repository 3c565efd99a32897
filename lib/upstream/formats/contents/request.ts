// Writes messages and tools of a call in the contents format, where everything is a part.

import { readArguments } from '../../../stream/arguments.ts';
import type {
  AudioContent,
  Base64,
  Content,
  ContentsCall,
  ContentsQuirks,
  DocumentContent,
  ImageContent,
  JsonObject,
  ReasoningContent,
  TextMessage,
  ToolResultContent,
  Tools,
} from '../../contract/provider.ts';
import { writeDocumentText } from '../document-text.ts';
import { CONTENTS_FORMAT } from '../names.ts';
import { mergeSystemMessages } from '../system-messages.ts';
import { joinTurns } from '../turns.ts';
import { findTurnSignatures, type TurnSignatures } from './turn-signatures.ts';

export function contentsBody(call: ContentsCall, base64: Base64, quirks: ContentsQuirks = {}): JsonObject {
  // The format has none between others.
  const { system, messages, tools } = mergeSystemMessages(call);
  return {
    ...(system && { systemInstruction: { parts: [{ text: system.map(({ text }) => text).join('\n\n') }] } }),
    // A call is refused behind another message of the model.
    contents: joinTurns(messages, 'assistant').map((message) => writeContents(message, base64, quirks)),
    ...(tools && writeContentsTools(tools)),
  };
}

function writeContents({ role, content }: TextMessage, base64: Base64, { noSignature }: ContentsQuirks): object {
  const calls = content.filter((part) => part.type === 'tool-call');
  // Parallel calls have one signature, on the first.
  const unsigned = calls.some(({ state }) => state?.format === CONTENTS_FORMAT) ? undefined : calls[0];
  const { signed, spent } = (role === 'assistant' && findTurnSignatures(content, noSignature)) || NO_IMAGES;
  return {
    role: role === 'assistant' ? 'model' : 'user',
    parts: content
      .filter((part) => !spent?.has(part))
      .flatMap((part) => writeParts(part, base64, part === unsigned ? noSignature : signed?.get(part))),
  };
}

const NO_IMAGES: Partial<TurnSignatures> = {};

function writeParts(content: Content, base64: Base64, signature: string | undefined): readonly object[] {
  switch (content.type) {
    case 'text':
      return [{ text: content.text, ...writeSignature(signature) }];
    case 'image':
      return [{ ...writeInlineData(content, base64), ...writeSignature(signature) }];
    case 'audio':
      return [writeInlineData(content, base64)];
    case 'document':
      return [writeContentsDocument(content, base64)];
    case 'reasoning':
      return writeThought(content);
    case 'tool-call': {
      const { id, name, json, state } = content;
      const thoughtSignature = state?.format === CONTENTS_FORMAT ? state.value : signature;
      return [{ functionCall: { id, name, args: readArguments(json) }, thoughtSignature }];
    }
    case 'tool-result':
      return writeFunctionResponse(content, base64);
    case 'tool-reference':
      return [{ text: content.name }];
  }
}

function writeSignature(thoughtSignature: string | undefined): object {
  return thoughtSignature === undefined ? {} : { thoughtSignature };
}

function writeContentsDocument(content: DocumentContent, base64: Base64): object {
  if (content.mediaType.startsWith('text/')) return { text: writeDocumentText(content) };
  return writeInlineData(content, base64);
}

/** The state of a part without text is no thought of its own. */
function writeThought({ text, state }: ReasoningContent): readonly object[] {
  if (state?.format !== CONTENTS_FORMAT) return [];
  return [{ text, ...(text !== '' && { thought: true }), thoughtSignature: state.value }];
}

/** Images follow the response: only the newest models accept them inside. */
function writeFunctionResponse({ id, name, isError, content }: ToolResultContent, base64: Base64): readonly object[] {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const files = content.filter((part) => part.type !== 'text');
  const said = texts.length > 1 ? texts : (texts[0] ?? '');
  const response = isError ? { error: said } : { output: said };
  return [
    { functionResponse: { id, name, response } },
    ...files.flatMap((file) => writeParts(file, base64, undefined)),
  ];
}

function writeInlineData({ mediaType, bytes }: AudioContent | DocumentContent | ImageContent, base64: Base64): object {
  return { inlineData: { mimeType: mediaType, data: base64(bytes) } };
}

function writeContentsTools({ list, choice }: Tools): object {
  const functionDeclarations = list.map(({ name, description, schema }) => ({
    name,
    description,
    parametersJsonSchema: schema,
  }));
  const functionCallingConfig = choice !== undefined && writeFunctionCallingConfig(choice);
  return { tools: [{ functionDeclarations }], ...(functionCallingConfig && { toolConfig: { functionCallingConfig } }) };
}

function writeFunctionCallingConfig(choice: NonNullable<Tools['choice']>): object {
  if (typeof choice === 'object') return { mode: 'ANY', allowedFunctionNames: [choice.name] };
  return { mode: choice.toUpperCase() };
}
