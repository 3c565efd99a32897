// Settings of GigaChat, and the request for one text call.
import type {
  AccountSettings,
  Host,
  ImageInput,
  Multipart,
  TextCall,
  TextMessage,
} from '../../lib/upstream/contract/provider.ts';

export interface Settings extends AccountSettings {
  /** Where keys are exchanged. */
  readonly authUrl: string;
  /** Of the contract: `GIGACHAT_API_PERS`, `GIGACHAT_API_B2B` or `GIGACHAT_API_CORP`. */
  readonly scope: string;
  /** The vendor's certificates come from an authority that few systems trust. */
  readonly ca?: string;
}

/** The files of a call, in order. Throws for formats that the vendor does not accept. */
export function picturesOf({ messages }: TextCall, { fault }: Host): readonly ImageInput[] {
  const pictures = messages.flatMap(({ content }) => content.filter((part) => part.type === 'image'));
  const wrong = pictures.find(({ mediaType }) => !['image/jpeg', 'image/png'].includes(mediaType));
  if (wrong) throw fault.make('request', `${wrong.mediaType} is not taken`, { about: 'picture' });
  return pictures;
}

export function fileOf({ mediaType, bytes }: ImageInput): Multipart {
  const fileName = mediaType.replace('image/', 'picture.');
  return { fields: { purpose: 'general' }, files: [{ field: 'file', fileName, mediaType, bytes }] };
}

/** There is one system message, and it comes first. */
export function bodyOf(call: TextCall, ids: readonly string[], textOf: Host['textOf']): string {
  const { model, system, maxTokens } = call;
  const files = ids.values();
  const first = system ? [{ role: 'system', content: textOf(system) }] : [];
  const messages = [...first, ...call.messages.flatMap((message) => messagesOf(message, files, textOf))];
  return JSON.stringify({ model, messages, max_tokens: maxTokens, stream: true });
}

/** A message takes one picture: further ones go into messages before it. */
function messagesOf({ role, content }: TextMessage, files: Iterator<string>, textOf: Host['textOf']): object[] {
  const attached = content.flatMap(({ type }) => (type === 'image' ? [files.next().value] : []));
  const earlier = attached.slice(0, -1).map((id, at) => ({ role, content: `Image ${at + 1}`, attachments: [id] }));
  const last = attached.length > 0 && { attachments: attached.slice(-1) };
  return [...earlier, { role, content: textOf(content), ...last }];
}
