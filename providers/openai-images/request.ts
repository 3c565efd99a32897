// Settings of an images upstream, and the request for one call.
import type {
  AccountSettings,
  Host,
  ImageCall,
  ImageInput,
  JsonBody,
  Multipart,
} from '../../lib/upstream/contract/provider.ts';

export const EDIT_TRANSPORTS = ['multipart', 'json'] as const;

/** How requests look; a route's `options` may override it for one model. */
interface Wire {
  /** Up to and without `/images/…`; a query string stays at the end. */
  readonly baseUrl: string;
  /** What the upstream calls a size (`1792x1024`), or an aspect that comes without one (`16:9`). */
  readonly sizeMap: Readonly<Record<string, string>>;
  /** `json` sends the images of an edit as data URLs: `images: [{image_url}]`. */
  readonly editTransport: (typeof EDIT_TRANSPORTS)[number];
  /** Further fields of the request, such as `quality`. */
  readonly input: Readonly<Record<string, unknown>>;
}

export type Settings = AccountSettings & Wire;

interface Sent {
  readonly url: string;
  readonly body: JsonBody | Multipart;
}

export function buildImageRequest(call: ImageCall, wire: Wire, { image, urlBelow }: Host): Sent {
  const buildTaskUrl = (task: string) => urlBelow(wire.baseUrl, `images/${task}`);
  const fields = buildImageFields(call, wire);
  if (call.images.length === 0) return { url: buildTaskUrl('generations'), body: () => fields };
  const url = buildTaskUrl('edits');
  if (wire.editTransport === 'json') {
    const listImageUrls: JsonBody = (base64) => call.images.map((each) => ({ image_url: image.dataUrl(each, base64) }));
    return { url, body: (base64) => ({ ...fields, images: listImageUrls(base64) }) };
  }
  return { url, body: { fields: inText(fields), files: listImageFiles(call.images) } };
}

/** These models answer inline, and refuse a request that asks for it. */
const ANSWERS_INLINE = /(^|\/)(gpt-image|chatgpt-image)/;

function buildImageFields(call: ImageCall, wire: Wire): Record<string, unknown> {
  const { model, prompt } = call;
  const size = spellSize(call, wire);
  const { response_format: format, ...input } = wire.input;
  const isAccepted = format !== undefined && !ANSWERS_INLINE.test(model);
  return {
    model,
    prompt,
    ...(size !== undefined && { size }),
    ...input,
    ...(isAccepted && { response_format: format }),
  };
}

/** Models with three sizes, which refuse any other. */
const THREE_SIZES = /(^|\/)(gpt-image-1|chatgpt-image)/;

function spellSize({ model, size, aspect }: ImageCall, { sizeMap }: Wire): string | undefined {
  const asked = size ? `${size.width}x${size.height}` : aspect;
  if (asked === undefined) return undefined;
  const mapped = sizeMap[asked];
  if (mapped !== undefined) return mapped;
  const [width = 1, height = 1] = asked.split(/[x:]/).map(Number);
  if (size && !THREE_SIZES.test(model)) return asked;
  if (width === height) return '1024x1024';
  return width > height ? '1536x1024' : '1024x1536';
}

function inText(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, text(value)]));
}

/** One file goes as `image`, which every server knows; several as `image[]`. */
function listImageFiles(images: readonly ImageInput[]): Multipart['files'] {
  const field = images.length === 1 ? 'image' : 'image[]';
  return images.map(({ mediaType, bytes }, at) => {
    const extension = mediaType === 'image/jpeg' ? 'jpg' : mediaType.slice('image/'.length);
    return { field, fileName: `image-${at + 1}.${extension}`, mediaType, bytes };
  });
}
