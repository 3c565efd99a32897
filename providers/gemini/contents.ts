// Messages and tools of a call in the words of the Gemini API.
import type {
  Base64,
  Content,
  Host,
  Picture,
  TextMessage,
  ToolResultContent,
  Tools,
} from '../../lib/plugin/contract.ts';

interface Writing {
  readonly base64: Base64;
  readonly read: Host['argumentsOf'];
  /** The model refuses calls without the signatures that it gave them. */
  readonly signs: boolean;
}

/** Since its third generation. */
export function isSigned(model: string): boolean {
  return !/gemini-[12]\b/.test(model);
}

/** What the vendor takes for the signature of a call that the model did not make itself, or whose own was lost. */
const NO_SIGNATURE = 'skip_thought_signature_validator';

export function contentOf({ role, content }: TextMessage, writing: Writing): object {
  const calls = content.filter((part) => part.type === 'tool-call');
  // Calls that were made together have one signature, on the first.
  const unsigned = writing.signs && !calls.some(({ state }) => state !== undefined) ? calls[0] : undefined;
  return {
    role: role === 'assistant' ? 'model' : 'user',
    parts: content.flatMap((part) => partsOf(part, writing, part === unsigned ? NO_SIGNATURE : undefined)),
  };
}

function partsOf(content: Content, writing: Writing, signature: string | undefined): readonly object[] {
  switch (content.type) {
    case 'text':
      return [{ text: content.text }];
    case 'image':
      return [inlineOf(content, writing.base64)];
    case 'tool-call': {
      const { id, name, json, state = signature } = content;
      return [{ functionCall: { id, name, args: writing.read(json) }, thoughtSignature: state }];
    }
    case 'tool-result':
      return responseOf(content, writing.base64);
  }
}

/** Pictures follow the response: only the newest models take them inside. */
function responseOf({ id, name, isError, content }: ToolResultContent, base64: Base64): readonly object[] {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const pictures = content.filter((part) => part.type === 'image');
  const said = texts.length > 1 ? texts : (texts[0] ?? '');
  const response = isError ? { error: said } : { output: said };
  return [{ functionResponse: { id, name, response } }, ...pictures.map((picture) => inlineOf(picture, base64))];
}

export function inlineOf({ mediaType, bytes }: Picture, base64: Base64): object {
  return { inlineData: { mimeType: mediaType, data: base64(bytes) } };
}

export function toolsOf({ list, choice }: Tools): object {
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
