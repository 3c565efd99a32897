// Settings of the Gemini API, and the requests that calls become.
import type {
  AccountSettings,
  Base64,
  Content,
  ImageCall,
  JsonBody,
  Picture,
  TextCall,
} from '../../lib/plugin/contract.ts';

export interface Settings extends AccountSettings {
  /** Up to and without `/models`. */
  readonly baseUrl: string;
  /** For models that draw in several sizes: `{ "2048x2048": "2K" }`. Others refuse a size, so none is sent. */
  readonly sizeMap?: Readonly<Record<string, string>>;
}

/** A tuned model is named with its collection: `tunedModels/name`. */
export function urlOf({ baseUrl }: Settings, model: string, method: string): string {
  return `${baseUrl.replace(/\/+$/, '')}/${model.includes('/') ? model : `models/${model}`}:${method}`;
}

export function textBodyOf({ system, messages, maxTokens }: TextCall): JsonBody {
  return (base64) => ({
    ...(system !== undefined && { systemInstruction: { parts: [{ text: system }] } }),
    contents: messages.map(({ role, content }) => ({
      role: role === 'assistant' ? 'model' : 'user',
      parts: content.map((part) => partOf(part, base64)),
    })),
    generationConfig: { maxOutputTokens: maxTokens },
  });
}

export function imageBodyOf(call: ImageCall, { sizeMap }: Settings): JsonBody {
  const { prompt, images, size } = call;
  // What is undefined is not sent.
  const imageConfig = { aspectRatio: aspectOf(call), imageSize: size && sizeMap?.[`${size.width}x${size.height}`] };
  return (base64) => ({
    contents: [{ role: 'user', parts: [{ text: prompt }, ...images.map((image) => inlineOf(image, base64))] }],
    generationConfig: { responseModalities: ['IMAGE'], imageConfig },
  });
}

const ASPECTS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];

/** The nearest of the aspects that the models draw: others are refused. */
function aspectOf({ size, aspect }: ImageCall): string | undefined {
  const asked = aspect !== undefined ? ratioOf(aspect) : size && size.width / size.height;
  if (asked === undefined || !(asked > 0)) return undefined;
  const distance = (known: string) => Math.abs(Math.log(ratioOf(known) / asked));
  return ASPECTS.reduce((best, known) => (distance(known) < distance(best) ? known : best));
}

function ratioOf(aspect: string): number {
  const [width, height] = aspect.split(':').map(Number);
  return Number(width) / Number(height);
}

function partOf(content: Content, base64: Base64): object {
  return content.type === 'text' ? { text: content.text } : inlineOf(content, base64);
}

function inlineOf({ mediaType, bytes }: Picture, base64: Base64): object {
  return { inlineData: { mimeType: mediaType, data: base64(bytes) } };
}
