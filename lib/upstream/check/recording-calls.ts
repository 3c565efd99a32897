// The calls of recordings: what `call` may hold for each kind, with defaults.
import Joi from 'joi';
import { FORMER_IMAGE } from '../host/former-names.ts';
import { FORMATS } from './sample-image.ts';

const said = [
  Joi.object({ type: Joi.valid('text').required(), text: Joi.string().allow('').required() }),
  Joi.object({ type: Joi.valid('image').required(), image: Joi.valid(...FORMATS).required() }).rename(
    FORMER_IMAGE,
    'image',
  ),
];
const names = { id: Joi.string().required(), name: Joi.string().required() };
export const blockState = Joi.object({ format: Joi.string().required(), value: Joi.string().required() });
const toolCall = Joi.object({
  type: Joi.valid('tool-call').required(),
  ...names,
  json: Joi.string().required(),
  state: blockState,
});
const toolResult = Joi.object({
  type: Joi.valid('tool-result').required(),
  ...names,
  isError: Joi.boolean().default(false),
  content: Joi.array()
    .items(...said)
    .default([]),
});

const tools = Joi.object({
  list: Joi.array()
    .items(
      Joi.object({
        name: Joi.string().required(),
        description: Joi.string(),
        schema: Joi.object().default({ type: 'object', properties: {} }),
        strict: Joi.boolean(),
      }),
    )
    .min(1)
    .required(),
  choice: Joi.alternatives(Joi.valid('auto', 'none', 'any'), Joi.object({ name: Joi.string().required() })),
  single: Joi.valid(true),
});

export const textCall = Joi.object({
  model: Joi.string().default('m'),
  system: Joi.string(),
  messages: Joi.array()
    .items(
      Joi.object({
        role: Joi.valid('user', 'assistant').required(),
        content: Joi.array()
          .items(...said, toolCall, toolResult)
          .min(1),
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
  }),
  tools,
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
