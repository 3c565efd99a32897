// Settings of the Gemini API, and the requests that calls become.
import type { AccountSettings, Host, ImageCall, JsonBody, Reasoning, TextCall } from '../../lib/plugin/contract.ts';
import { contentOf, inlineOf, isSigned, toolsOf } from './contents.ts';

export interface Settings extends AccountSettings {
  /** Up to and without `/models`. */
  readonly baseUrl: string;
  /** For models that draw in several sizes: `{ "2048x2048": "2K" }`. Others refuse a size, so none is sent. */
  readonly sizeMap?: Readonly<Record<string, string>>;
  /** How thinking is asked for: by a `level`, or, of models before Gemini 3, by a `budget` of tokens. */
  readonly thinking: (typeof THINKING_STYLES)[number];
}

export const THINKING_STYLES = ['level', 'budget'] as const;

/** A tuned model is named with its collection: `tunedModels/name`. */
export function urlOf({ baseUrl }: Settings, model: string, method: string): string {
  return `${baseUrl}/${model.includes('/') ? model : `models/${model}`}:${method}`;
}

export function textBodyOf(
  call: TextCall,
  { thinking }: Pick<Settings, 'thinking'>,
  read: Host['argumentsOf'],
): JsonBody {
  const { model, system, messages, maxTokens, tools, format, reasoning } = call;
  return (base64) => ({
    ...(system !== undefined && { systemInstruction: { parts: [{ text: system }] } }),
    contents: messages.map((message) => contentOf(message, { base64, read, signs: isSigned(model) })),
    ...(tools && toolsOf(tools)),
    generationConfig: {
      maxOutputTokens: maxTokens,
      ...(format && { responseMimeType: 'application/json' }),
      ...(format?.type === 'json-schema' && { responseJsonSchema: format.schema }),
      ...(reasoning && thinkingOf(reasoning, thinking)),
    },
  });
}

/** What a level can say: from Gemini 3 on thinking is not turned off. */
const LEVELS = new Map<string, string>([
  ['xhigh', 'high'],
  ['max', 'high'],
]);

/** A budget of 0 turns it off, and of -1 leaves it to the model. */
function thinkingOf(reasoning: Reasoning, style: Settings['thinking']): object {
  const { mode } = reasoning;
  if (style === 'budget') {
    const thinkingBudget = mode === 'on' ? reasoning.budgetTokens : mode === 'off' ? 0 : -1;
    return thinkingBudget === undefined ? {} : { thinkingConfig: { thinkingBudget } };
  }
  if (mode === 'auto') return {};
  const effort = mode === 'off' ? 'minimal' : reasoning.effort;
  return { thinkingConfig: { thinkingLevel: LEVELS.get(effort) ?? effort } };
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
