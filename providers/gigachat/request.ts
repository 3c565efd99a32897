// Settings of GigaChat, and the request for one text call.
import type {
  AccountSettings,
  Content,
  Host,
  ImageInput,
  JsonSchemaFormat,
  Multipart,
  TextCall,
  TextMessage,
} from '../../lib/upstream/contract/provider.ts';
import { writeCall, writeFunctions } from './tools.ts';

export interface Settings extends AccountSettings {
  /** Where keys are exchanged. */
  readonly authUrl: string;
  /** Of the contract: `GIGACHAT_API_PERS`, `GIGACHAT_API_B2B` or `GIGACHAT_API_CORP`. */
  readonly scope: string;
  /** The vendor's certificates come from an authority that few systems trust. */
  readonly ca?: string;
}

/** The files of a call, in order. Throws for formats that the vendor does not accept. */
export function listPromptImages({ messages }: TextCall, { fault }: Host): readonly ImageInput[] {
  const images = findImages(messages.flatMap(({ content }) => content));
  const wrong = images.find(({ mediaType }) => !['image/jpeg', 'image/png'].includes(mediaType));
  if (wrong) throw fault.make('request', `${wrong.mediaType} is not taken`, { about: 'image' });
  return images;
}

export function buildImageUpload({ mediaType, bytes }: ImageInput): Multipart {
  const fileName = mediaType.replace('image/', 'image.');
  return { fields: { purpose: 'general' }, files: [{ field: 'file', fileName, mediaType, bytes }] };
}

/** There is one system message, and it comes first. */
export function buildGigachatBody(call: TextCall, ids: readonly string[], host: Host): string {
  const { model, system, messages, maxTokens, tools, format, sampling } = call;
  const first = system ? [{ role: 'system', content: host.textOf(system) }] : [];
  return JSON.stringify({
    model,
    messages: [...first, ...writeMessages(messages, ids.values(), host)],
    max_tokens: maxTokens,
    stream: true,
    temperature: sampling?.temperature,
    top_p: sampling?.topP,
    ...(tools && writeFunctions(tools)),
    ...(format?.type === 'json-schema' && { response_format: writeFormat(format) }),
  });
}

function writeFormat({ schema, strict }: JsonSchemaFormat): object {
  return { type: 'json_schema', schema, strict };
}

function writeMessages(messages: readonly TextMessage[], files: Iterator<string>, host: Host): readonly object[] {
  const parts = messages.flatMap(({ content }) => content);
  const results = new Map(parts.flatMap((part) => (part.type === 'tool-result' ? [[part.id, part]] : [])));
  return messages.flatMap(({ role, content }) => {
    const calls = content.filter((part) => part.type === 'tool-call');
    const text = host.textOf(content);
    if (calls.length === 0) return writeSaid({ role, content }, files, text);
    return calls.flatMap((call, at) => writeCall(call, results.get(call.id), at === 0 ? text : '', host));
  });
}

/** A message takes one image: further ones go into messages before it. Images of tool results are among them. */
function writeSaid({ role, content }: TextMessage, files: Iterator<string>, text: string): readonly object[] {
  const attached = findImages(content).map(() => files.next().value);
  if (attached.length === 0 && text === '') return [];
  const earlier = attached.slice(0, -1).map((id, at) => ({ role, content: `Image ${at + 1}`, attachments: [id] }));
  const last = attached.length > 0 && { attachments: attached.slice(-1) };
  return [...earlier, { role, content: text, ...last }];
}

function findImages(content: readonly Content[]): readonly ImageInput[] {
  const parts = content.flatMap((part): readonly Content[] => (part.type === 'tool-result' ? part.content : [part]));
  return parts.filter((part) => part.type === 'image');
}
