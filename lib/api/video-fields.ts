// The fields of a video request: checks that do not depend on the model.
import { ASPECT } from '../catalog/aspect.ts';
import { RESOLUTION_LABEL } from '../catalog/resolution.ts';
import type { Size } from '../plugin/contract.ts';
import { SECONDS, type VideoRequest } from '../videos/request.ts';
import { checkFields, type FieldRule, type FieldRules } from './dialects/fields.ts';
import { IMAGE_HINT, readNamed } from './image-request.ts';
import { modelField, promptField } from './media-fields.ts';
import { type Json, text } from './openapi/schema.ts';

const SIDE = { least: 16, most: 8192 };
const SIZE = /^([1-9]\d{1,3})x([1-9]\d{1,3})$/;

const optional = (hint: string, schema: Json, accepts: FieldRule['accepts']): FieldRule => {
  return { required: false, hint, schema, accepts };
};

const matches = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value);

/** Which of these a model offers is decided with the model. */
export const videoFields: FieldRules = {
  model: {
    ...modelField,
    schema: text('The id or an alias of a video model. See `GET /api/v1/models`.', { minLength: 1 }),
  },
  prompt: promptField,
  seconds: optional(
    `must be a whole number from ${SECONDS.least} to ${SECONDS.most}`,
    {
      type: 'integer',
      minimum: SECONDS.least,
      maximum: SECONDS.most,
      description: `How long it is to be. A model may offer only some; without it ${SECONDS.byDefault}, or the nearest of these.`,
    },
    (value) => Number.isInteger(value) && Number(value) >= SECONDS.least && Number(value) <= SECONDS.most,
  ),
  size: optional(
    `must be <width>x<height> with ${SIDE.least} to ${SIDE.most} pixels each`,
    text('In pixels. Rounded to the nearest resolution (by the shorter side) and aspect.', {
      pattern: SIZE.source,
      examples: ['1280x720'],
    }),
    (value) => typeof value === 'string' && readSize(value) !== undefined,
  ),
  aspect: optional(
    'must be an aspect such as 16:9',
    text('Width to height; `size` wins. Without either, 16:9 or the nearest that the model offers.', {
      pattern: ASPECT.source,
      examples: ['9:16'],
    }),
    matches(ASPECT),
  ),
  resolution: optional(
    'must be a label such as 720p or 4k',
    text(
      'A label of the model: see `price_rub_by_resolution`. It wins over `size`; without either, 1080p or the nearest.',
      { pattern: RESOLUTION_LABEL.source, examples: ['720p'] },
    ),
    matches(RESOLUTION_LABEL),
  ),
  image: optional(
    'must be a string: an https URL or a data URI of an image',
    text(`The first frame of the video. ${IMAGE_HINT}`),
    (value) => typeof value === 'string',
  ),
};

interface Fields {
  readonly model: string;
  readonly prompt: string;
  readonly seconds?: number | null;
  readonly size?: string | null;
  readonly aspect?: string | null;
  readonly resolution?: string | null;
  readonly image?: string | null;
}

/** Throws a 400 fault for the first wrong field. */
export function parseVideo(body: unknown): VideoRequest {
  const { model, prompt, seconds, size, aspect, resolution, image } = checkFields<Fields>(videoFields, body);
  return {
    model,
    prompt,
    seconds: seconds ?? undefined,
    size: typeof size === 'string' ? readSize(size) : undefined,
    aspect: aspect ?? undefined,
    resolution: resolution ?? undefined,
    ...readNamed(image == null ? [] : [{ field: 'image', source: image }]),
  };
}

function readSize(text: string): Size | undefined {
  const [, width, height] = SIZE.exec(text) ?? [];
  const size = { width: Number(width), height: Number(height) };
  const isIn = (side: number) => side >= SIDE.least && side <= SIDE.most;
  return isIn(size.width) && isIn(size.height) ? size : undefined;
}
