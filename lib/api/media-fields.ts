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

/** `auto` means the same as no size: clients of other services send it. */
const SIZES = [...IMAGE_SIZES.keys(), 'auto'];

export const imageSizeField = optional(
  Joi.string()
    .valid(...SIZES)
    .description('Width and height in pixels; `auto` leaves it to `aspect` and the model.'),
  `must be one of ${SIZES.join(', ')}`,
);
