// Videos in the API document: starting and polling.

import { choice, constant, count, type Json, object, ref, rub, text } from '../../base/json-schema.ts';
import { videoFields } from '../video-request.ts';
import { describeFields } from './body.ts';
import { errorResponses } from './errors.ts';
import { type Chapter, headers, json } from './schema.ts';
import { GENERATING_STATUSES, PAID_HEADERS } from './text.ts';

const ID = 'vid_019a2b3c4d5e0123456789abcdef0123';
const POLL = `/api/v1/videos?id=${ID}`;

const START: Json = {
  operationId: 'createVideo',
  tags: ['Videos'],
  summary: 'Create a video',
  description:
    'Starts a job and returns its id as soon as the provider accepts it; then poll `poll` every few seconds. The price ' +
    'of the generated resolution, per second or per request, is charged at the start, and refunded if the video fails or ' +
    'is not completed within two hours. A client that disconnects does not stop the job.',
  parameters: PAID_HEADERS,
  requestBody: {
    required: true,
    content: json(ref('VideoRequest'), {
      example: { model: 'video-1', prompt: 'A red square goes from side to side', seconds: 5, resolution: '720p' },
    }),
  },
  responses: {
    200: {
      description: 'The provider accepted the job.',
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

const POLLING: Json = {
  operationId: 'getVideo',
  tags: ['Videos'],
  summary: 'Retrieve a video',
  description:
    'Returns the status of a video, and its link once it is completed. Has a separate rate limit of 120 requests per ' +
    'minute and key by default.',
  parameters: [
    { name: 'id', in: 'query', required: true, schema: { type: 'string' }, description: 'The id of the video.' },
  ],
  responses: {
    200: {
      description: 'The current state of the video.',
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

const VIDEO_ID = text('The id of the video: the id of the request that created it, with the prefix `vid_`.', {
  pattern: '^vid_[0-9a-f]{32}$',
});

export const videoChapter: Chapter = {
  paths: { '/api/v1/videos': { post: START, get: POLLING } },
  schemas: {
    VideoRequest: describeFields(videoFields),
    VideoStart: object({
      id: { ...VIDEO_ID, examples: [ID] },
      object: constant('video'),
      model: text('The id of the model.'),
      status: constant('queued'),
      seconds: count('The length of the video in seconds.'),
      price_rub: rub('The amount charged'),
      balance_rub: rub('The available balance after the charge'),
      size: text(
        'Width and height in pixels, as requested from the upstream; they may differ from the size in the request.',
        { pattern: '^\\d+x\\d+$' },
      ),
      resolution: { type: ['string', 'null'], description: 'The requested resolution; null if none was requested.' },
      billing: ref('VideoBilling'),
      poll: text('The path to poll for the status.'),
    }),
    VideoBilling: object({
      charged_rub: rub('The amount charged'),
      balance_rub: rub('The available balance after the charge'),
      unit: choice(['second', 'request']),
      unit_price_rub: rub('Price per unit'),
      price_option: {
        type: ['string', 'null'],
        description: 'The resolution that is generated and charged; null if all resolutions have the same price.',
      },
    }),
    Video: object(
      {
        id: text('The id of the video.'),
        status: choice(['queued', 'processing', 'completed', 'failed'], '`completed` and `failed` are final.'),
        progress: count('Progress in percent; never decreases.', { maximum: 100 }),
        url: {
          type: ['string', 'null'],
          description: 'Link to the completed video. It expires, by default after 24 hours.',
        },
        error: text('Why the video failed; absent otherwise.'),
        refunded: {
          type: 'boolean',
          const: true,
          description: 'Present if the video failed and the charge was refunded.',
        },
      },
      { optional: ['error', 'refunded'] },
    ),
  },
};
