// Settings of an images upstream, and the request for one call.
import type {
  AccountSettings,
  Base64,
  Host,
  ImageCall,
  ImageInput,
  JsonBody,
  Multipart,
} from '../../lib/upstream/contract/provider.ts';

export const EDIT_TRANSPORTS = ['multipart', 'json'] as const;

/** Whose images API an upstream has. */
export const APIS = ['openai', 'xai', 'ark', 'openrouter'] as const;

/** How requests look; a route's `options` may override it for one model. */
interface Wire {
  /** Up to and without `/images/…`; a query string stays at the end. */
  readonly baseUrl: string;
  /** What the upstream calls a size (`1792x1024`), or an aspect that comes without one (`16:9`). */
  readonly sizeMap: Readonly<Record<string, string>>;
  readonly api: (typeof APIS)[number];
  /** Of `openai`: `json` sends the images of an edit as data URLs: `images: [{image_url}]`. */
  readonly editTransport: (typeof EDIT_TRANSPORTS)[number];
  /** Further fields of the request, such as `quality`. */
  readonly input: Readonly<Record<string, unknown>>;
}

export type Settings = AccountSettings & Wire;

interface Sent {
  readonly url: string;
  readonly body: JsonBody | Multipart;
}

/** What an API in JSON alone does differently. */
interface OtherApi {
  readonly generations: string;
  readonly edits: string;
  /** The images of an edit, as data URLs. */
  nameImages(urls: readonly string[]): object;
}

const OTHERS: Readonly<Partial<Record<Wire['api'], OtherApi>>> = {
  // https://docs.x.ai/developers/model-capabilities/images/editing
  xai: {
    generations: 'images/generations',
    edits: 'images/edits',
    nameImages(urls) {
      const images = urls.map((url) => ({ type: 'image_url', url }));
      return images.length === 1 ? { image: images[0] } : { images };
    },
  },
  // https://www.volcengine.com/docs/82379/1541523
  ark: {
    generations: 'images/generations',
    edits: 'images/generations',
    nameImages: (urls) => ({ image: urls.length === 1 ? urls[0] : urls }),
  },
  // https://openrouter.ai/blog/tutorials/image-generation/
  openrouter: {
    generations: 'images',
    edits: 'images',
    nameImages: (urls) => ({ input_references: urls.map((url) => ({ type: 'image_url', image_url: { url } })) }),
  },
};

export function buildImageRequest(call: ImageCall, wire: Wire, { image, urlBelow }: Host): Sent {
  const buildUrl = (path: string) => urlBelow(wire.baseUrl, path);
  const { images } = call;
  const fields = buildImageFields(call, wire, image);
  const other = OTHERS[wire.api];
  if (images.length === 0) return { url: buildUrl(other?.generations ?? 'images/generations'), body: () => fields };
  const listDataUrls = (base64: Base64) => images.map((each) => image.dataUrl(each, base64));
  if (other)
    return { url: buildUrl(other.edits), body: (base64) => ({ ...fields, ...other.nameImages(listDataUrls(base64)) }) };
  const url = buildUrl('images/edits');
  if (wire.editTransport === 'multipart')
    return { url, body: { fields: inText(fields), files: listImageFiles(images) } };
  const listImageUrls: JsonBody = (base64) => listDataUrls(base64).map((image_url) => ({ image_url }));
  return { url, body: (base64) => ({ ...fields, images: listImageUrls(base64) }) };
}

/** These models answer inline, and refuse a request that asks for it. */
const ANSWERS_INLINE = /(^|\/)(gpt-image|chatgpt-image)/;

function buildImageFields(call: ImageCall, wire: Wire, image: Host['image']): Record<string, unknown> {
  const { model, prompt } = call;
  const { response_format: format, ...input } = wire.input;
  const isAccepted = format !== undefined && !ANSWERS_INLINE.test(model);
  return {
    model,
    prompt,
    ...nameShape(call, wire, image),
    ...input,
    ...(isAccepted && { response_format: format }),
  };
}

/** Models with three sizes, which refuse any other. */
const THREE_SIZES = /(^|\/)(gpt-image-1|chatgpt-image)/;

const ASPECTS = ['1:1', '16:9', '9:16', '4:3', '3:4'];

/** Its newer models refuse less than 3,686,400 pixels. */
const ARK_SIZES: Readonly<Record<string, string>> = {
  '1:1': '2048x2048',
  '16:9': '2560x1440',
  '9:16': '1440x2560',
  '4:3': '2304x1728',
  '3:4': '1728x2304',
};

function nameShape(call: ImageCall, { sizeMap, api }: Wire, image: Host['image']): object {
  const { size, aspect } = call;
  const asked = size ? `${size.width}x${size.height}` : aspect;
  if (asked === undefined) return {};
  const mapped = sizeMap[asked];
  if (api === 'openai') return { size: mapped ?? spellSize(call, asked) };
  const nearest = image.aspectOf(call, ASPECTS);
  if (api !== 'ark') return { aspect_ratio: mapped ?? nearest };
  return { size: mapped ?? (nearest && ARK_SIZES[nearest]) };
}

function spellSize({ model, size }: ImageCall, asked: string): string {
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
