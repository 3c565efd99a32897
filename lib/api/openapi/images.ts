// POST /api/v1/images/generations and /api/v1/images/edits in the API document.

import { type Json, list, object, ref, rub, text } from '../../base/json-schema.ts';
import { REFERENCES_MAX } from '../../calls/images/request.ts';
import { editFields, generationFields } from '../image-request.ts';
import { describeFields } from './body.ts';
import { errorResponses } from './errors.ts';
import { type Chapter, headers, json } from './schema.ts';
import { GENERATING_STATUSES, PAID_HEADERS } from './text.ts';

const LINK = 'https://gateway.example/media/7Zc0vJx1.png';
const CREATED: Json = { type: 'integer', description: 'Unix time in seconds.' };
const DATA = list(
  object(
    {
      url: text('Link to the image.', { format: 'uri' }),
      b64_json: text('The image in base64, for `response_format` `b64_json`; absent if it is larger than 8 MiB.'),
    },
    { optional: ['b64_json'] },
  ),
  { minItems: 1, maxItems: 1 },
);

const PAID =
  'The price of one image is reserved before the call, and returned in full if no image is generated. If the client ' +
  'disconnects after the upstream request has started, the image is charged. The link expires, by default after 24 hours.';

const STREAM: Json = {
  schema: text(
    'With `stream`: one event, `image_generation.completed` or `image_edit.completed`, with `b64_json` and `url`, and ' +
      'for an edit the `model` and its `billing`. A call that fails has a plain reply.',
  ),
};

const GENERATION: Json = {
  operationId: 'createImage',
  tags: ['Images'],
  summary: 'Create an image',
  description: PAID,
  parameters: PAID_HEADERS,
  requestBody: {
    required: true,
    content: json(ref('ImageRequest'), { example: { prompt: 'A lighthouse at night', size: '1024x1024' } }),
  },
  responses: {
    200: {
      description: 'The generated image.',
      headers: headers('x-request-id', 'request-id', 'idempotent-replayed'),
      content: {
        ...json(ref('ImageReply'), { example: { created: 1791288000, data: [{ url: LINK }] } }),
        'text/event-stream': STREAM,
      },
    },
    ...errorResponses('message', GENERATING_STATUSES),
  },
};

const EDIT: Json = {
  operationId: 'editImage',
  tags: ['Images'],
  summary: 'Edit or combine images',
  description: `${PAID} Send JSON or a form; both have the same fields.`,
  parameters: PAID_HEADERS,
  requestBody: {
    required: true,
    content: {
      ...json(ref('ImageEditRequest'), {
        example: { prompt: 'Make it a watercolour', image: 'https://images.example/lighthouse.png' },
      }),
      'multipart/form-data': { schema: ref('ImageEditForm') },
    },
  },
  responses: {
    200: {
      description: 'The edited image, and its cost.',
      headers: headers('x-request-id', 'request-id', 'idempotent-replayed'),
      content: {
        ...json(ref('ImageEditReply'), {
          example: {
            created: 1791288000,
            model: 'painter-1',
            data: [{ url: LINK }],
            billing: { charged_rub: 5, balance_rub: 995 },
          },
        }),
        'text/event-stream': STREAM,
      },
    },
    ...errorResponses('message', GENERATING_STATUSES),
  },
};

const FILE: Json = {
  type: 'string',
  contentMediaType: 'application/octet-stream',
  description: 'A PNG, JPEG, GIF or WebP file, at most 8 MiB, with any declared type; or a string as in JSON.',
};

const FORM = describeFields(generationFields);

export const imageChapter: Chapter = {
  paths: { '/api/v1/images/generations': { post: GENERATION }, '/api/v1/images/edits': { post: EDIT } },
  schemas: {
    ImageRequest: describeFields(generationFields),
    ImageEditRequest: {
      ...describeFields(editFields),
      description: 'At least one image is required.',
      anyOf: [
        { required: ['image'], properties: { image: { type: ['string', 'object', 'array'], minItems: 1 } } },
        { required: ['images'], properties: { images: { type: 'array', minItems: 1 } } },
      ],
    },
    ImageEditForm: {
      ...FORM,
      properties: {
        ...(FORM.properties as Json),
        image: { anyOf: [FILE, list(FILE, { maxItems: REFERENCES_MAX })] },
        images: list(FILE, { description: 'Same as `image`.', maxItems: REFERENCES_MAX }),
        'image[]': list(FILE, { description: 'Same as `image`; at most 4 images in total.', maxItems: REFERENCES_MAX }),
      },
    },
    ImageReply: object({ created: CREATED, data: DATA }),
    ImageEditReply: object({
      created: CREATED,
      model: text('The id of the model that edited the image.'),
      data: DATA,
      billing: object({
        charged_rub: rub('The amount charged'),
        balance_rub: rub('The available balance after the call'),
      }),
    }),
  },
};
