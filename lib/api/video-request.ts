// Turns a body into a video request, with the checks that do not depend on the model.
import Joi from 'joi';
import { object, text } from '../base/json-schema.ts';
import { isRecord } from '../base/record.ts';
import type { VideoRequest } from '../calls/videos/request.ts';
import { ASPECT } from '../catalog/aspect.ts';
import { RESOLUTION_LABEL } from '../catalog/resolution.ts';
import { SECONDS } from '../catalog/video-lengths.ts';
import type { Size } from '../upstream/contract/provider.ts';
import { body, checkFields, documentAs, invalidField, optional } from './dialects/fields.ts';
import { IMAGE_HINT, type NamedSource, nameSource, OBJECT_HINT, readImageSources } from './image-request.ts';
import { modelField, promptField } from './media-fields.ts';
import { readSpending, spendingFields } from './spending.ts';

const SIDE = { least: 16, most: 8192 };
const SIZE = /^([1-9]\d{1,3})x([1-9]\d{1,3})$/;

const { least, most } = SECONDS;
const LENGTHS = Array.from({ length: most - least + 1 }, (_, at) => least + at);

const AS_IMAGE = optional(
  documentAs(Joi.any(), {
    description: 'Another place of the one image, used by clients of other services. Anything else is ignored.',
  }),
  'is ignored',
);

/** Whether the model supports the values is checked once the model is known. */
export const videoFields = body({
  ...spendingFields,
  model: modelField.description('The id or an alias of a video model. See `GET /api/v1/models`.'),
  prompt: promptField,
  seconds: optional(
    documentAs(Joi.valid(...LENGTHS, ...LENGTHS.map(String)), {
      description: `Length in seconds. Models may support only some lengths. Default: ${SECONDS.byDefault}, or the nearest supported one.`,
      anyOf: [
        { type: 'integer', minimum: SECONDS.least, maximum: SECONDS.most },
        {
          type: 'string',
          enum: LENGTHS.map(String),
          description: 'The same as text, as clients of other services send it.',
        },
      ],
    }),
    `must be a whole number from ${SECONDS.least} to ${SECONDS.most}`,
  ),
  size: optional(
    Joi.string()
      .pattern(SIZE)
      .custom((text: string, { error }) => (readSize(text) ? text : error('any.invalid')))
      .description('Width and height in pixels; rounded to the nearest resolution (by the shorter side) and aspect.')
      .example('1280x720'),
    `must be <width>x<height> with ${SIDE.least} to ${SIDE.most} pixels each`,
  ),
  aspect: optional(
    Joi.string()
      .pattern(ASPECT)
      .description(
        'Aspect ratio, width to height; `size` takes precedence. Default: 16:9, or the nearest supported one.',
      )
      .example('9:16'),
    'must be an aspect such as 16:9',
  ),
  resolution: optional(
    Joi.string()
      .pattern(RESOLUTION_LABEL)
      .description(
        'A resolution label of the model, see `price_rub_by_resolution`; takes precedence over `size`. Default: 1080p, or ' +
          'the nearest supported one.',
      )
      .example('720p'),
    'must be a label such as 720p or 4k',
  ),
  image: optional(
    documentAs(Joi.alternatives(Joi.string().allow(''), Joi.object()), {
      type: ['string', 'object'],
      description: `The first frame of the video. ${IMAGE_HINT} ${OBJECT_HINT}`,
    }),
    'must be a string: an https URL or a data URI of an image',
  ),
  input_reference: optional(
    documentAs(Joi.alternatives(Joi.string(), Joi.object({ image_url: Joi.string().required() }).unknown()), {
      description: 'Another name of `image`, used by clients of other services.',
      anyOf: [text(IMAGE_HINT, { minLength: 1 }), object({ image_url: text(IMAGE_HINT, { minLength: 1 }) })],
    }),
    'must be an object with the https URL or the data URI of an image as `image_url`, or that alone',
  ),
  image_url: AS_IMAGE,
  images: AS_IMAGE,
  frame_images: AS_IMAGE,
});

interface Fields {
  readonly model: string;
  readonly prompt: string;
  readonly seconds?: number | string | null;
  readonly size?: string | null;
  readonly aspect?: string | null;
  readonly resolution?: string | null;
  readonly image?: string | object | null;
  readonly input_reference?: string | { readonly image_url: string } | null;
  readonly image_url?: unknown;
  readonly images?: unknown;
  readonly frame_images?: unknown;
}

/** Throws a 400 fault for the first wrong field. */
export function parseVideo(value: unknown): VideoRequest {
  const fields = checkFields<Fields>(videoFields, value);
  const { model, prompt, seconds, size, aspect, resolution } = fields;
  return {
    model,
    prompt,
    seconds: seconds == null ? undefined : Number(seconds),
    size: typeof size === 'string' ? readSize(size) : undefined,
    aspect: aspect ?? undefined,
    resolution: resolution ?? undefined,
    ...readSpending(value),
    ...readImageSources(listFrames(fields)),
  };
}

/** At most one: the first frame. */
function listFrames({ image, input_reference: reference, image_url: linked, ...lists }: Fields): NamedSource[] {
  const frames = [
    ...(image == null ? [] : [nameSource(image, 'image')]),
    ...(reference == null ? [] : [nameSource(reference, 'input_reference')]),
    ...(isRecord(linked) || (typeof linked === 'string' && linked !== '') ? [nameSource(linked, 'image_url')] : []),
    ...listNamed(lists.images, 'images'),
    ...listNamed(lists.frame_images, 'frame_images'),
  ];
  const [first, second] = frames;
  if (!first || !second) return frames;
  const [name = '', other] = [second, first].map(({ field }) => /^\w+/.exec(field)?.[0]);
  if (name === other) throw invalidField(name, 'has more than one image: a video starts from one');
  throw invalidField(name, `means the same as \`${other}\`: send one of them`);
}

function listNamed(list: unknown, name: string): NamedSource[] {
  if (!Array.isArray(list)) return [];
  return list.map((source, at) => {
    const { frame_type: type = FIRST_FRAME } = isRecord(source) ? source : {};
    if (type !== FIRST_FRAME) throw invalidField(`${name}[${at}]`, 'must be the first frame of the video');
    return nameSource(source, `${name}[${at}]`);
  });
}

const FIRST_FRAME = 'first_frame';

function readSize(text: string): Size | undefined {
  const [, width, height] = SIZE.exec(text) ?? [];
  const size = { width: Number(width), height: Number(height) };
  const isIn = (side: number) => side >= SIDE.least && side <= SIDE.most;
  return isIn(size.width) && isIn(size.height) ? size : undefined;
}
