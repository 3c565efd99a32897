// POST /api/v1/images/generations and /api/v1/images/edits in the API document.

import { REFERENCES_MAX } from '../../calls/images/request.ts';
import { describeFields } from '../dialects/fields.ts';
import { editFields, generationFields } from '../image-request.ts';
import { errorResponses } from './errors.ts';
import { type Chapter, headers, type Json, json, list, object, ref, rub, text } from './schema.ts';
import { GENERATING_STATUSES, IDEMPOTENCY_KEY } from './text.ts';

const LINK = 'https://gateway.example/media/7Zc0vJx1.png';
const CREATED: Json = { type: 'integer', description: 'Unix time in seconds.' };
const DATA = list(object({ url: text('Link to the picture until it expires.', { format: 'uri' }) }), {
  minItems: 1,
  maxItems: 1,
});

const PAID =
  'The price of one picture is taken off the balance before the call. It is returned if there is no picture; if the ' +
  'client leaves after the call has started, it is kept. The link expires, by default after a day.';

const GENERATION: Json = {
  operationId: 'createImage',
  tags: ['Images'],
  summary: 'Make a picture',
  description: PAID,
  parameters: [IDEMPOTENCY_KEY],
  requestBody: {
    required: true,
    content: json(ref('ImageRequest'), { example: { prompt: 'A lighthouse at night', size: '1024x1024' } }),
  },
  responses: {
    200: {
      description: 'The picture.',
      headers: headers('x-request-id', 'request-id', 'idempotent-replayed'),
      content: json(ref('ImageReply'), { example: { created: 1791288000, data: [{ url: LINK }] } }),
    },
    ...errorResponses('message', GENERATING_STATUSES),
  },
};

const EDIT: Json = {
  operationId: 'editImage',
  tags: ['Images'],
  summary: 'Edit or combine pictures',
  description: `${PAID} A form's other fields are those of a request in JSON.`,
  parameters: [IDEMPOTENCY_KEY],
  requestBody: {
    required: true,
    content: {
      ...json(ref('ImageEditRequest'), {
        example: { prompt: 'Make it a watercolour', image: 'https://pictures.example/lighthouse.png' },
      }),
      'multipart/form-data': { schema: ref('ImageEditForm') },
    },
  },
  responses: {
    200: {
      description: 'The picture, and what it cost.',
      headers: headers('x-request-id', 'request-id', 'idempotent-replayed'),
      content: json(ref('ImageEditReply'), {
        example: {
          created: 1791288000,
          model: 'painter-1',
          data: [{ url: LINK }],
          billing: { charged_rub: 5, balance_rub: 995 },
        },
      }),
    },
    ...errorResponses('message', GENERATING_STATUSES),
  },
};

const FILE: Json = {
  type: 'string',
  contentMediaType: 'application/octet-stream',
  description: 'A PNG, JPEG, GIF or WebP file of at most 8 MiB, of any declared type; or a text as in JSON.',
};

const FORM = describeFields(generationFields);

export const imageChapter: Chapter = {
  paths: { '/api/v1/images/generations': { post: GENERATION }, '/api/v1/images/edits': { post: EDIT } },
  schemas: {
    ImageRequest: describeFields(generationFields),
    ImageEditRequest: {
      ...describeFields(editFields),
      description: 'With one image at least.',
      anyOf: [
        { required: ['image'], properties: { image: { type: 'string' } } },
        { required: ['images'], properties: { images: { type: 'array', minItems: 1 } } },
      ],
    },
    ImageEditForm: {
      ...FORM,
      properties: {
        ...(FORM.properties as Json),
        image: { anyOf: [FILE, list(FILE, { maxItems: REFERENCES_MAX })] },
        'image[]': list(FILE, { description: 'The same as `image`; up to 4 in all.', maxItems: REFERENCES_MAX }),
      },
    },
    ImageReply: object({ created: CREATED, data: DATA }),
    ImageEditReply: object({
      created: CREATED,
      model: text('The model that edited.'),
      data: DATA,
      billing: object({
        charged_rub: rub('What the call cost'),
        balance_rub: rub('What the wallet can spend now'),
      }),
    }),
  },
};
