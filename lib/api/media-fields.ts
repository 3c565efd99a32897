// The fields shared by picture and video requests: their checks, and the shapes on offer.
import Joi from 'joi';
import { IMAGE_SIZES } from '../calls/images/request.ts';
import { ASPECTS } from '../catalog/aspect.ts';
import { optional, required } from './dialects/fields.ts';

export const promptField = required(
  Joi.string().pattern(/\S/).description('What to make.'),
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
    .description('Width to height.'),
  `must be one of ${ASPECTS.join(', ')}`,
);

const SIZES = [...IMAGE_SIZES.keys()];

export const imageSizeField = optional(
  Joi.string()
    .valid(...SIZES)
    .description('In pixels, width first.'),
  `must be one of ${SIZES.join(', ')}`,
);
