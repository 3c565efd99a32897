// Videos in the API document: starting and polling.
import { describeFields } from '../dialects/fields.ts';
import { videoFields } from '../video-fields.ts';
import { errorResponses } from './errors.ts';
import { type Chapter, choice, constant, count, headers, type Json, json, object, ref, rub, text } from './schema.ts';
import { GENERATING_STATUSES, IDEMPOTENCY_KEY } from './text.ts';

const ID = 'vid_019a2b3c4d5e0123456789abcdef0123';
const POLL = `/api/v1/videos?id=${ID}`;

const START: Json = {
  operationId: 'createVideo',
  tags: ['Videos'],
  summary: 'Begin a video',
  description:
    'The price is charged at once: that of the resolution sent to the provider, per second or per ' +
    'request. The reply comes once the provider has started; then poll `poll` every few seconds. A video that ' +
    'fails, or is not finished after two hours, is refunded. A client that leaves does not stop it.',
  parameters: [IDEMPOTENCY_KEY],
  requestBody: {
    required: true,
    content: json(ref('VideoRequest'), {
      example: { model: 'video-1', prompt: 'A red square goes from side to side', seconds: 5, resolution: '720p' },
    }),
  },
  responses: {
    200: {
      description: 'The provider has begun.',
      headers: headers('x-request-id', 'request-id', 'idempotent-replayed'),
      content: json(ref('VideoStart'), {
        example: {
          id: ID,
          object: 'video',
          model: 'video-1',
          status: 'queued',
          seconds: 5,
          price_rub: 40,
          balance_rub: 960,
          size: '1280x720',
          resolution: '720p',
          billing: { charged_rub: 40, balance_rub: 960, unit: 'second', unit_price_rub: 8, price_option: '720p' },
          poll: POLL,
        },
      }),
    },
    ...errorResponses('message', GENERATING_STATUSES),
  },
};

const LOOK: Json = {
  operationId: 'getVideo',
  tags: ['Videos'],
  summary: 'Look at a video',
  description:
    'Has its own rate limit, by default 120 requests per minute and key. Videos of other ' + 'accounts are not found.',
  parameters: [
    { name: 'id', in: 'query', required: true, schema: { type: 'string' }, description: 'As the start has it; once.' },
  ],
  responses: {
    200: {
      description: 'How far it is.',
      headers: headers('x-request-id', 'request-id'),
      content: json(ref('Video'), {
        examples: {
          processing: { value: { id: ID, status: 'processing', progress: 40, url: null } },
          completed: {
            value: { id: ID, status: 'completed', progress: 100, url: 'https://gateway.example/media/9qBv…3c.mp4' },
          },
          failed: {
            value: {
              id: ID,
              status: 'failed',
              progress: 40,
              url: null,
              error: 'The upstream provider failed.',
              refunded: true,
            },
          },
        },
      }),
    },
    ...errorResponses('message', [400, 401, 403, 404, 429, 500, 503]),
  },
};

const VIDEO_ID = text('The request id of the start with another prefix.', { pattern: '^vid_[0-9a-f]{32}$' });

export const videoChapter: Chapter = {
  paths: { '/api/v1/videos': { post: START, get: LOOK } },
  schemas: {
    VideoRequest: describeFields(videoFields),
    VideoStart: object({
      id: { ...VIDEO_ID, examples: [ID] },
      object: constant('video'),
      model: text('The id of the model.'),
      status: constant('queued'),
      seconds: count('Its length.'),
      price_rub: rub('What was charged'),
      balance_rub: rub('What the wallet can spend after that'),
      size: text('In pixels: as requested, or as generated.', { pattern: '^\\d+x\\d+$' }),
      resolution: { type: ['string', 'null'], description: 'As asked for; null when it was not.' },
      billing: ref('VideoBilling'),
      poll: text('The path to poll.'),
    }),
    VideoBilling: object({
      charged_rub: rub('What the video costs'),
      balance_rub: rub('What the wallet can spend after that'),
      unit: choice(['second', 'request']),
      unit_price_rub: rub('Price of a unit'),
      price_option: {
        type: ['string', 'null'],
        description: 'The resolution that is made and charged; null where all have one price.',
      },
    }),
    Video: object(
      {
        id: text('The requested id.'),
        status: choice(['queued', 'processing', 'completed', 'failed'], 'The last two are final.'),
        progress: count('In percent; never decreases.', { maximum: 100 }),
        url: {
          type: ['string', 'null'],
          description: 'Where the video is, once it is completed; the file is kept for a day.',
        },
        error: text('Why it failed; only then.'),
        refunded: { type: 'boolean', const: true, description: 'Only when it failed: the charge went back.' },
      },
      { optional: ['error', 'refunded'] },
    ),
  },
};
