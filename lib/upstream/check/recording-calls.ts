// The calls of recordings: what `call` may hold for each kind, with defaults.
import { Buffer } from 'node:buffer';
import Joi from 'joi';
import { FORMER_IMAGE } from '../host/former-names.ts';
import { createSampleImage, FORMATS, type Format } from './sample-image.ts';

export const blockState = Joi.object({ format: Joi.string().required(), value: Joi.string().required() });

const text = Joi.string().allow('');
const names = { id: Joi.string().required(), name: Joi.string().required() };
const cacheable = { cache: Joi.object({ ttl: Joi.valid('5m', '1h').required() }) };

/** A file is written as the text that it is, or in base64. */
const file = { mediaType: Joi.string().required(), text: Joi.string(), base64: Joi.string().base64() };

const citation = Joi.object({ url: Joi.string(), title: Joi.string(), quote: Joi.string() }).unknown();

const textContent = { text: text.required(), citations: Joi.array().items(citation), ...cacheable };
const imageContent = { image: Joi.valid(...FORMATS).required(), ...cacheable };
const documentContent = {
  ...file,
  name: Joi.string(),
  citations: Joi.valid(true),
  pieces: Joi.array().items(Joi.string()).min(1),
  ...cacheable,
};
type Keys = Readonly<Record<string, Joi.Schema>>;

/** What a result may hold, by its `type`. */
const RESULT_CONTENTS = {
  text: textContent,
  image: imageContent,
  document: documentContent,
  'tool-reference': { name: Joi.string().required(), ...cacheable },
};

/** What is in a message, by its `type`. */
const CONTENTS = {
  ...RESULT_CONTENTS,
  audio: { ...file, ...cacheable },
  reasoning: { text: text.required(), redacted: Joi.valid(true), state: blockState },
  'tool-call': { ...names, json: text.required(), isCustom: Joi.valid(true), state: blockState, ...cacheable },
  'tool-result': {
    ...names,
    isError: Joi.boolean().default(false),
    content: Joi.array().items(chooseByType(RESULT_CONTENTS)).default([]),
    ...cacheable,
  },
};

/** By the type that it has, so that an error says what is wrong with it, and not that it is none of all types. */
function chooseByType(contents: Readonly<Record<string, Keys>>): Joi.Schema {
  const types = Object.keys(contents);
  // biome-ignore-start lint/suspicious/noThenProperty: a word of joi's, in no promise.
  const switches = types.map((type) => ({ is: type, then: createContentSchema(type, contents[type] as Keys) }));
  const unknown = Joi.object({ type: Joi.valid(...types).required() }).unknown();
  return Joi.alternatives().conditional('.type', { switch: [...switches, { is: Joi.any(), then: unknown }] });
  // biome-ignore-end lint/suspicious/noThenProperty: as above.
}

function createContentSchema(type: string, keys: Keys): Joi.Schema {
  const schema = Joi.object({ type: Joi.valid(type).required(), ...keys });
  if (type === 'image') return schema.rename(FORMER_IMAGE, 'image');
  if (type === 'document') return schema.xor('text', 'base64', 'pieces');
  return type === 'audio' ? schema.xor('text', 'base64') : schema;
}

const tool = Joi.object({
  name: Joi.string().required(),
  description: Joi.string(),
  schema: Joi.object().default({ type: 'object', properties: {} }),
  strict: Joi.boolean(),
  custom: Joi.object({ description: Joi.string(), format: Joi.object() }),
  messageFields: Joi.object(),
  isPredefined: Joi.valid(true),
  ...cacheable,
});

const tools = Joi.object({
  list: Joi.array().items(tool).min(1).required(),
  choice: Joi.alternatives(Joi.valid('auto', 'none', 'any'), Joi.object({ name: Joi.string().required() })),
  single: Joi.valid(true),
});

