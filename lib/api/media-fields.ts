// The fields shared by picture and video requests: their checks, and the shapes on offer.
import { ASPECTS } from '../catalog/aspect.ts';
import type { Size } from '../plugin/contract.ts';
import type { FieldRule } from './dialects/fields.ts';
import { text } from './openapi/schema.ts';

/** For pictures. */
export const IMAGE_SIZES: ReadonlyMap<unknown, Size> = new Map([
  ['1024x1024', { width: 1024, height: 1024 }],
  ['1792x1024', { width: 1792, height: 1024 }],
  ['1024x1792', { width: 1024, height: 1792 }],
]);

export const promptField: FieldRule = {
  required: true,
  accepts: (value) => typeof value === 'string' && value.trim() !== '',
  hint: 'must be a string and not empty',
  schema: text('What to make.', { pattern: '\\S' }),
};

export const modelField: FieldRule = {
  required: true,
  accepts: (value) => typeof value === 'string' && value !== '',
  hint: 'must be a string and not empty',
  schema: text('The id or an alias of a model. See `GET /api/v1/models`.', { minLength: 1 }),
};

export const aspectField: FieldRule = {
  required: false,
  accepts: (value) => (ASPECTS as readonly unknown[]).includes(value),
  hint: `must be one of ${ASPECTS.join(', ')}`,
  schema: text('Width to height.', { enum: ASPECTS }),
};

export const imageSizeField: FieldRule = {
  required: false,
  accepts: (value) => IMAGE_SIZES.has(value),
  hint: `must be one of ${[...IMAGE_SIZES.keys()].join(', ')}`,
  schema: text('In pixels, width first.', { enum: [...IMAGE_SIZES.keys()] }),
};
