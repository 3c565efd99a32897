// Settings of the Gemini API, and the requests for calls.
import type {
  AccountSettings,
  Host,
  ImageCall,
  JsonBody,
  Reasoning,
  Sampling,
  TextCall,
  Tool,
  Tools,
} from '../../lib/upstream/contract/provider.ts';
import { placeReferences } from './schema.ts';

export interface Settings extends AccountSettings {
  /** Up to and without `/models`. */
  readonly baseUrl: string;
  /** For models that draw in several sizes: `{ "2048x2048": "2K" }`. Others refuse a size, so none is sent. */
  readonly sizeMap?: Readonly<Record<string, string>>;
  /** How thinking is asked for: by a `level`, or, of models before Gemini 3, by a `budget` of tokens. */
  readonly thinking: 'level' | 'budget';
}

/** A tuned model is named with its collection: `tunedModels/name`. */
export function buildGeminiUrl({ baseUrl }: Settings, model: string, method: string): string {
  return `${baseUrl}/${model.includes('/') ? model : `models/${model}`}:${method}`;
}

/** From the third generation on, calls without the model's signatures are refused; this one is accepted. */
function findNoSignature(model: string): string | undefined {
  return /gemini-[12]\b/.test(model) ? undefined : 'skip_thought_signature_validator';
}

export function buildGeminiTextBody(call: TextCall, { thinking }: Settings, { contents }: Host): JsonBody {
  const { model, maxTokens, tools, reasoning, stops, sampling } = call;
  const format = isDemanded(tools) ? undefined : call.format;
  return (base64) => ({
    ...contents.body(placeToolReferences(call), base64, { noSignature: findNoSignature(model) }),
    generationConfig: {
      maxOutputTokens: maxTokens,
      stopSequences: stops?.slice(0, 5),
      ...(sampling && writeSampling(sampling)),
      ...(format && { responseMimeType: 'application/json' }),
      ...(format?.type === 'json-schema' && { responseJsonSchema: placeReferences(format.schema) }),
      ...(reasoning && writeThinkingConfig(reasoning, thinking)),
    },
  });
}

function placeToolReferences(call: TextCall): TextCall {
  const { tools } = call;
  if (!tools) return call;
  return { ...call, tools: { ...tools, list: tools.list.map(placeToolReference) } };
}

function placeToolReference(tool: Tool): Tool {
  const schema = placeReferences(tool.schema);
  return schema === tool.schema ? tool : { ...tool, schema };
}

/** A required call leaves no answer to give a form to, and the two together are refused. */
function isDemanded(tools: Tools | undefined): boolean {
  return tools?.choice === 'any' || typeof tools?.choice === 'object';
}

/** A larger seed is refused, and so are penalties, by every model after Gemini 2.0. */
const SEED_BITS = 31;

/** The names are ours; a seed that is too large becomes one that fits, the same each time. */
function writeSampling({ temperature, topP, topK, seed }: Sampling): object {
  return { temperature, topP, topK, seed: seed === undefined ? undefined : seed % 2 ** SEED_BITS };
}

/** Supported levels: from Gemini 3 on, reasoning cannot be turned off. */
const LEVELS: Readonly<Record<string, string>> = { off: 'minimal', xhigh: 'high', max: 'high' };

function writeThinkingConfig(reasoning: Reasoning, style: Settings['thinking']): object {
  const amount = style === 'budget' ? writeThinkingBudget(reasoning) : writeThinkingLevel(reasoning);
  // Thoughts come only if they are asked for, and cost the same.
  const isShown = reasoning.mode !== 'off' && reasoning.display !== 'omitted';
  const thinkingConfig = { ...amount, ...(isShown && { includeThoughts: true }) };
  return Object.keys(thinkingConfig).length > 0 ? { thinkingConfig } : {};
}

/** A budget of 0 turns it off, and of -1 leaves it to the model. */
function writeThinkingBudget(reasoning: Reasoning): object {
  if (reasoning.mode !== 'on') return { thinkingBudget: reasoning.mode === 'off' ? 0 : -1 };
  const { budgetTokens } = reasoning;
  return budgetTokens === undefined ? {} : { thinkingBudget: budgetTokens };
}

function writeThinkingLevel(reasoning: Reasoning): object {
  if (reasoning.mode === 'auto') return {};
  const level = reasoning.mode === 'on' ? reasoning.effort : reasoning.mode;
  return { thinkingLevel: LEVELS[level] ?? level };
}

/** The supported aspects: others are refused. */
const ASPECTS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];

export function buildGeminiImageBody(call: ImageCall, { sizeMap }: Settings, { contents, image }: Host): JsonBody {
  const { prompt, images, size } = call;
  const parts = images.map((image) => ({ type: 'image', ...image }) as const);
  const asked = { role: 'user', content: [{ type: 'text', text: prompt }, ...parts] } as const;
  // Undefined fields are not sent.
  const imageSize = size && sizeMap?.[`${size.width}x${size.height}`];
  const imageConfig = { aspectRatio: image.aspectOf(call, ASPECTS), imageSize };
  return (base64) => ({
    ...contents.body({ messages: [asked] }, base64),
    generationConfig: { responseModalities: ['IMAGE'], imageConfig },
  });
}