/** Every member of `TextCall` but its options. */
export const textCall = Joi.object({
  model: Joi.string().default('m'),
  system: Joi.alternatives(
    Joi.string(),
    Joi.array()
      .items(chooseByType({ text: textContent }))
      .min(1),
  ),
  messages: Joi.array()
    .items(
      Joi.object({
        role: Joi.valid('user', 'assistant', 'system').required(),
        content: Joi.array().items(chooseByType(CONTENTS)).min(1).required(),
      }),
    )
    .min(1)
    .default([{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]),
  maxTokens: Joi.number().integer().min(1).max(32_768).default(100),
  format: Joi.object({
    type: Joi.valid('json', 'json-schema').required(),
    schema: Joi.object().unknown(true),
    name: Joi.string(),
    description: Joi.string(),
    strict: Joi.boolean(),
  }),
  reasoning: Joi.object({
    mode: Joi.valid('off', 'auto', 'on').required(),
    effort: Joi.valid('minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
    budgetTokens: Joi.number().integer().min(1024),
    display: Joi.valid('summarized', 'omitted'),
    isShown: Joi.valid(true),
  }),
  tools,
  sampling: Joi.object({
    temperature: Joi.number().min(0).max(2),
    topP: Joi.number().min(0).max(1),
    topK: Joi.number().integer(),
    seed: Joi.number().integer(),
    presencePenalty: Joi.number().min(-2).max(2),
    frequencyPenalty: Joi.number().min(-2).max(2),
  }),
  mayReason: Joi.boolean(),
  stops: Joi.array().items(Joi.string()).min(1),
  cacheKey: Joi.string(),
  cacheRetention: Joi.string(),
  messageFields: Joi.object(),
  betas: Joi.array().items(Joi.string()).min(1),
  conversation: Joi.string(),
});

export const embedCall = Joi.object({
  model: Joi.string().default('m'),
  inputs: Joi.array().items(Joi.string()).default(['Hi']),
  tokens: Joi.array()
    .items(Joi.array().items(Joi.number().integer().min(0)).min(1))
    .min(1),
  dimensions: Joi.number().integer().min(1),
});

const size = Joi.object({ width: Joi.number().integer().required(), height: Joi.number().integer().required() });

export const imageCall = Joi.object({
  model: Joi.string().default('m'),
  prompt: Joi.string().default('A red square'),
  size,
  aspect: Joi.string(),
  images: Joi.array()
    .items(Joi.valid(...FORMATS))
    .max(4)
    .default([]),
});

export const videoCall = Joi.object({
  model: Joi.string().default('m'),
  prompt: Joi.string().default('A red square turns'),
  seconds: Joi.number().integer().default(5),
  size: size.default({ width: 1280, height: 720 }),
  aspect: Joi.string().default('16:9'),
  resolution: Joi.string().allow(null).default('720p'),
  image: Joi.valid(...FORMATS),
});

/** A call with the bytes of the images and files that it names. */
export function insertFiles(call: {
  readonly system?: string | readonly object[];
  readonly messages?: readonly { readonly content: readonly WireContent[] }[];
  readonly images?: readonly Format[];
  readonly image?: Format;
}): object {
  const { system, messages, images, image } = call;
  return {
    ...call,
    ...(typeof system === 'string' && { system: [{ type: 'text', text: system }] }),
    ...(messages && {
      messages: messages.map((message) => ({ ...message, content: message.content.map(insertFile) })),
    }),
    ...(images && { images: images.map(createSampleImage) }),
    ...(image && { image: createSampleImage(image) }),
  };
}

interface WireContent {
  readonly type: string;
  readonly image?: Format;
  readonly text?: string;
  readonly base64?: string;
  readonly pieces?: readonly string[];
  readonly content?: readonly WireContent[];
}

function insertFile(part: WireContent): object {
  if (part.content) return { ...part, content: part.content.map(insertFile) };
  if (part.image) {
    const { image, ...rest } = part;
    return { ...rest, ...createSampleImage(image as Format) };
  }
  if (part.type !== 'document' && part.type !== 'audio') return part;
  const { text: written = part.pieces?.join('') ?? '', base64, ...rest } = part;
  const bytes = base64 === undefined ? Buffer.from(written) : Buffer.from(base64, 'base64');
  return { ...rest, bytes: Uint8Array.from(bytes) };
}
