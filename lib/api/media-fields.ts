// The fields shared by image and video requests.
import Joi from 'joi';
import { IMAGE_SIZES } from '../calls/images/request.ts';
import { ASPECTS } from '../catalog/aspect.ts';
import { optional, required } from './dialects/fields.ts';

export const promptField = required(
  Joi.string().pattern(/\S/).description('A description of the desired result.'),
  'must be a string and not empty',
);

const MODEL = Joi.string().min(1).description('The id or an alias of a model. See `GET /api/v1/models`.');
const MODEL_HINT = 'must be a string and not empty';

export const modelField = required(MODEL, MODEL_HINT);
/** For endpoints that have a default model. */
export const optionalModelField = optional(MODEL, MODEL_HINT);

export const aspectField = optional(
  Joi.string()
    .valid(...ASPECTS)
    .description('Aspect ratio, width to height.'),
  `must be one of ${ASPECTS.join(', ')}`,
);

const SIZES = [...IMAGE_SIZES.keys()];

export const imageSizeField = optional(
  Joi.string()
    .valid(...SIZES)
    .description('Width and height in pixels.'),
  `must be one of ${SIZES.join(', ')}`,
);
